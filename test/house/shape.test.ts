import { expect, test } from "vitest";
import { FLAWS_OF_FILE, LONG_FILES, LONG_FUNCTIONS, LONG_WITHOUT_REASON } from "./exceptions.ts";
import type { SourceFile } from "./imports.ts";
import { readSources, readTests } from "./imports.ts";
import type { Flaw, Shape } from "./shape.ts";
import {
  countLines,
  FLAWS,
  measure,
  MOST_DOOR_LINES,
  MOST_FILE_LINES,
  MOST_LINES_WITHOUT_REASON,
} from "./shape.ts";

/** Generated from the schema of the answers. */
const GENERATED = new Set(["src/client/answers.ts"]);
/** Here brands are made: a value gets its brand by `as`. */
const BRANDS = new Set(["src/domain/ids.ts", "src/domain/units.ts"]);

const ROOT = new URL("../..", import.meta.url).pathname;

const shapes = readSources(ROOT)
  .filter(({ path }) => !GENERATED.has(path))
  .map(measure);

const pathsOf = (test: (shape: Shape) => boolean): readonly string[] =>
  shapes
    .filter(test)
    .map(({ path }) => path)
    .toSorted();

test("no file has more than 300 lines; the list of exceptions is as short as it can be", () => {
  expect(pathsOf(({ lines }) => lines > MOST_FILE_LINES)).toEqual(LONG_FILES);
});

const longAmong = (files: readonly SourceFile[]): readonly string[] =>
  files.filter(({ text }) => countLines(text) > MOST_FILE_LINES).map(({ path }) => path);

test("no file of the tests has more than 300 lines", () => {
  expect(longAmong(readTests(ROOT))).toEqual([]);
});

test("a file of 301 lines is found, one of 300 is not", () => {
  const planted = [300, 301].map((lines) => ({
    path: `test/of-${lines}.ts`,
    text: "export {};\n".repeat(lines),
  }));
  expect(longAmong(planted)).toEqual(["test/of-301.ts"]);
});

test("no door has more than 60 lines: what it does lies in src/app, or in a file beside it", () => {
  expect(pathsOf(({ path, lines }) => path.startsWith("functions/") && lines > MOST_DOOR_LINES)).toEqual([]);
});

test("a file of more than 200 lines says why", () => {
  const unexplained = pathsOf(
    ({ lines, saysWhy }) => lines > MOST_LINES_WITHOUT_REASON && lines <= MOST_FILE_LINES && !saysWhy,
  );
  expect(unexplained).toEqual(LONG_WITHOUT_REASON);
});

test("no function has more than 45 lines; the list of exceptions is as short as it can be", () => {
  const long = shapes.flatMap(({ path, longFunctions }) => longFunctions.map((name) => `${path}#${name}`));
  expect(long.toSorted()).toEqual(LONG_FUNCTIONS);
});

test.each(FLAWS)("%s stands only where it is listed, and no more often", (flaw: Flaw) => {
  const found = shapes
    .filter(({ path, flaws }) => flaws[flaw].length > 0 && !(flaw === "as" && BRANDS.has(path)))
    .map(({ path, flaws }) => [path, flaws[flaw].length]);
  expect(Object.fromEntries(found)).toEqual(FLAWS_OF_FILE[flaw]);
});

const planted = (text: string): Shape => measure({ path: "src/planted.ts", text });

test.each([
  { name: "an assertion", flaw: "as", text: "export const x = JSON.parse(t) as Thing;" },
  { name: "any", flaw: "any", text: "export const f = (x: any) => x;" },
  { name: "an assertion that something is there", flaw: "!", text: "export const x = list[0]!.name;" },
  { name: "-1 for nothing", flaw: "special", text: "export function f() { return -1; }" },
  { name: "an empty text for nothing", flaw: "special", text: 'export const x = name ?? "";' },
  { name: "-1 as a default", flaw: "special", text: "export function f(at = -1) { return at; }" },
] as const)("is found: $name", ({ flaw, text }) => {
  expect(planted(text).flaws[flaw]).toEqual([1]);
});

test.each([
  { name: "as const", text: 'export const KINDS = ["a", "b"] as const;' },
  { name: "the last of a list", text: "export const x = list.at(-1);" },
  { name: "a difference", text: "export const f = (n: number) => n - 1;" },
  { name: "a comparison", text: 'export const f = (t: string) => t === "";' },
  { name: "a name in an import", text: 'import { a as b } from "./a.ts";\nexport const c = b;' },
])("is allowed: $name", ({ text }) => {
  expect(planted(text).flaws).toEqual({ as: [], any: [], "!": [], special: [] });
});

test("a function of 46 lines is found by its name, one of 45 is not", () => {
  const body = (lines: number): string => "  call();\n".repeat(lines);
  const text = `export function long() {\n${body(44)}}\nconst short = () => {\n${body(43)}};\n`;
  expect(planted(text).longFunctions).toEqual(["long"]);
  expect(planted(text).lines).toBe(91);
});

test("a reason for the length of a file is read at its head", () => {
  expect(planted("// Long: one table, which is read as a whole.\nexport const x = 1;\n").saysWhy).toBe(true);
  expect(planted("/** Longer than it looks. */\nexport const x = 1;\n").saysWhy).toBe(false);
});
