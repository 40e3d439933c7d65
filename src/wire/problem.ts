import type { Problem } from "../domain/demand.ts";
import { nearest } from "../domain/nearest.ts";

export type { Problem } from "../domain/demand.ts";
export { nearest } from "../domain/nearest.ts";

const LONGEST_EXCERPT = 80;
/** Paths name keys of the sender's, which may be of any length. */
const LONGEST_PATH = 200;

/** What `found` says when there was no such member. */
export const NOTHING = "nothing";

/** A problem at `path` (empty: the whole input); `found` is an excerpt of the value, or {@link NOTHING}. */
export function problemAt(path: string, value: unknown, expected: string, didYouMean?: string): Problem {
  const problem = { path: shorten(path, LONGEST_PATH), found: excerpt(value), expected };
  return didYouMean === undefined ? problem : { ...problem, didYouMean };
}

/** A key that nobody knows. `found` is the key alone: its value may be a secret. */
export function unknownKey(path: string, key: string, known: readonly string[]): Problem {
  return problemAt(path, key, `one of the keys ${known.join(", ")}`, nearest(key, known));
}

/** The same problem seen from further up: "iterations" below "jobs[3]" is "jobs[3].iterations". */
export function below(prefix: string, problem: Problem): Problem {
  return { ...problem, path: joinPath(prefix, problem.path) };
}

/** Joins two parts of a path; either may be empty, the second may begin with an index. */
export function joinPath(prefix: string, rest: string): string {
  return prefix === "" || rest === "" || rest.startsWith("[") ? prefix + rest : `${prefix}.${rest}`;
}

/** JSON text of a value, cut to 80 characters; never fails, however large or deep the value is. */
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
