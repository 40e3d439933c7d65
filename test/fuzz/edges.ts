import { BOUNDS } from "../../src/wire/json/bounds.ts";
import type { Dice } from "../simulation/dice.ts";

/**
 * Stands for text that no value has as JSON: a document is written with this text in quotes, and what is in the list takes its place.
 * So documents stay plain values that can be edited, cut down and printed.
 */
export const RAW: Readonly<Record<string, string>> = {
  "@@1e400": "1e400",
  "@@-1e400": "-1e400",
  "@@-0": "-0",
  "@@1e-400": "1e-400",
  "@@17 digits": "12345678901234567890",
  "@@5,000 levels": `${"[".repeat(5000)}${"]".repeat(5000)}`,
  "@@5,000 nots": `${'{"not":'.repeat(5000)}{"ncpus":1}${"}".repeat(5000)}`,
  "@@one key twice": '{"ncpus":1,"ncpus":2}',
};

/** The JSON text of a document; `@cluster` in it is the name of the cluster that it is for. */
export function writeText(document: unknown, cluster: string): string {
  let text = JSON.stringify(document) ?? "";
  text = text.replaceAll("@cluster", cluster);
  for (const [mark, raw] of Object.entries(RAW)) text = text.replaceAll(JSON.stringify(mark), raw);
  return text;
}

type Some<T> = readonly [T, ...T[]];

const BOUND_VALUES = [...new Set<number>(Object.values(BOUNDS))];

const NUMBERS: Some<unknown> = [
  0,
  1,
  -1,
  0.5,
  1e-9,
  5e-324,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 32,
  2 ** 53 - 1,
  2 ** 53,
  -(2 ** 53),
  1e300,
  1.7976931348623157e308,
  8.64e15,
  8.64e15 + 1,
  1e11,
  1e11 - 1,
  "@@1e400",
  "@@-1e400",
  "@@-0",
  "@@1e-400",
  "@@17 digits",
  "NaN",
  "Infinity",
  "1",
];

const LENGTHS = [199, 200, 201, 1000, 1001, 4096, 4097] as const;

const TEXTS: Some<string> = [
  "",
  " ",
  "a",
  "\0",
  "a\u0000b\n",
  "\ud800",
  "x\udc00y",
  "\u202e\u200b",
  "é",
  "e\u0301",
  "😀",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "..",
  "/",
  "%2F",
  "%00",
  "*",
  "?*[a",
  "*a*a*a*a*b",
  "[!a-",
  "<script>",
  "NaN",
  "-1",
  "1e300",
  "true",
  "null",
  "memory::4g",
  "memory::1e999g",
  "memory::-1g",
  "memory::g",
  "execute",
  "execute:64",
  "group-execute-64-1",
  "nodearray:execute",
  "ip-0A000404",
  "execute-1",
  "Standard_F4s_v2",
  "default",
  "open",
];

/** Levels at which readers and their bounds differ. */
const LEVELS = [2, 8, 9, 31, 60, 61, 62, 63, 64, 65, 1000] as const;

const WIDTHS = [0, 2, 3, 10, 100, 101, 1000, 1001] as const;
/** Seldom: they cost much to write and to read. */
const GREAT_WIDTHS = [10_000, 10_001, 20_000, 20_001] as const;

export function edgeNumber(dice: Dice): unknown {
  if (dice.chance(0.5)) return dice.pick(NUMBERS);
  const bound = BOUND_VALUES[dice.whole(0, BOUND_VALUES.length - 1)] ?? 0;
  return dice.pick([bound, bound + 1, bound - 1, -bound]);
}

export function edgeText(dice: Dice): string {
  if (dice.chance(0.85)) return dice.pick(TEXTS);
  if (dice.chance(0.03)) return "a".repeat(BOUNDS.text + dice.whole(0, 1));
  const filling = dice.pick(["a", "é", "😀", "*a", "\ud800", "\0"]);
  return filling.repeat(dice.pick(LENGTHS)).slice(0, dice.pick(LENGTHS));
}

/** A nest as deep as bounds, around a value. */
function edgeDepth(dice: Dice): unknown {
  const kind = dice.pick(["list", "object", "not", "and", "raw", "raw", "raw"]);
  if (kind === "raw") return dice.pick(["@@5,000 levels", "@@5,000 nots"]);
  const wrap: Readonly<Record<string, (value: unknown) => unknown>> = {
    list: (value) => [value],
    object: (value) => ({ a: value }),
    not: (value) => ({ not: value }),
    and: (value) => ({ and: [value] }),
  };
  let value: unknown = kind === "list" ? [] : { ncpus: 1 };
  for (let left: number = dice.pick(LEVELS); left > 0; left -= 1) value = wrap[kind]?.(value);
  return value;
}

function edgeObject(dice: Dice): unknown {
  if (dice.chance(0.3)) return {};
  if (dice.chance(0.3)) return "@@one key twice";
  const width = dice.chance(0.02) ? dice.pick([9999, 10_000, 10_001]) : dice.pick([1, 3, 101]);
  const value = edgeScalar(dice);
  return Object.fromEntries(
    Array.from({ length: width }, (_, index) => [index === 0 ? edgeText(dice) : `k${index}`, value]),
  );
}

export function edgeScalar(dice: Dice): unknown {
  return dice.pick<() => unknown>([
    () => edgeNumber(dice),
    () => edgeText(dice),
    () => true,
    () => false,
    () => null,
  ])();
}

/** As many copies of an entry as bounds allow and one more; what names an entry differs from copy to copy, mostly. */
export function repeated(dice: Dice, entry: unknown): readonly unknown[] {
  const width = dice.chance(0.04) ? dice.pick(GREAT_WIDTHS) : dice.pick(WIDTHS);
  const isSame = dice.chance(0.2);
  return Array.from({ length: width }, (_, index) => (isSame ? entry : named(entry, index)));
}

function named(entry: unknown, index: number): unknown {
  if (typeof entry === "string") return `${entry}${index}`;
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return entry;
  return Object.fromEntries(
    Object.entries(entry).map(([key, value]): [string, unknown] =>
      NAMES.has(key) && typeof value === "string" ? [key, `${value}${index}`] : [key, value],
    ),
  );
}

const NAMES: ReadonlySet<string> = new Set(["name", "hostname", "Name"]);

/** Something else for a value: of its own kind mostly, else of any. */
export function edgeValue(dice: Dice, old: unknown): unknown {
  if (dice.chance(0.25)) return edgeOfAnyKind(dice);
  if (typeof old === "number") return edgeNumber(dice);
  if (typeof old === "string") return edgeText(dice);
  if (Array.isArray(old)) return repeated(dice, old[0] ?? edgeScalar(dice));
  if (typeof old === "object" && old !== null) return edgeObject(dice);
  return edgeScalar(dice);
}

function edgeOfAnyKind(dice: Dice): unknown {
  return dice.pick<() => unknown>([
    () => edgeScalar(dice),
    () => edgeScalar(dice),
    () => edgeObject(dice),
    () => edgeDepth(dice),
    () => edgeDepth(dice),
    () => repeated(dice, edgeScalar(dice)),
    () => [],
  ])();
}
