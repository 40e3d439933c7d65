import { expect, test } from "vitest";
import { expressionsIn, MOST_MS, slowest } from "./expressions.ts";
import { readSources } from "./imports.ts";

const ROOT = new URL("../..", import.meta.url).pathname;

/** The simulator reads what the app and tests send. All others read texts of senders, nodes, readers, CycleCloud or another server. */
const READS_NO_OUTSIDER = /^(?:infra|src\/simulator)\//;

const found = readSources(ROOT)
  .filter(({ path }) => !READS_NO_OUTSIDER.test(path))
  .map((file) => ({ path: file.path, ...expressionsIn(file) }));

test("no regular expression takes more than 50 ms of processor time for a text of 100,000 characters", () => {
  const all = found.flatMap(({ written }) => written);
  expect(all.length).toBeGreaterThan(100);
  const distinct = new Map(all.map((one) => [`/${one.pattern}/${one.flags}`, one]));
  const slow = [...distinct].flatMap(([text, one]) => {
    const worst = slowest(one);
    return worst.ms > MOST_MS ? [`${one.path}: ${text} takes ${worst.ms} ms for ${worst.text}`] : [];
  });
  expect(slow).toEqual([]);
});

test("no regular expression is made of a text", () => {
  expect(found.filter(({ made }) => made > 0).map(({ path }) => path)).toEqual([]);
});

/** What they were before a text of 380 bytes, packed, held a process for 16 s. */
test.each([
  { name: "letters at the end", text: "const suffix = /[A-Za-z]*$/.exec(own);" },
  { name: "slashes at the end", text: 'const path = url.replace(/\\/+$/, "");' },
  { name: "digits, twice", text: "const NUMBER = /^\\d+(?:_\\d+)*\\.?(?:\\d+)?$/;" },
  { name: "spaces, twice", text: "const MEMORY = /^\\s*(\\d+)\\s*([kmgt]?)\\s*$/i;" },
  { name: "a tag that does not end", text: "const TAG = /<[^>]*>/g;" },
  { name: "a script that does not end", text: "const SCRIPT = /<(script)\\b[\\s\\S]*?<\\/\\1>/gi;" },
  { name: "a certificate that does not end", text: "const BLOCK = /-----BEGIN.*?-----END/gs;" },
  { name: "repetitions inside of each other", text: "const WORDS = /^(?:a+ ?)*$/;" },
])("is found: $name", ({ text }) => {
  const [one] = expressionsIn({ path: "src/planted.ts", text }).written;
  expect(one === undefined ? 0 : slowest(one).ms).toBeGreaterThan(MOST_MS);
});

test("one that is made of a text is found, and none in a comment or a type", () => {
  const made = (text: string) => expressionsIn({ path: "src/planted.ts", text }).made;
  expect(made("export const find = (word: string) => new RegExp(`^${word}`);")).toBe(1);
  expect(made("export const find = (word: string) => RegExp(word);")).toBe(1);
  expect(made("/* new RegExp(x) */ export const none: readonly RegExp[] = [];")).toBe(0);
});
