import type { ArrayName } from "./ids.ts";
import { someOf } from "./some-of.ts";

/** `observe`: plan and report, change nothing in CycleCloud. `act`: create, start and stop nodes. */
export type Mode = "observe" | "act";

export const MODES: readonly Mode[] = ["observe", "act"];

/** Which parts of a cluster the autoscaler runs, and which it only observes. */
export interface ModeRules {
  /** Of every node array that has no mode of its own. Default: the app setting AUTOSCALER_DEFAULT_MODE, and without it `act`. */
  readonly mode: Mode;
  /** The modes of single node arrays of the template. Absent arrays follow the cluster. Dynamic arrays follow the array that they extend. */
  readonly arrayModes: ReadonlyMap<ArrayName, Mode>;
  /** The configuration does not say the mode of the cluster, so the app setting counts. Absent: the configuration says it. */
  readonly modeIsDefault?: true;
}

/** The mode of one node array of the template. */
export function modeOf({ mode, arrayModes }: ModeRules, array: ArrayName): Mode {
  return arrayModes.get(array) ?? mode;
}

/** Whether changes may be made in one node array. */
export function actsOn(rules: ModeRules, array: ArrayName): boolean {
  return modeOf(rules, array) === "act";
}

/** The modes, and which node arrays are ours: absent: all. */
type ModesOfOurs = ModeRules & { readonly nodearrays?: readonly ArrayName[] };

/** Whether nothing acts: no node array may be changed. */
export function isObserving(rules: ModesOfOurs): boolean {
  const { mode, arrayModes, nodearrays } = rules;
  if (nodearrays !== undefined) return !nodearrays.some((array) => actsOn(rules, array));
  return mode === "observe" && ![...arrayModes.values()].includes("act");
}

/** What every answer of a cluster says in which nothing acts. */
export const OBSERVING_ONLY = "observing only: nothing is created or stopped";

/** Which of these node arrays a plan only observes. */
export function observedBy(
  { mode, observed = [] }: { readonly mode: Mode; readonly observed?: readonly ArrayName[] },
  arrays: readonly ArrayName[],
): readonly ArrayName[] {
  return mode === "observe" ? arrays : arrays.filter((array) => observed.includes(array));
}

/** For people: node arrays that a plan only observes; at least one. */
export function observedArraysText(arrays: readonly ArrayName[]): string {
  return `${arrays.length === 1 ? "array" : "arrays"} ${someOf(arrays, SHOWN)}: observing only`;
}

/** What answers say of a cluster of which something is only observed; undefined: it acts everywhere. */
export function observingText(rules: ModesOfOurs): string | undefined {
  if (isObserving(rules)) return OBSERVING_ONLY;
  const others = [...rules.arrayModes].flatMap(([array, mode]) => (mode === rules.mode ? [] : [array]));
  if (rules.mode === "observe")
    return `observing only, except node ${others.length === 1 ? "array" : "arrays"} ${someOf(others, SHOWN)}: nothing is created or stopped elsewhere`;
  return others.length === 0
    ? undefined
    : `observing only node ${others.length === 1 ? "array" : "arrays"} ${someOf(others, SHOWN)}: nothing is created or stopped there`;
}

/** Node arrays that are named in one line. */
const SHOWN = 10;
