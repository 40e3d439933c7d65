import { isFields } from "./fields.ts";

/** What a value must be and is not: at most `levels` deep, and free of the one key that JavaScript objects cannot copy. */
export function nestingFlaw(value: unknown, levels: number, tooDeep: string): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (levels === 0) return tooDeep;
  for (const key of Object.keys(value)) {
    if (key === "__proto__") return "a value without the key __proto__";
    const flaw = nestingFlaw(Reflect.get(value, key), levels - 1, tooDeep);
    if (flaw !== undefined) return flaw;
  }
  return undefined;
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
