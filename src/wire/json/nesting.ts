import { isFields } from "./fields.ts";

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
