import type { Json } from "./compare.ts";
import { isList, isObject } from "./compare.ts";
import type { Deviation } from "./deviations.ts";
import type { VectorCase } from "./vector-case.ts";

type Input = VectorCase["input"];

const SUITE = "timeouts/settings";
const BUILT_IN: Readonly<Record<string, number>> = { idle_timeout: 300, boot_timeout: 3600 };

/** Where a timeout comes to something else than in the library, on purpose. Paths are "idle_timeout.hpc" and the like. */
export const TIMEOUT_DEVIATIONS: readonly Deviation[] = [
  {
    defect: 48,
    suite: SUITE,
    explains: ({ input }, { path, expected, actual }) =>
      path.startsWith("boot_timeout.") && meansBuiltIn(input, path) && expected === 1800 && actual === 3600,
  },
  {
    // The text "0" in an object is read as the number 0 is, whenever the library looks for it.
    defect: 0,
    suite: SUITE,
    explains: ({ input }, { path, actual }) =>
      isInObject(input) &&
      isZero(decidingValue(input, path)) &&
      actual === BUILT_IN[path.split(".")[0] ?? ""],
  },
  {
    // JSON does not tell 600.0 from 600, and half a second is no mistake.
    defect: 0,
    suite: SUITE,
    explains: ({ input }, { path, expected, actual }) => {
      const value = decidingValue(input, path);
      const isFraction = typeof value === "number" && !Number.isInteger(value);
      return typeof value === "number" && actual === value && (isFraction || expected === "refused");
    },
  },
  {
    // A configuration with a timeout that is none is refused as a whole.
    defect: 0,
    suite: SUITE,
    explains: ({ input }, { path, actual }) =>
      actual === "refused" && holdsNoTimeout(input, path.startsWith("boot_timeout.") ? 1 : 0),
  },
];

function isInObject({ present, value }: Input): boolean {
  return present === true && isObject(value);
}

/** What the configuration says for the place that a path names; undefined: nothing. */
function decidingValue({ present, value }: Input, path: string): Json | undefined {
  if (present !== true || !isObject(value)) return present === true ? value : undefined;
  const place = path.split(".")[1] ?? "";
  return place !== "no_node" && Object.hasOwn(value, place) ? value[place] : value["default"];
}

/** The number 0, as it is or as digits. */
function isZero(value: Json | undefined): boolean {
  return value === 0 || (typeof value === "string" && /^\s*\+?0+\s*$/.test(value));
}

/** Nothing is said; or, in an object, 0 or null is. */
function meansBuiltIn(input: Input, path: string): boolean {
  const value = decidingValue(input, path);
  return value === undefined || (isInObject(input) && (value === null || isZero(value)));
}

/** The value, or a member of it, is no number from `least` on, and no digits. */
function holdsNoTimeout({ present, value }: Input, least: number): boolean {
  if (present !== true || value === undefined) return false;
  const isNone = (one: Json): boolean => {
    if (typeof one === "number") return one < least;
    if (typeof one === "string") return !/^\s*\+?\d+\s*$/.test(one) || Number(one) < least;
    return true;
  };
  if (!isObject(value)) return isList(value) || isNone(value);
  return Object.values(value).some((one) => one !== null && !isZero(one) && isNone(one));
}
