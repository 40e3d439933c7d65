import * as fc from "fast-check";
import type { SimulatorOptions } from "../../src/simulator/options.ts";

/** A node array of the model's cluster: its sizes, preferred first, and its limits. */
export interface ArrayShape {
  readonly name: string;
  readonly types: readonly TypeName[];
  readonly maxCount: number;
  readonly maxCoreCount: number;
  readonly maxGroupSize: number;
}

/** The cluster in which a sequence plays. */
export interface ClusterShape {
  readonly arrays: readonly ArrayShape[];
  readonly maxCount: number;
  readonly maxCoreCount: number;
  readonly regionalCores: number;
  readonly familyCores: Readonly<Record<TypeName, number>>;
  /** Shares of nodes that fail while they boot, and of nodes that never come up. */
  readonly bootFailureShare: number;
  readonly neverBootShare: number;
  readonly seed: number;
}

export type TypeName = keyof typeof CORES;

/** Cores of each VM size. Each size is a family of its own. */
export const CORES = { Small: 2, Middle: 4, Large: 8 } as const;
export const TYPES: readonly TypeName[] = ["Small", "Middle", "Large"];

export const CLUSTER = "demo";
const REGION = "westeurope";
const AMPLE = 100_000;

const arrays: fc.Arbitrary<readonly ArrayShape[]> = fc
  .array(
    fc.record({
      types: fc.shuffledSubarray([...TYPES], { minLength: 1 }),
      maxCount: fc.constantFrom(AMPLE, 25, 12),
      maxCoreCount: fc.constantFrom(AMPLE, 90, 41),
      maxGroupSize: fc.constantFrom(100, 5),
    }),
    { minLength: 1, maxLength: 3 },
  )
  .map((list) => list.map((array, index) => ({ name: `array${index}`, ...array })));

/** Draws clusters of one to three arrays, some with tight limits, some with nodes that fail. */
export const clusterShapes: fc.Arbitrary<ClusterShape> = fc.record({
  arrays,
  maxCount: fc.constantFrom(AMPLE, 40),
  maxCoreCount: fc.constantFrom(AMPLE, 150),
  regionalCores: fc.constantFrom(AMPLE, 130),
  familyCores: fc.record({
    Small: fc.constantFrom(AMPLE, 30),
    Middle: fc.constantFrom(AMPLE, 61),
    Large: fc.constantFrom(AMPLE, 84),
  }),
  bootFailureShare: fc.constantFrom(0, 0.06),
  neverBootShare: fc.constantFrom(0, 0.04),
  seed: fc.integer({ min: 1, max: 1_000_000 }),
});

/** The same cluster for the simulator. Nodes come up within a minute, so that much happens in a short sequence. */
export function simulatorOptions(shape: ClusterShape): SimulatorOptions {
  return {
    clusters: [
      {
        name: CLUSTER,
        maxCount: shape.maxCount,
        maxCoreCount: shape.maxCoreCount,
        arrays: shape.arrays.map(({ name, types, maxCount, maxCoreCount, maxGroupSize }) => ({
          name,
          region: REGION,
          machineTypes: types,
          maxCount,
          maxCoreCount,
          maxPlacementGroupSize: maxGroupSize,
        })),
      },
    ],
    machineTypes: Object.fromEntries(
      TYPES.map((type) => [type, { vcpuCount: CORES[type], memory: 4 * CORES[type], family: type }]),
    ),
    quotas: { regional: { [REGION]: shape.regionalCores }, family: shape.familyCores },
    timings: {
      secondsToAllocate: 4,
      secondsToAcquire: 12,
      secondsToPrepare: 20,
      secondsToTerminate: 20,
      jitter: 0.5,
    },
    bootFailureShare: shape.bootFailureShare,
    neverBootShare: shape.neverBootShare,
    seed: shape.seed,
    keepLog: false,
  };
}
