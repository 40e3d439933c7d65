import fc from "fast-check";
import type { Constraint } from "../../src/domain/constraint.ts";
import type { JobDemand, RankedDemand } from "../../src/domain/demand.ts";
import { arrayName, machineType, nodeId, setName } from "../../src/domain/ids.ts";
import type { LimitKind } from "../../src/domain/limit.ts";
import type { BucketOffer, SharedLimit, SupplyNode, World } from "../../src/domain/world.ts";
import { EXCLUSIVE, needing } from "../support/build-constraints.ts";

/*
 * Small clusters in which almost everything is scarce: 2 to 5 sizes in 1 to 3 node arrays, limits that they share, existing nodes that are
 * partly used, and jobs of two priorities, some of them gangs, some with nodes of their own, some with licences.
 */

export interface ScarceWorld {
  readonly world: World;
  readonly demands: readonly RankedDemand[];
}

interface Size {
  readonly array: number;
  readonly cores: number;
  readonly memory: number;
  readonly gpus: number;
  readonly family: number;
  readonly price: number;
  /** Nodes that its bucket may have. Absent: the bucket has no limit of its own. */
  readonly most?: number;
  readonly groupSize?: number;
}

interface Existing {
  readonly size: number;
  /** The part of it that is free, in quarters. */
  readonly free: number;
}

interface Job {
  readonly cores: number;
  readonly memory: number;
  readonly gpus: number;
  readonly slots: number;
  readonly priority: number;
  readonly kind: "slots" | "exclusive" | "gang" | "colocated";
  readonly licences: readonly number[];
}

const absent = { nil: undefined };

const anySize = fc.record({
  array: fc.nat(2),
  cores: fc.constantFrom(2, 4, 8, 16),
  perCore: fc.constantFrom(1, 2, 4),
  gpus: fc.constantFrom(0, 0, 0, 1),
  family: fc.nat(1),
  price: fc.integer({ min: 2, max: 9 }),
  most: fc.option(fc.integer({ min: 0, max: 4 }), absent),
  groupSize: fc.option(fc.integer({ min: 1, max: 4 }), absent),
});

const anyJob = fc.record({
  cores: fc.integer({ min: 1, max: 6 }),
  memory: fc.constantFrom(0, 0, 2, 8),
  gpus: fc.constantFrom(0, 0, 0, 0, 1),
  slots: fc.integer({ min: 1, max: 8 }),
  priority: fc.nat(1),
  kind: fc.constantFrom("slots", "slots", "slots", "exclusive", "gang", "colocated"),
  licences: fc.constantFrom([], [], [], [], [1], [2, 1]),
});

const anyDrawn = fc.record({
  sizes: fc.array(anySize, { minLength: 2, maxLength: 5 }),
  existing: fc.array(fc.record({ size: fc.nat(4), free: fc.nat(4) }), { maxLength: 4 }),
  jobs: fc.array(anyJob, { minLength: 2, maxLength: 7 }),
  /** What the limits leave, each in the unit of its kind. */
  left: fc.record({
    cluster: fc.option(fc.integer({ min: 0, max: 48 }), absent),
    arrays: fc.array(fc.record({ inCores: fc.boolean(), nodes: fc.nat(4), cores: fc.nat(40) }), {
      minLength: 3,
      maxLength: 3,
    }),
    families: fc.tuple(fc.nat(48), fc.nat(48)),
    regional: fc.integer({ min: 0, max: 64 }),
  }),
  licences: fc.nat(12),
});

type Drawn = typeof anyDrawn extends fc.Arbitrary<infer T> ? T : never;

/** The same worlds each time. */
export function scarceWorlds(seed: number, count: number): readonly ScarceWorld[] {
  return fc.sample(anyDrawn, { seed, numRuns: count }).map(build);
}

function build({ sizes: drawn, existing, jobs, left, licences }: Drawn): ScarceWorld {
  const sizes = drawn.map(({ perCore, most, groupSize, ...size }): Size => ({
    ...size,
    memory: size.cores * perCore,
    ...(most === undefined ? {} : { most }),
    ...(groupSize === undefined ? {} : { groupSize }),
  }));
  const nodes = existing.flatMap((one) => (sizes[one.size] === undefined ? [] : [one]));
  const limits = sharedLimits(left);
  const buckets = sizes.map((size, at): BucketOffer => ({
    bucket: keyOf(sizes, at),
    resources: resourcesOf(size, 4),
    cores: size.cores,
    price: size.price,
    charges: [...chargesTo(limits, size), ...ownLimit(limits, sizes, at)],
    groupSizes: new Map(),
    ...(size.groupSize === undefined ? {} : { maxPlacementGroupSize: size.groupSize }),
  }));
  return {
    world: {
      nodes: nodes.map((one, i) => nodeOf(sizes, one, i)),
      inFlight: [],
      buckets,
      limits,
      arrays: new Map([0, 1, 2].map((array) => [arrayName(`a${array}`), "managed"])),
      pools: [{ name: "lic", total: licences, used: 0 }],
    },
    demands: jobs.map((job, i) => ({ set: setName("s"), demand: demandOf(job, i) })),
  };
}

