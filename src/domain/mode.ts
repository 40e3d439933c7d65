import type { ArrayName } from "./ids.ts";
import { someOf } from "./text.ts";

/** `observe`: plan and report, change nothing in CycleCloud. `act`: create, start and stop nodes. */
export type Mode = "observe" | "act";

export const MODES: readonly Mode[] = ["observe", "act"];

/** The parts of a cluster that the autoscaler runs, and those that it only observes. */
export interface ModeRules {
  /** The mode of node arrays that have none of their own. Default: the app setting AUTOSCALER_DEFAULT_MODE, or `act` without it. */
  readonly mode: Mode;
  /**
   * The modes of single node arrays of the template. An array that is absent follows the cluster. A dynamic array follows the array that it
   * extends.
   */
  readonly arrayModes: ReadonlyMap<ArrayName, Mode>;
  /** The configuration does not give the cluster's mode, so the app setting counts. Absent: the configuration gives it. */
  readonly modeIsDefault?: true;
}

/** The mode of one node array of the template. */
export function modeOf({ mode, arrayModes }: ModeRules, array: ArrayName): Mode {
  return arrayModes.get(array) ?? mode;
}

/** Whether one node array may be changed. */
export function actsOn(rules: ModeRules, array: ArrayName): boolean {
  return modeOf(rules, array) === "act";
}

/** The modes, and the node arrays that are ours. Absent: all. */
type ModesOfOurs = ModeRules & { readonly nodearrays?: readonly ArrayName[] };

/** Whether the configuration lets nodes of this array be changed: the array is one of ours, and acts. */
export function maySteer(rules: ModesOfOurs, array: ArrayName): boolean {
  return actsOn(rules, array) && rules.nodearrays?.includes(array) !== false;
}

/** True if no node array may be changed. */
export function isObserving(rules: ModesOfOurs): boolean {
  const { mode, arrayModes, nodearrays } = rules;
  if (nodearrays !== undefined) return !nodearrays.some((array) => actsOn(rules, array));
  return mode === "observe" && ![...arrayModes.values()].includes("act");
}

/** Shown in every answer of a cluster in which no array may be changed. */
export const OBSERVING_ONLY = "observing only: nothing is created or stopped";

/** Which of these node arrays a plan only observes. */
export function observedBy(
  { mode, observed = [] }: { readonly mode: Mode; readonly observed?: readonly ArrayName[] },
  arrays: readonly ArrayName[],
): readonly ArrayName[] {
  return mode === "observe" ? arrays : arrays.filter((array) => observed.includes(array));
}

/** A text for users about node arrays that a plan only observes. `arrays`: at least one. */
export function observedArraysText(arrays: readonly ArrayName[]): string {
  return `${arrays.length === 1 ? "array" : "arrays"} ${someOf(arrays, SHOWN)}: observing only`;
}

/** The text about observed arrays in answers. Undefined if no array is only observed. */
export function observingText(rules: ModesOfOurs): string | undefined {
  if (isObserving(rules)) return OBSERVING_ONLY;
  const others = [...rules.arrayModes].flatMap(([array, mode]) => (mode === rules.mode ? [] : [array]));
  if (rules.mode === "observe")
    return `observing only, except node ${others.length === 1 ? "array" : "arrays"} ${someOf(others, SHOWN)}: nothing is created or stopped elsewhere`;
  return others.length === 0
    ? undefined
    : `observing only node ${others.length === 1 ? "array" : "arrays"} ${someOf(others, SHOWN)}: nothing is created or stopped there`;
}

/** Maximum number of node arrays named in one line. */
const SHOWN = 10;
