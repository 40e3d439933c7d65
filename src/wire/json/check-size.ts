import type { Problem } from "../../domain/demand.ts";
import type { Sliced } from "../../domain/sliced.ts";
import { atOnce } from "../../domain/sliced.ts";
import { BOUNDS } from "./bounds.ts";
import { joinPath, problemAt, notJson } from "./problem.ts";

/** A part that is too large or too deep: its position, and the problem. */
interface Oversize {
  readonly at: readonly (string | number)[];
  readonly problem: Problem;
}

const tooMany = (most: number): Pick<Problem, "found" | "expected"> => ({
  found: `more than ${most} values`,
  expected: `at most ${most} values in one input`,
});
const TOO_DEEP = `at most ${BOUNDS.levels} levels of nesting`;
const [QUOTE, BACKSLASH, COMMA] = [0x22, 0x5c, 0x2c];
const [BRACKET, END_BRACKET, BRACE, END_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d];
/** Deeper texts are not parsed at all. Up to this depth, only the job that is too deep is left out. */
const LEVELS_PARSED = 100_000;

/**
 * The excess of a text before it is parsed: megabytes can contain millions of empty objects or levels, each of which costs tens of bytes of
 * memory once parsed (docs/decisions.md, "Values are counted before a text is parsed"). Undefined if nothing is too large.
 */
function oversizeOfText(text: string, most: number = BOUNDS.values): Problem | undefined {
  if (isSmall(text, most)) return undefined;
  const counted = atOnce(countValues(text, most));
  return typeof counted === "number" ? undefined : counted;
}

/** {@link oversizeOfText} in slices. */
export function* findOversizeOfText(text: string, most: number): Sliced<Problem | undefined> {
  if (isSmall(text, most)) return undefined;
  const counted = yield* countValues(text, most);
  return typeof counted === "number" ? undefined : counted;
}

/** Whether a text has too few characters for this many values: a value takes at least one and its comma, and a level one at each end. */
const isSmall = (text: string, most: number): boolean => text.length <= 2 * Math.min(most, LEVELS_PARSED);

/** About a millisecond. */
const CHARACTERS_AT_ONCE = 2 ** 18;

/** How many members and items a text has outside of strings, counted in one pass. A problem if there are more than `most`, or too many levels. */
export function* countValues(text: string, most: number = BOUNDS.values): Sliced<number | Problem> {
  const count = { at: 0, values: 1, level: 0, isQuoted: false };
  while (count.at < text.length) {
    countOn(text, count, most);
    if (count.values > most) return { path: "", ...tooMany(most) };
    if (count.level > LEVELS_PARSED)
      return { path: "", found: `more than ${LEVELS_PARSED} levels`, expected: TOO_DEEP };
    if (count.at < text.length) yield;
  }
  return count.values;
}

/** Counts one slice, or less where there are too many. A plain function, because the same loop in a generator takes several times as long. */
function countOn(
  text: string,
  count: { at: number; values: number; level: number; isQuoted: boolean },
  most: number,
): void {
  let { at, values, level, isQuoted } = count;
  const end = Math.min(text.length, at + CHARACTERS_AT_ONCE);
  for (; at < end && values <= most && level <= LEVELS_PARSED; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) isQuoted = !isQuoted;
    else if (isQuoted) at += code === BACKSLASH ? 1 : 0;
    else if (code === COMMA) values += 1;
    else if (code === BRACKET || code === BRACE) {
      values += 1;
      level += 1;
    } else if (code === END_BRACKET || code === END_BRACE) level -= 1;
  }
  Object.assign(count, { at, values, level, isQuoted });
}

/** About a millisecond. */
const VALUES_AT_ONCE = 10_000;

/** One level of a walk over a value. */
interface Level {
  readonly value: object;
  /** Absent: the level is a list. */
  readonly keys: readonly string[] | undefined;
  readonly length: number;
  next: number;
}

/**
 * The first part of a parsed value that is too large or too deep. Without recursion, so that it works at any depth: the code behind it is
 * recursive. Undefined if nothing is too large or too deep.
 */
export function oversizeOf(root: unknown, levelsAbove = 0): Oversize | undefined {
  return atOnce(findOversizeInSlices(root, levelsAbove));
}

/** {@link oversizeOf} in slices. */
export function* findOversizeInSlices(root: unknown, levelsAbove = 0): Sliced<Oversize | undefined> {
  const levels: Level[] = [];
  let left: number = BOUNDS.values;
  /** The problem of the value itself; otherwise descends into it. */
  const enter = (value: unknown): Pick<Problem, "found" | "expected"> | undefined => {
    left -= 1;
    if (left < 0) return tooMany(BOUNDS.values);
    if (typeof value === "string") return longText(value);
    if (typeof value === "number" && !Number.isFinite(value))
      return { found: "a number beyond the largest", expected: "a number below 1.8e308" };
    if (typeof value !== "object" || value === null) return undefined;
    if (levels.length + levelsAbove === BOUNDS.levels) return { found: "one level more", expected: TOO_DEEP };
    const keys = Array.isArray(value) ? undefined : Object.keys(value);
    const length = Array.isArray(value) ? value.length : (keys?.length ?? 0);
    if (keys !== undefined && length > BOUNDS.members)
      return { found: `${length} members`, expected: `at most ${BOUNDS.members} members` };
    const long = keys?.map(longText).find((flaw) => flaw !== undefined);
    if (long === undefined) levels.push({ value, keys, length, next: 0 });
    return long;
  };
  let flaw = enter(root);
  while (flaw === undefined) {
    const level = levels.at(-1);
    if (level === undefined) return undefined;
    if (left % VALUES_AT_ONCE === 0) yield;
    if (level.next === level.length) levels.pop();
    else {
      const key = level.keys?.[level.next] ?? level.next;
      level.next += 1;
      flaw = enter(Reflect.get(level.value, key));
    }
  }
  const at = levels.map(({ keys, next }) => keys?.[next - 1] ?? next - 1);
  return { at, problem: { ...problemAt(pathText(at), undefined, flaw.expected), found: flaw.found } };
}

function longText(text: string): Pick<Problem, "found" | "expected"> | undefined {
  if (text.length <= BOUNDS.text) return undefined;
  return { found: `${text.length} characters`, expected: `at most ${BOUNDS.text} characters` };
}

function pathText(at: Oversize["at"]): string {
  return at.reduce<string>(
    (text, part) => joinPath(text, typeof part === "number" ? `[${part}]` : part.slice(0, BOUNDS.resource)),
    "",
  );
}

/** JSON of a configuration document. Text that is not JSON is not shown, not even in part, because it may hold a secret. */
export function parseDocument(
  text: string,
):
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "problem"; readonly problem: Problem } {
  const tooMany = oversizeOfText(text);
  if (tooMany !== undefined) return { kind: "problem", problem: tooMany };
  try {
    const value: unknown = JSON.parse(text);
    const oversize = oversizeOf(value);
    return oversize === undefined ? { kind: "value", value } : { kind: "problem", problem: oversize.problem };
  } catch {
    return { kind: "problem", problem: notJson(text, "JSON") };
  }
}
