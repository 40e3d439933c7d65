import type { Problem } from "../domain/demand.ts";
import { addBelow, problemAt, unknownKey } from "./problem.ts";

/**
 * Readers of single members, for the parts of a message that come by the thousand (jobs, hosts) and where a schema library would cost
 * more than the work itself. Each returns the value, or undefined when it is absent or was reported. Paths are the bare key: whoever
 * knows where the object stands puts the rest in front.
 */
export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Reports every key that is not in `known`. */
export function checkKeys(from: Fields, known: ReadonlySet<string>, problems: Problem[]): void {
  // JSON has no inherited keys, and this loop is several times as fast as one over a list of the keys.
  for (const key in from) {
    if (!known.has(key)) problems.push(unknownKey("", key, [...known]));
  }
}

export function readText(from: Fields, key: string, problems: Problem[]): string | undefined {
  const value = from[key];
  if (value === undefined) return undefined;
  if (typeof value === "string" && value !== "") return value;
  problems.push(problemAt(key, value, "text, not empty"));
  return undefined;
}

export function readBoolean(from: Fields, key: string, problems: Problem[]): boolean | undefined {
  const value = from[key];
  if (value === undefined || typeof value === "boolean") return value;
  problems.push(problemAt(key, value, "true or false"));
  return undefined;
}

export function readNumber(from: Fields, key: string, problems: Problem[]): number | undefined {
  const value = from[key];
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isFinite(value)) return value;
  problems.push(problemAt(key, value, "a number"));
  return undefined;
}

/** A whole number from `least` on. */
export function readCount(from: Fields, key: string, least: 0 | 1, problems: Problem[]): number | undefined {
  const value = from[key];
  if (value === undefined) return undefined;
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
  problems.push(problemAt(key, value, `a whole number, ${least} or more`));
  return undefined;
}

export function readOneOf<T extends string>(
  from: Fields,
  key: string,
  choices: readonly T[],
  problems: Problem[],
): T | undefined {
  const value = from[key];
  if (value === undefined) return undefined;
  const choice = choices.find((candidate) => candidate === value);
  if (choice === undefined) problems.push(problemAt(key, value, `one of ${choices.join(", ")}`));
  return choice;
}

/** A list of texts that are not empty; each other member is reported with its index. */
export function readTexts(from: Fields, key: string, problems: Problem[]): readonly string[] | undefined {
  const value = from[key];
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) {
    problems.push(problemAt(key, value, "a list of texts"));
    return undefined;
  }
  const isText = (item: unknown): item is string => typeof item === "string" && item !== "";
  // Copied in one piece: a list that grows keeps room for more, and thousands of hosts have one job each.
  if (value.every(isText)) return value.slice();
  value.forEach((item: unknown, index) => {
    if (!isText(item)) problems.push(problemAt(`${key}[${index}]`, item, "text, not empty"));
  });
  return value.filter(isText);
}

/** Reads the members of a list one by one; what they report gets `path` and their index put in front. */
export function readEach<T>(
  items: readonly unknown[],
  path: string,
  problems: Problem[],
  readItem: (item: unknown, problems: Problem[]) => T | undefined,
): T[] {
  const values: T[] = [];
  items.forEach((item, index) => {
    const before = problems.length;
    const value = readItem(item, problems);
    if (value !== undefined) values.push(value);
    if (problems.length > before) {
      const own = problems.splice(before);
      addBelow(problems, `${path}[${index}]`, own);
    }
  });
  return values;
}

/** A list, or a bare object that stands for a list of one (cyclecloud-wire.md C.2); undefined: neither. */
export function listOrOne(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  return isFields(value) ? [value] : undefined;
}
