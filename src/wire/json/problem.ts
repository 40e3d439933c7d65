import type { Problem } from "../../domain/demand.ts";
import { nearest } from "../../domain/nearest.ts";

export type { Problem } from "../../domain/demand.ts";
export { nearest } from "../../domain/nearest.ts";

const LONGEST_EXCERPT = 80;
/** Paths contain keys of the sender, of any length. */
const LONGEST_PATH = 200;

/** The value of `found` for a missing member. */
const NOTHING = "nothing";

/**
 * The text for a value in `found`. Problems go to logs, to the state page and to others than the sender, and any value may be a secret: a
 * node attribute, a member of `Configuration`, a text that is not JSON, or a password in the wrong place (docs/decisions.md, "Problems show
 * kind and length, not values").
 *
 * - {@link problemAt}, the usual: numbers, true, false, null and empty values unchanged; of anything else the kind and the length.
 * - {@link problemShowing}: also texts. Only for texts that plans and pages show anyway: names and keys, words of a short list, VM sizes,
 *   hosts, values of constraints and of resources. A list or an object in such a place is shown by its kind.
 */
export function problemAt(path: string, value: unknown, expected: string, didYouMean?: string): Problem {
  return problemOf(path, kindOf(value), expected, didYouMean);
}

/** Like {@link problemAt}, but shows a text, cut to 80 characters. See there when this is allowed. */
export function problemShowing(path: string, value: unknown, expected: string, didYouMean?: string): Problem {
  return problemOf(path, typeof value === "string" ? excerpt(value) : kindOf(value), expected, didYouMean);
}

function problemOf(path: string, found: string, expected: string, didYouMean: string | undefined): Problem {
  const problem = { path: shorten(path, LONGEST_PATH), found, expected };
  return didYouMean === undefined ? problem : { ...problem, didYouMean };
}

/** A number (also in quotes), true, false, null or an empty value unchanged. Of a text, a list or an object its kind and length. */
export function kindOf(value: unknown): string {
  if (value === undefined) return NOTHING;
  if (typeof value === "string")
    return isPlainText(value) ? `"${value}"` : `text of ${counted(value.length, "character")}`;
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "object") return typeof value;
  if (Array.isArray(value)) return value.length === 0 ? "[]" : `list of ${counted(value.length, "item")}`;
  const { length } = Object.keys(value);
  return length === 0 ? "{}" : `object with ${counted(length, "member")}`;
}

/**
 * The problem of a text that is not JSON. It is never shown: it may be anything, even a password. UTF-16, as Out-File of PowerShell 5 writes
 * it, is named: read as UTF-8 its mark is two signs of replacement, and each character of JSON has a NUL beside it.
 */
export function notJson(text: string, expected: string): Problem {
  return isUtf16(text)
    ? { path: "", found: "text in UTF-16", expected: `${expected}, in UTF-8` }
    : problemAt("", text, expected);
}

export const isUtf16 = (text: string): boolean => /^\uFFFD{0,2}(?:\s\0|\0\s)*(?:[{[]\0|\0[{[])/.test(text);

/** Nothing, or a short number in quotes: a common mistake, and no more secret than the number without quotes. */
const isPlainText = (text: string): boolean => /^(-?\d{1,9}(\.\d{1,9})?)?$/.test(text);

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

/** An unknown key. `found` is only the key, because its value may be a secret. */
export function unknownKey(path: string, key: string, known: readonly string[]): Problem {
  return problemShowing(path, key, `one of the keys ${known.join(", ")}`, nearest(key, known));
}

/** The same problem with a longer path: "iterations" below "jobs[3]" is "jobs[3].iterations". */
export function below(prefix: string, problem: Problem): Problem {
  return { ...problem, path: joinPath(prefix, problem.path) };
}

/** Joins two parts of a path. Either may be empty, and the second may begin with an index. */
export function joinPath(prefix: string, rest: string): string {
  return prefix === "" || rest === "" || rest.startsWith("[") ? prefix + rest : `${prefix}.${rest}`;
}

/** JSON text of a value, cut to 80 characters. Never fails, however large or deep the value is. Only for values that may be shown. */
export function excerpt(value: unknown): string {
  if (value === undefined) return NOTHING;
  return shorten(writeSome(value, LONGEST_EXCERPT), LONGEST_EXCERPT);
}

/** At most `length` characters of a text, the last one "…" if it was longer. */
export function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
}

/**
 * JSON text: complete if it is at most `room` characters long, otherwise any longer beginning of it. Each level takes a character, so depth
 * is bounded too.
 */
function writeSome(value: unknown, room: number): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, room + 1));
  if (typeof value !== "object" || value === null) return String(value);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  let text = String(open);
  for (const [key, member] of membersOf(value)) {
    if (text.length > 1) text += ",";
    if (key !== undefined) text += `${JSON.stringify(key.slice(0, room + 1))}:`;
    if (text.length > room) return text;
    text += writeSome(member, room - text.length);
  }
  return text + close;
}

function* membersOf(value: object): Generator<readonly [string | undefined, unknown]> {
  if (Array.isArray(value)) {
    for (const item of value) yield [undefined, item];
    return;
  }
  for (const [key, member] of Object.entries(value)) yield [key, member];
}
