import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

const reference = new URL("../../docs/cyclecloud-wire.md", import.meta.url);

const rows = readFileSync(new URL("facts.md", import.meta.url), "utf8")
  .split("\n")
  .filter((line) => /^\| .* \| `/.test(line))
  .map((line) => {
    const [, fact = "", section = "", file = "", title = ""] = line.split("|").map((cell) => cell.trim());
    return { fact, section, file: file.replaceAll("`", ""), title };
  });

/** Whether the file has a test of this title, or a case of this name in a table. */
function hasTest(file: string, title: string): boolean {
  const source = readFileSync(new URL(file, import.meta.url), "utf8").replaceAll(/\s+/g, " ");
  return ["test(", "test( ", "name: ", ")(", ")( "].some((before) =>
    source.includes(before + JSON.stringify(title)),
  );
}

describe("the table of facts", () => {
  test("is read: it has a row for every fact", () => {
    expect(rows.length).toBeGreaterThan(60);
  });

  test.each(rows)("$fact", ({ file, title }) => {
    expect(hasTest(file, title)).toBe(true);
  });

  test("would notice a test that is not there", () => {
    expect(hasTest("limits.test.ts", "no such title")).toBe(false);
  });

  test("names only sections that the reference has", () => {
    const headings = readFileSync(reference, "utf8").matchAll(/^##? ([A-I](?:\.\d+)?)[. ]/gm);
    const known = new Set([...headings].map((heading) => heading[1]));
    const unknown = rows
      .flatMap(({ section }) => section.split(", "))
      .filter((section) => !known.has(section));
    expect(unknown).toEqual([]);
  });
});
