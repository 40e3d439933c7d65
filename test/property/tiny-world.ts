import fc from "fast-check";
import type { BucketOffer, SupplyNode, World } from "../../src/domain/world.ts";
import type { JobDemand, RankedDemand } from "../../src/domain/demand.ts";
import { arrayName, machineType, nodeId, setName } from "../../src/domain/ids.ts";
import { EXCLUSIVE, needing } from "../support/build-constraints.ts";

/** A world so small that every way to serve it can be tried: everything that matters to its cost, in plain numbers. */
export interface TinyWorld {
  readonly sizes: readonly TinySize[];
  /** Existing nodes, by position of their size. */
  readonly nodes: readonly number[];
  readonly jobs: readonly TinyJob[];
}

export interface TinySize {
  readonly cores: number;
  readonly memory: number;
  readonly price: number;
  readonly spot: boolean;
}

export interface TinyJob {
  readonly cores: number;
  readonly memory: number;
  readonly slots: number;
  /** One slot on each node, and no other job there. */
  readonly exclusive: boolean;
  /** The slots are node tasks: each on a node of its own, all of one size, all or none. */
  readonly gang: boolean;
  /** Absent: nothing was said, which is as good as "never" where price decides. */
  readonly spot?: "never" | "allow";
}

/** Maximum number of slots of all jobs. With more, trying all placements takes too long. */
const MOST_SLOTS = 9;

const anyJob: fc.Arbitrary<TinyJob> = fc
  .record({
    cores: fc.constantFrom(0, 1, 2, 3),
    memory: fc.constantFrom(0, 1, 2, 5),
    slots: fc.integer({ min: 1, max: 4 }),
    exclusive: fc.constantFrom(false, false, true),
    gang: fc.constantFrom(false, false, true),
    spot: fc.constantFrom(undefined, "never" as const, "allow" as const),
  })
  .map(({ spot, ...job }) => ({ ...job, ...(spot === undefined ? {} : { spot }) }));

/** It says one thing, or nothing. */
const anyJobOfOneKind: fc.Arbitrary<TinyJob> = fc
  .tuple(
    fc.integer({ min: 1, max: 4 }),
    fc.constantFrom<Partial<TinyJob>>(
      { cores: 1 },
      { cores: 3 },
      { memory: 2 },
      { exclusive: true },
      { gang: true },
      { spot: "allow" },
      {},
    ),
  )
  .map(([slots, one]) => ({ cores: 0, memory: 0, slots, exclusive: false, gang: false, ...one }));

export const anyTinyWorld: fc.Arbitrary<TinyWorld> = fc
  .record({
    sizes: fc.array(
      fc
        .record({
          cores: fc.constantFrom(1, 2, 4, 8),
          memory: fc.constantFrom(2, 4, 8, 32),
          rate: fc.integer({ min: 2, max: 6 }),
          extra: fc.nat(3),
          spot: fc.constantFrom(false, false, true),
        })
        // Larger nodes cost more, though not always in proportion.
        .map(({ cores, memory, rate, extra, spot }): TinySize => ({
          cores,
          memory,
          price: cores * rate + extra,
          spot,
        })),
      { minLength: 1, maxLength: 3 },
    ),
    nodes: fc.array(fc.nat(2), { maxLength: 2 }),
    jobs: fc.array(fc.oneof(anyJob, anyJobOfOneKind), { minLength: 1, maxLength: 5 }),
  })
  .map(({ sizes, nodes, jobs }) => ({
    sizes,
    nodes: nodes.filter((size) => size < sizes.length),
    jobs: jobs.map((job, i) => ({
      ...job,
      slots: Math.min(job.slots, 1 + Math.floor(MOST_SLOTS / (i + 2))),
    })),
  }))
  .filter(({ sizes, jobs }) => jobs.every((job) => sizes.some((size) => holds(size, job))));

/** Whether a node of the size takes a slot of the job at all. */
export function holds(size: TinySize, job: TinyJob): boolean {
  return size.cores >= job.cores && size.memory >= job.memory && (!size.spot || job.spot === "allow");
}

/** The same for the allocator: each size in an array of its own, as spot is the array's; limits far away. */
export function buildTiny({ sizes, nodes, jobs }: TinyWorld): {
  readonly world: World;
  readonly demands: readonly RankedDemand[];
} {
  const buckets = sizes.map((size, i): BucketOffer => ({
    bucket: bucketOf(i),
    resources: { ncpus: size.cores, memory: size.memory },
    cores: size.cores,
    price: size.price,
    charges: [{ limit: 0, amount: 1 }],
    groupSizes: new Map(),
    ...(size.spot ? { spot: true as const } : {}),
  }));
  const supply = nodes.map((at, i): SupplyNode => {
    const size = sizes[at] ?? { cores: 0, memory: 0 };
    return {
      nodeId: nodeId(`n${i}`),
      bucket: bucketOf(at),
      purpose: { kind: "array" },
      resources: { ncpus: size.cores, memory: size.memory },
      cores: size.cores,
      order: 1,
      ready: true,
    };
  });
  return {
    world: {
      nodes: supply,
      inFlight: [],
      buckets,
      limits: [{ id: { kind: "cluster", name: "", unit: "nodes" }, used: 0, max: 1000, left: 1000 }],
      arrays: new Map(sizes.map((_, i) => [arrayName(`a${i}`), "managed"])),
    },
    demands: jobs.map((job, i) => ({ set: setName("s"), demand: demandOf(job, i) })),
  };
}

const bucketOf = (size: number) => ({ array: arrayName(`a${size}`), machineType: machineType(`T${size}`) });

function demandOf(job: TinyJob, i: number): JobDemand {
  return {
    kind: "job",
    id: `j${i}`,
    name: `j${i}`,
    priority: 0,
    position: i,
    constraints: [
      ...(job.cores > 0 ? needing({ ncpus: job.cores }) : []),
      ...(job.memory > 0 ? needing({ memory: job.memory }) : []),
      ...(job.exclusive ? [EXCLUSIVE] : []),
    ],
    iterations: job.gang ? 1 : job.slots,
    ...(job.gang ? { nodeCount: job.slots } : {}),
    colocated: false,
    placed: [],
    ...(job.spot === undefined ? {} : { spot: job.spot }),
  };
}
