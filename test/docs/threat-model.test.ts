import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ROOT } from "../support/run-main.ts";

/** Every threat has a row, and every test that a row names exists. */

const page = readFileSync(`${ROOT}/docs/threat-model.md`, "utf8");
const lines = page.split("\n").filter((line) => /^\| T\d+ \|/.test(line));
const proofs = [...page.matchAll(/`(test\/[^`]+\.ts)`: "([^"]+)"/g)].map(([, file = "", name = ""]) => ({
  file,
  name,
}));

test("there is one line for each of the 51 threats, in order, with six cells", () => {
  expect(lines.map((line) => /^\| (T\d+) /.exec(line)?.[1])).toEqual(
    Array.from({ length: 51 }, (_, index) => `T${index + 1}`),
  );
  for (const line of lines) expect(line.split(/(?<!\\)\|/)).toHaveLength(8);
});

test("each line names a test or says what risk remains", () => {
  const bare = lines.filter((line) => !/`test\/[^`]+\.ts`: "/.test(line) && !line.includes("Risk: "));
  expect(bare).toEqual([]);
});

test("every test that is named is in the file that is named", () => {
  expect(proofs.length).toBeGreaterThan(50);
  const missing = proofs.filter(({ file, name }) => {
    const escaped = name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    // The name of a test or of a group, or the end of a name that begins with a number.
    return !new RegExp(String.raw`["\`][^"\`\n]*${escaped}["\`]`).test(readText(file));
  });
  expect(missing).toEqual([]);
});

test("every source file that is named exists", () => {
  const files = [...page.matchAll(/`((?:src|functions)\/[^`]+\.ts)`/g)].map(([, file = ""]) => file);
  expect(files.length).toBeGreaterThan(20);
  expect(files.filter((file) => readText(file) === "")).toEqual([]);
});

/** Empty if there is no such file. */
function readText(file: string): string {
  try {
    return readFileSync(`${ROOT}/${file}`, "utf8");
  } catch {
    return "";
  }
}
