/** Where two answers differ: the path, and what stands there. */
export interface Difference {
  readonly path: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** Sizes are compared by their bytes with this relative tolerance (the README of the vectors); nothing else has any. */
const SIZE_TOLERANCE = 1e-9;

export const UNITS: Readonly<Record<string, number>> = {
  b: 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
  p: 2 ** 50,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
};

/** Everything in which an answer differs from what is expected, each key by itself. */
export function differences(expected: Json | undefined, actual: Json | undefined, path = ""): Difference[] {
  if (isList(expected) && isList(actual) && expected.length === actual.length)
    return expected.flatMap((item, i) => differences(item, actual[i], `${path}[${i}]`));
  if (isObject(expected) && isObject(actual)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(actual)]);
    return [...keys].flatMap((key) =>
      differences(expected[key], actual[key], path === "" ? key : `${path}.${key}`),
    );
  }
  return isSame(expected, actual) ? [] : [{ path, expected, actual }];
}

function isSame(expected: Json | undefined, actual: Json | undefined): boolean {
  if (expected === actual) return true;
  const [a, b] = [bytesOfText(expected), bytesOfText(actual)];
  if (a !== undefined && b !== undefined) return isClose(a, b);
  return isList(expected) && isList(actual) && expected.length === 0 && actual.length === 0;
}

export function isClose(a: number, b: number): boolean {
  return Math.abs(a - b) <= SIZE_TOLERANCE * Math.max(Math.abs(a), Math.abs(b));
}

/** Read here once more, so that a fault of the product's reader cannot hide itself. */
export function bytesOfText(value: unknown): number | undefined {
  const match = typeof value === "string" ? /^(?:memory|size)::(.+)([a-zA-Z])$/.exec(value) : null;
  const unit = UNITS[match?.[2] ?? ""];
  const amount = Number(match?.[1]);
  return unit === undefined || Number.isNaN(amount) ? undefined : amount * unit;
}

export function isList(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

export function isObject(value: unknown): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A text as it is, anything else as JSON. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

export type Fields = Readonly<Record<string, Json>>;

export const fieldsOf = (value: Json | undefined): Fields => (isObject(value) ? value : {});
export const listOf = (value: Json | undefined): readonly Json[] => (isList(value) ? value : []);
export const objectsIn = (value: Json | undefined): readonly Fields[] => listOf(value).filter(isObject);
