import { expect, test } from "vitest";
import { FLAWS_OF_FILE, LONG_FUNCTIONS } from "./exceptions.ts";
import { readSources } from "./imports.ts";
import type { Flaw, Shape } from "./shape.ts";
import { FLAWS, measure, MOST_FILE_LINES } from "./shape.ts";

/** Generated from the schema of the answers. */
const GENERATED = new Set(["src/client/answers.ts"]);
/** Here brands are made: a value gets its brand by `as`. */
const BRANDS = new Set(["src/domain/ids.ts", "src/domain/units.ts"]);

const ROOT = new URL("../..", import.meta.url).pathname;

const shapes = readSources(ROOT)
  .filter(({ path }) => !GENERATED.has(path))
  .map(measure);

test("no file has more than 400 lines", () => {
  expect(shapes.filter(({ lines }) => lines > MOST_FILE_LINES).map(({ path }) => path)).toEqual([]);
});

test("no function has more than 45 lines; the list of exceptions is as short as it can be", () => {
  const long = shapes.flatMap(({ path, longFunctions }) => longFunctions.map((name) => `${path}#${name}`));
  expect(long.toSorted()).toEqual(LONG_FUNCTIONS);
});

test.each(FLAWS)("%s stands only where it is listed, and no more often", (flaw: Flaw) => {
  const found = shapes.filter(
    ({ path, flaws }) =>
      flaws[flaw].length > (FLAWS_OF_FILE[flaw][path] ?? 0) && !(flaw === "as" && BRANDS.has(path)),
  );
  expect(found.map(({ path, flaws }) => [path, flaws[flaw]])).toEqual([]);
});

const planted = (text: string): Shape => measure({ path: "src/planted.ts", text });

test.each([
  { name: "an assertion", flaw: "as", text: "export const x = JSON.parse(t) as Thing;" },
  { name: "any", flaw: "any", text: "export const f = (x: any) => x;" },
  { name: "an assertion that something is there", flaw: "!", text: "export const x = list[0]!.name;" },
] as const)("is found: $name", ({ flaw, text }) => {
  expect(planted(text).flaws[flaw]).toEqual([1]);
});

test.each([
  { name: "as const", text: 'export const KINDS = ["a", "b"] as const;' },
  { name: "a name in an import", text: 'import { a as b } from "./a.ts";\nexport const c = b;' },
])("is allowed: $name", ({ text }) => {
  expect(planted(text).flaws).toEqual({ as: [], any: [], "!": [] });
});

test("a function of 46 lines is found by its name, one of 45 is not", () => {
  const body = (lines: number): string => "  call();\n".repeat(lines);
  const text = `export function long() {\n${body(44)}}\nconst short = () => {\n${body(43)}};\n`;
  expect(planted(text).longFunctions).toEqual(["long"]);
  expect(planted(text).lines).toBe(91);
});
