import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readSources, readTests } from "./imports.ts";
import { countForbidden, countInComments, measureWording } from "./plain-english.ts";

/*
 * Words that pages, texts and comments must not use. plain-english.json counts the remaining ones by file, and its sums only shrink.
 * `UPDATE=1 npx vitest run --config test/vitest.config.ts test/house/plain-english.test.ts` writes the new counts unless a sum is higher.
 */

const KINDS = ["pages", "texts", "comments"] as const;
type Kind = (typeof KINDS)[number];
type Counts = Readonly<Record<string, number>>;

const ROOT = new URL("../..", import.meta.url).pathname;
const LIST = new URL("plain-english.json", import.meta.url).pathname;
const UPDATE = process.env["UPDATE"] === "1";

const listed: Readonly<Record<Kind, Counts>> = JSON.parse(readFileSync(LIST, "utf8"));
const sources = readSources(ROOT).map((file) => ({ path: file.path, ...measureWording(file) }));
const pages = ["README.md", ...readdirSync(`${ROOT}/docs`).map((name) => `docs/${name}`)];
const found: Readonly<Record<Kind, Counts>> = {
  pages: above0(
    pages.map((path): [string, number] => [path, countForbidden(readFileSync(`${ROOT}/${path}`, "utf8"))]),
  ),
  texts: above0(sources.map(({ path, texts }) => [path, texts])),
  comments: above0(sources.map(({ path, comments }) => [path, comments])),
};

test.each(KINDS)("%s have no more forbidden words than plain-english.json allows", (kind) => {
  if (UPDATE && sum(found[kind]) <= sum(listed[kind])) write(kind);
  else expect(tooMany(found[kind], listed[kind])).toEqual({});
});

test("comments of the tests have no forbidden word", () => {
  const comments = readTests(ROOT).map((file): [string, number] => [file.path, countInComments(file)]);
  expect(above0(comments)).toEqual({});
});

test("a word is found across lines, in literals, templates and comments, and in no name", () => {
  const text =
    "// so\n// many\n/** It tells\n * nobody. */\nexport const nobody = `anew ${1} is NOT WELL`;\nf('Whoever');\n";
  expect(measureWording({ path: "src/planted.ts", text })).toEqual({ texts: 3, comments: 3 });
});

test("other words that look alike are allowed", () => {
  expect(countForbidden("renew, retells, so, many; not well known")).toBe(0);
});

test("a file that is not listed, and one with more than its count, are too many", () => {
  expect(tooMany({ a: 1, b: 3, c: 2 }, { b: 2, c: 2 })).toEqual({
    a: { found: 1, allowed: 0 },
    b: { found: 3, allowed: 2 },
  });
});

function tooMany(counts: Counts, allowed: Counts): object {
  return Object.fromEntries(
    Object.entries(counts)
      .filter(([path, count]) => count > (allowed[path] ?? 0))
      .map(([path, count]) => [path, { found: count, allowed: allowed[path] ?? 0 }]),
  );
}

function sum(counts: Counts): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}

function above0(counts: readonly (readonly [string, number])[]): Counts {
  return Object.fromEntries(counts.filter(([, count]) => count > 0).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function write(kind: Kind): void {
  const list: unknown = JSON.parse(readFileSync(LIST, "utf8"));
  const next = { ...(typeof list === "object" ? list : {}), [kind]: found[kind] };
  writeFileSync(LIST, `${JSON.stringify(next, undefined, 2)}\n`);
}
