import { problemAt, problemShowing, unknownKey } from "./problem.ts";
import type { Problems } from "./problems.ts";
import { BOUNDS } from "./bounds.ts";
import { isActing } from "../../domain/shown.ts";
import type { Fields } from "../../domain/fields.ts";
import { isFields } from "../../domain/fields.ts";

/*
 * Readers of single members, for the parts of a message that occur by the thousand (jobs, hosts), where a schema library would cost more
 * than the work itself (docs/decisions.md, "Inputs are read in two ways, and refused in one form"). Each returns the value, or undefined if
 * it is absent or was reported. Paths are the bare key: the caller puts the position of the object in front.
 */

/** Reports every key that is not in `known`. */
export function checkKeys(from: Fields, known: ReadonlySet<string>, problems: Problems): void {
  // JSON has no inherited keys, and this loop is several times as fast as one over a list of the keys.
  for (const key in from) {
    if (!known.has(key)) problems.add(() => unknownKey("", key, [...known]));
  }
}

export function readText(from: Fields, key: string, problems: Problems): string | undefined {
  const value = from[key];
  if (value === undefined) return undefined;
  if (isText(value)) return value;
  problems.add(() => problemAt(key, value, expectedText(value)));
  return undefined;
}

/** What is expected of a name beside its length. */
export const NO_ACTING = "without control and direction characters";

/** The name of a host, which has no letters of a language that is written from right to left. */
export function readHost(from: Fields, key: string, problems: Problems): string | undefined {
  const host = readText(from, key, problems);
  if (host === undefined || !isActing(host)) return host;
  problems.add(() => problemShowing(key, host, `the name of a host, ${NO_ACTING}`));
  return undefined;
}

const isText = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= BOUNDS.name;

const expectedText = (value: unknown): string =>
  typeof value === "string" && value !== "" ? `at most ${BOUNDS.name} characters` : "text, not empty";

/** The expected value of a count that is too large. */
export const AT_MOST = `at most ${BOUNDS.count}`;

export function readBoolean(from: Fields, key: string, problems: Problems): boolean | undefined {
  const value = from[key];
  if (value === undefined || typeof value === "boolean") return value;
  problems.add(() => problemAt(key, value, "true or false"));
  return undefined;
}

export function readNumber(from: Fields, key: string, problems: Problems): number | undefined {
  const value = from[key];
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  problems.add(() => problemAt(key, value, "a number"));
  return undefined;
}

/** A whole number from `least` to the maximum count. */
export function readCount(from: Fields, key: string, least: 0 | 1, problems: Problems): number | undefined {
  const value = from[key];
  if (value === undefined) return undefined;
  const tooMany = typeof value === "number" && value > BOUNDS.count;
  if (!tooMany && typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
  problems.add(() => problemAt(key, value, tooMany ? AT_MOST : `a whole number, ${least} or more`));
  return undefined;
}

export function readOneOf<T extends string>(
  from: Fields,
  key: string,
  choices: readonly T[],
  problems: Problems,
): T | undefined {
  const value = from[key];
  if (value === undefined) return undefined;
  const choice = choices.find((candidate) => candidate === value);
  if (choice === undefined) problems.add(() => problemShowing(key, value, `one of ${choices.join(", ")}`));
  return choice;
}

/** A list of texts that are not empty. Each other member is reported with its index. */
export function readTexts(from: Fields, key: string, problems: Problems): readonly string[] | undefined {
  const value = from[key];
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) {
    problems.add(() => problemAt(key, value, "a list of texts"));
    return undefined;
  }
  if (isTooLong(key, value, BOUNDS.placed, "texts", problems)) return undefined;
  // Copied in one piece: a growing list reserves more room, and thousands of hosts have one job each.
  if (value.every(isText)) return value.slice();
  value.forEach((item: unknown, index) => {
    if (!isText(item)) problems.add(() => problemAt(`${key}[${index}]`, item, expectedText(item)));
  });
  return value.filter(isText);
}

/** Reads the members of a list one by one. `path` and their index are put in front of their problems. */
export function readEach<T>(
  items: readonly unknown[],
  path: string,
  problems: Problems,
  readItem: (item: unknown, problems: Problems) => T | undefined,
): T[] {
  const values: T[] = [];
  items.forEach((item, index) => {
    const value = readItem(
      item,
      problems.below(() => `${path}[${index}]`),
    );
    if (value !== undefined) values.push(value);
  });
  return values;
}

/** Whether a list has more items than allowed. Reported; then nothing of it is read. */
export function isTooLong(
  path: string,
  items: readonly unknown[],
  most: number,
  what: string,
  problems: Problems,
): boolean {
  if (items.length <= most) return false;
  problems.add(() => ({ path, found: `${items.length} ${what}`, expected: `at most ${most} ${what}` }));
  return true;
}

/** A list, or a bare object that stands for a list of one (cyclecloud-wire.md C.2). Undefined for anything else. */
export function listOrOne(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  return isFields(value) ? [value] : undefined;
}

/** Whether a value has, at any level, the one key that JavaScript objects cannot copy. */
export function hasProtoKey(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.keys(value).some((key) => key === "__proto__" || hasProtoKey(Reflect.get(value, key)));
}

/** Whether a value has more than this many levels of objects and lists. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1));
}

/** The same JSON with the keys of all its objects in order, so that the digest does not depend on how the sender wrote it. */
export function sortKeys(value: unknown): unknown {
  return isFields(value) ? sortFields(value) : Array.isArray(value) ? value.map(sortKeys) : value;
}

export function sortFields(value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sortKeys(value[key])]),
  );
}
