import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { importsOf, readSources } from "./imports.ts";
import { namesIn, namesWith, otherMeanings } from "./vocabulary.ts";

/* One word for one thing: the names in the code against the glossary of docs/architecture.md. */

const ROOT = new URL("../..", import.meta.url).pathname;
const [, glossary = ""] = readFileSync(`${ROOT}/docs/architecture.md`, "utf8").split("\n## Glossary\n");
const terms = [...glossary.matchAll(/^\| ([^|]+?) \| .* \| `(\w+)` \|$/gm)].map(
  ([, word = "", type = ""]) => ({ word, type }),
);
const sources = readSources(ROOT);
const files = sources.map(namesIn);

const planted = (text: string) => [namesIn({ path: "src/app/planted.ts", text })];

test("a type that has the name of a glossary word means exactly that", () => {
  expect(terms).not.toEqual([]);
  expect(otherMeanings(terms, files)).toEqual([]);
});

test("an observation is no look, except in published and stored names and as a verb", () => {
  const names = new Set([...glossary.matchAll(/`(\w*[lL]ook\w*)`/g)].map(([, name = ""]) => name));
  const isVerb = (name: string): boolean => /^looks(?:At|Like)[A-Z]|^whereToLook$/.test(name);
  const found = namesWith(/^look(?:s|ed|ing)?$/, files).map((line) => line.split(": ")[1] ?? "");
  expect(found.filter((name) => !names.has(name) && !isVerb(name))).toEqual([]);
  expect([...names].filter((name) => !found.includes(name))).toEqual([]);
});

test("only what is about intents settles", () => {
  const found = namesWith(/^(?:un)?settle/, files).filter((line) => !line.endsWith(": allSettled"));
  expect(found.length).toBeGreaterThan(0);
  expect(found.filter((line) => !isAboutIntents(line.split(": ")[0] ?? ""))).toEqual([]);
});

/** A file that settles intents, or imports one that does. */
function isAboutIntents(path: string): boolean {
  const imports = importsOf(sources.find((file) => file.path === path)?.text ?? "");
  return [path, ...imports].some((name) => /\/intents\/|\/settle-\w+\.ts$/.test(name));
}

test("a plan starts a deallocated node: only a message of ours wakes", () => {
  const plans = files.filter(({ path }) => /^src\/decide\/(?!pace\/|record\/)/.test(path));
  expect(namesWith(/^(?:wak(?:e|es|ing)|woken|awake|asleep)$/, plans)).toEqual([]);
});

test("a type, a member, a private field and a constant that use a word otherwise are found", () => {
  const bucket = { word: "request set", type: "SetDemand" };
  expect(otherMeanings([bucket], planted("type RequestSet = 1; interface SetDemand { a: 1 }"))).toEqual([
    "src/app/planted.ts: RequestSet",
  ]);
  const code = "class A { #look = 1; lastLookAt = this.outlook; } const LOOK_SECONDS = 5; f('look');";
  expect(namesWith(/^look$/, planted(code))).toEqual([
    "src/app/planted.ts: look",
    "src/app/planted.ts: lastLookAt",
    "src/app/planted.ts: LOOK_SECONDS",
  ]);
});