const keyOf = (sizes: readonly Size[], at: number) => ({
  array: arrayName(`a${sizes[at]?.array ?? 0}`),
  machineType: machineType(`S${at}`),
});

const resourcesOf = ({ cores, memory, gpus }: Size, quarters: number) => ({
  ncpus: Math.floor((cores * quarters) / 4),
  mem: Math.floor((memory * quarters) / 4),
  ngpus: quarters === 4 ? gpus : 0,
});

function nodeOf(sizes: readonly Size[], { size: at, free }: Existing, i: number): SupplyNode {
  const [size] = sizes.slice(at);
  return {
    nodeId: nodeId(`n${i}`),
    bucket: keyOf(sizes, at),
    purpose: { kind: "array" },
    resources: size === undefined ? {} : resourcesOf(size, free),
    cores: size?.cores ?? 0,
    order: i,
    ready: true,
  };
}

/** Shared by all sizes, by those of an array, or by those of a family. Nothing of them is used yet. */
function sharedLimits({ cluster, arrays, families, regional }: Drawn["left"]): SharedLimit[] {
  const limit = (kind: LimitKind, name: string, unit: "nodes" | "cores", max: number): SharedLimit => ({
    id: { kind, name, unit },
    used: 0,
    max,
    left: max,
  });
  return [
    ...families.map((cores, i) => limit("family-quota", `f${i}`, "cores", cores)),
    limit("regional-quota", "westeurope", "cores", regional),
    ...arrays.map(({ inCores, nodes, cores }, i) =>
      inCores ? limit("nodearray", `a${i}`, "cores", cores) : limit("nodearray", `a${i}`, "nodes", nodes),
    ),
    ...(cluster === undefined ? [] : [limit("cluster", "", "cores", cluster)]),
  ];
}

function chargesTo(limits: readonly SharedLimit[], size: Size): BucketOffer["charges"] {
  const isCharged = ({ id: { kind, name } }: SharedLimit): boolean =>
    kind === "family-quota"
      ? name === `f${size.family}`
      : kind === "nodearray"
        ? name === `a${size.array}`
        : kind !== "bucket";
  return limits.flatMap((limit, at) =>
    isCharged(limit) ? [{ limit: at, amount: limit.id.unit === "nodes" ? 1 : size.cores }] : [],
  );
}

/** What CycleCloud offers of a bucket: no more than the other limits allow now (cyclecloud-wire.md A.3). */
function ownLimit(limits: SharedLimit[], sizes: readonly Size[], at: number): BucketOffer["charges"] {
  const [size] = sizes.slice(at);
  if (size?.most === undefined) return [];
  const shared = chargesTo(limits, size).map(({ limit, amount }) =>
    Math.floor((limits[limit]?.left ?? 0) / amount),
  );
  const { array, machineType: type } = keyOf(sizes, at);
  limits.push({
    id: { kind: "bucket", name: `${array}/${type}`, unit: "nodes" },
    used: 0,
    max: size.most,
    left: Math.min(size.most, ...shared),
  });
  return [{ limit: limits.length - 1, amount: 1 }];
}

function demandOf({ cores, memory, gpus, slots, priority, kind, licences }: Job, i: number): JobDemand {
  const isGang = kind === "gang" || kind === "colocated";
  return {
    kind: "job",
    id: `j${i}`,
    name: `j${i}`,
    priority,
    position: i,
    constraints: [
      ...needing({ ncpus: cores }),
      ...(memory > 0 ? needing({ mem: memory }) : []),
      ...(gpus > 0 ? needing({ ngpus: gpus }) : []),
      ...(kind === "exclusive" ? [EXCLUSIVE] : []),
      ...licences.map((amount): Constraint => ({ kind: "pool", pool: "lic", amount })),
    ],
    iterations: isGang ? 1 : slots,
    ...(isGang ? { nodeCount: Math.min(slots, 4) } : {}),
    colocated: kind === "colocated",
    placed: [],
  };
}
