import type { ArrayTimeouts, EndSeconds, EndTimeout } from "../../domain/timeouts.ts";
import { isKeptName, NAME_EXPECTED } from "../json/name.ts";
import { problemAt, problemShowing } from "../json/problem.ts";
import type { Problems } from "../json/problems.ts";
import type { Seconds } from "../../domain/units.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

/** The spellings and bounds of one timeout, in seconds. */
export interface TimeoutKey {
  /** Our key, and scalelib's key for the same. */
  readonly ours: string;
  readonly theirs: string;
  readonly least: number;
  /** The default. */
  readonly builtIn: number;
}

/** A timeout in a configuration, in seconds: for all node arrays, and for those that it names. */
interface TimeoutRead {
  readonly seconds: Seconds;
  /** Absent: no array is named. */
  readonly byArray?: ArrayTimeouts;
}

/** The member of a timeout's object that stands for all arrays that are not named (scalelib.md 15). */
export const EVERY_OTHER = "default";

/**
 * Reads a timeout in either spelling: one number, or an object of numbers by node array, with "default" for arrays that it does not name.
 * scalelib's spelling is read as scalelib reads it (scalelib.md 15): digits may be text, and in an object 0 and null mean the built-in
 * value. Ours is taken literally.
 */
export function readTimeout(from: Fields, key: TimeoutKey, problems: Problems): TimeoutRead {
  const { ours, theirs, builtIn } = key;
  const whose: Spelling = from[theirs] !== undefined ? "theirs" : "ours";
  const name = whose === "theirs" ? theirs : ours;
  const value = from[name];
  if (whose === "theirs" && from[ours] !== undefined) {
    problems.add(() => problemAt(theirs, value, `either ${ours} or ${theirs}, not both`));
    return { seconds: builtIn };
  }
  if (value === undefined) return { seconds: builtIn };
  if (isFields(value)) return readObject(value, name, whose, key, problems);
  const seconds = secondsIn(value, whose, key.least);
  if (seconds === undefined) {
    const isNumber = typeof value === "number" || typeof value === "string";
    const other = isNumber ? "" : ", or an object of them: default, and node arrays";
    problems.add(() => problemAt(name, value, `${expectedOf(key)}${other}`));
  }
  return { seconds: seconds ?? builtIn };
}

/** Our keys and scalelib's have different values for the same setting. */
type Spelling = "ours" | "theirs";

function readObject(
  from: Fields,
  path: string,
  whose: Spelling,
  key: TimeoutKey,
  problems: Problems,
): TimeoutRead {
  const byArray = new Map<string, number>();
  for (const [array, value] of Object.entries(from)) {
    if (!isKeptName(array)) {
      problems.add(() => problemShowing(path, array, NAME_EXPECTED));
      continue;
    }
    const seconds = whose === "theirs" && isBuiltIn(value) ? key.builtIn : secondsIn(value, whose, key.least);
    if (seconds === undefined) problems.add(() => problemAt(`${path}.${array}`, value, expectedOf(key)));
    else byArray.set(array, seconds);
  }
  const seconds = byArray.get(EVERY_OTHER) ?? key.builtIn;
  byArray.delete(EVERY_OTHER);
  return byArray.size === 0 ? { seconds } : { seconds, byArray };
}

/** Whether a member of scalelib's object means the built-in value. */
export function isBuiltIn(value: unknown): boolean {
  return (
    value === null || value === 0 || (typeof value === "string" && DIGITS.test(value) && Number(value) === 0)
  );
}

/** Texts that Python reads as a whole number that is not negative, except for underscores. */
const DIGITS = /^\s*\+?\d+\s*$/;

function secondsIn(value: unknown, whose: Spelling, least: number): number | undefined {
  const number =
    whose === "theirs" && typeof value === "string" && DIGITS.test(value) ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) && number >= least ? number : undefined;
}

function expectedOf({ least }: TimeoutKey): string {
  return `a number of seconds, ${least} or more`;
}

/** A timeout in our spelling: one number, or an object if arrays have their own. */
export function writeTimeout({ seconds, byArray }: TimeoutRead): number | Readonly<Record<string, number>> {
  return byArray === undefined ? seconds : { [EVERY_OTHER]: seconds, ...Object.fromEntries(byArray) };
}

const END_EXPECTED = 'a number of seconds, 0 or more, or "never"';

/**
 * Reads a time after which nodes are ended: a number of seconds or "never", or an object of them by node array, with "default" for arrays
 * that it does not name. Undefined if the document does not have the key. `builtIn`: for arrays that an object does not name.
 */
export function readEndTimeout(
  from: Fields,
  key: string,
  builtIn: EndSeconds,
  problems: Problems,
): EndTimeout | undefined {
  const value = from[key];
  if (value === undefined) return undefined;
  if (!isFields(value)) {
    const every = endSecondsIn(value);
    if (every === undefined)
      problems.add(() =>
        problemAt(key, value, `${END_EXPECTED}, or an object of them: default, and node arrays`),
      );
    return { every: every ?? builtIn };
  }
  const byArray = new Map<string, EndSeconds>();
  for (const [array, one] of Object.entries(value)) {
    const seconds = endSecondsIn(one);
    if (!isKeptName(array)) problems.add(() => problemShowing(key, array, NAME_EXPECTED));
    else if (seconds === undefined) problems.add(() => problemAt(`${key}.${array}`, one, END_EXPECTED));
    else byArray.set(array, seconds);
  }
  const every = byArray.get(EVERY_OTHER) ?? builtIn;
  byArray.delete(EVERY_OTHER);
  return byArray.size === 0 ? { every } : { every, byArray };
}

function endSecondsIn(value: unknown): EndSeconds | undefined {
  return value === "never" ? value : secondsIn(value, "ours", 0);
}

/** {@link readEndTimeout} reads the result as the same time. */
export function writeEndTimeout({
  every,
  byArray,
}: EndTimeout): EndSeconds | Readonly<Record<string, EndSeconds>> {
  return byArray === undefined ? every : { [EVERY_OTHER]: every, ...Object.fromEntries(byArray) };
}
