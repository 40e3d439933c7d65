import { expect, test } from "vitest";
import { readSources } from "./imports.ts";

/** Generated from a schema, or zod's `number` under a published name. */
const SCHEMAS = new Set(["src/client/answers.ts", "src/client/readers.ts", "src/client/comparison.ts"]);
const DURATION = /\b\w*?(?:[sS]econds|Ms|[mM]illiseconds)\??: number\b/;

const unbranded = (text: string): readonly string[] => text.split("\n").filter((line) => DURATION.test(line));

test("a duration has its unit in its type, Seconds or Milliseconds of src/domain/units.ts", () => {
  const found = readSources(new URL("../..", import.meta.url).pathname)
    .filter(({ path }) => !SCHEMAS.has(path))
    .flatMap(({ path, text }) => unbranded(text).map((line) => `${path}: ${line.trim()}`));
  expect(found).toEqual([]);
});

test.each(["readonly idleSeconds?: number;", "function wait(milliseconds: number) {", "delayMs: number,"])(
  "is found: %s",
  (line) => {
    expect(unbranded(line)).toEqual([line]);
  },
);
