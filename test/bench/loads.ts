import { distinctJobs } from "./distinct-load.ts";
import { karpenterPods } from "./karpenter-load.ts";
import type { Load } from "./load.ts";
import { packingCases } from "./packing-load.ts";
import { mixedJobs, mpiJobs, oneSlotJobs, taskArray } from "./scalelib-loads.ts";

/** Everything that `npm run bench` runs, in its order. */
export const LOADS: readonly Load[] = [
  oneSlotJobs,
  taskArray,
  mpiJobs,
  mixedJobs,
  karpenterPods,
  ...packingCases,
  distinctJobs,
];
