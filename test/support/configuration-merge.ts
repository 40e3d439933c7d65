import type { Quirks, SimulatorOptions } from "../../src/simulator/options.ts";

type Merge = Quirks["configurationMerge"];

/** Both readings of "nodeAttributes are merged": how deep CycleCloud merges Configuration is not known (cyclecloud-wire.md C.2). */
export const MERGES: readonly Merge[] = ["deep", "one-level"];

/** `SIMULATED_MERGE=one-level` before a test command sets the reading of every simulator whose options do not set it. */
const FROM_ENVIRONMENT = MERGES.find((merge) => merge === process.env["SIMULATED_MERGE"]);

/** The options with this reading, or with that of the environment. A reading that the options already have stays. */
export function mergingBy(options: SimulatorOptions, merge = FROM_ENVIRONMENT): SimulatorOptions {
  if (merge === undefined) return options;
  return { ...options, quirks: { configurationMerge: merge, ...options.quirks } };
}
