import type { ArrayName } from "./ids.ts";

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

/** Whether nothing acts: no node array may be changed. `nodearrays`: only these are ours; absent: all. */
export function isObserving(rules: ModeRules & { readonly nodearrays?: readonly ArrayName[] }): boolean {
  const { mode, arrayModes, nodearrays } = rules;
  if (nodearrays !== undefined) return !nodearrays.some((array) => actsOn(rules, array));
  return mode === "observe" && ![...arrayModes.values()].includes("act");
}

/** The node arrays that are only observed while the cluster acts, or acted on while it is observed. In the order of the configuration. */
export function exceptions({ mode, arrayModes }: ModeRules): readonly ArrayName[] {
  return [...arrayModes].flatMap(([array, own]) => (own === mode ? [] : [array]));
}

/** The same rules with nothing acting, whatever they said. */
export function observing<T extends ModeRules>(rules: T): T {
  return { ...rules, mode: "observe", arrayModes: new Map() };
}
