import type { Problem } from "../domain/demand.ts";
import { nearest } from "../domain/nearest.ts";

export type { Problem } from "../domain/demand.ts";
export { nearest } from "../domain/nearest.ts";

const LONGEST_EXCERPT = 80;
/** Paths name keys of the sender's, which may be of any length. */
const LONGEST_PATH = 200;

/** What `found` says when there was no such member. */
export const NOTHING = "nothing";

/**
 * What `found` shows of a value. Problems go to logs, to the state page and to others than the sender, and any value may be a secret: a
 * node attribute, a member of `Configuration`, a text that is no JSON, or a password in the wrong place.
 *
 * - {@link problemAt}, the usual: numbers, true, false, null and what is empty as they are; of anything else the kind and the length.
 * - {@link problemShowing}: a text as well. Only where a text belongs that plans and pages show anyway: names and keys, words of a short
 *   list, VM sizes, hosts, values of constraints and of resources. A list or an object in such a place is shown by its kind.
 */
export function problemAt(path: string, value: unknown, expected: string, didYouMean?: string): Problem {
  return problemOf(path, kindOf(value), expected, didYouMean);
}

/** As {@link problemAt}, and a text is shown, cut to 80 characters. See there for where this is right. */
export function problemShowing(path: string, value: unknown, expected: string, didYouMean?: string): Problem {
  return problemOf(path, typeof value === "string" ? excerpt(value) : kindOf(value), expected, didYouMean);
}

function problemOf(path: string, found: string, expected: string, didYouMean: string | undefined): Problem {
  const problem = { path: shorten(path, LONGEST_PATH), found, expected };
  return didYouMean === undefined ? problem : { ...problem, didYouMean };
}

/** A number (in quotes as well), true, false, null and what is empty as they are; of a text, a list or an object what it is and how long. */
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

/** Nothing, or a short number in quotes: a common mistake, and worth no more as a secret than the number without them. */
const isPlainText = (text: string): boolean => /^(-?\d{1,9}(\.\d{1,9})?)?$/.test(text);

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

/** A key that nobody knows. `found` is the key alone: its value may be a secret. */
export function unknownKey(path: string, key: string, known: readonly string[]): Problem {
  return problemShowing(path, key, `one of the keys ${known.join(", ")}`, nearest(key, known));
}

/** The same problem seen from further up: "iterations" below "jobs[3]" is "jobs[3].iterations". */
export function below(prefix: string, problem: Problem): Problem {
  return { ...problem, path: joinPath(prefix, problem.path) };
}

/** Joins two parts of a path; either may be empty, the second may begin with an index. */
export function joinPath(prefix: string, rest: string): string {
  return prefix === "" || rest === "" || rest.startsWith("[") ? prefix + rest : `${prefix}.${rest}`;
}

/** JSON text of a value, cut to 80 characters; never fails, however large or deep the value is. For what may be shown. */
export function excerpt(value: unknown): string {
  if (value === undefined) return NOTHING;
  return shorten(writeSome(value, LONGEST_EXCERPT), LONGEST_EXCERPT);
}

/** At most `length` characters of a text, the last one "…" if it was longer. */
export function shorten(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
}

/** JSON text, complete if it is at most `room` characters long, else any longer beginning of it. Each level takes a character, so depth is bounded too. */
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
