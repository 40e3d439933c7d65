import fc from "fast-check";
import type { SmallLimit, SmallNode, SmallSize, SmallWorld } from "./small-world.ts";

/*
 * Small clusters in which almost everything is scarce: 2 to 5 sizes in 1 to 3 node arrays, limits that they share, existing nodes that are
 * partly used, and jobs of two priorities, some of them gangs, some with nodes of their own. They have what the solver of the tests does not
 * know: licences, placement groups, and buckets of which CycleCloud offers what the other limits leave.
 */

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
export function scarceWorlds(seed: number, count: number): readonly SmallWorld[] {
  return fc.sample(anyDrawn, { seed, numRuns: count }).map(worldOf);
}

function worldOf({ sizes: drawn, existing, jobs, left, licences }: Drawn): SmallWorld {
  const sizes = drawn.map(({ array, cores, perCore, gpus, price, groupSize }): SmallSize => ({
    has: [cores, cores * perCore, gpus],
    price,
    array,
    ...(groupSize === undefined ? {} : { groupSize }),
  }));
  return {
    sizes,
    limits: limitsOf(drawn, left),
    nodes: existing
      .flatMap(({ size, free }) => nodesOf(sizes, size, free))
      .map((one, order) => ({ ...one, order })),
    jobs: jobs
      .map(({ cores, memory, gpus, slots, priority, kind, licences: own }) => ({
        takes: [cores, memory, gpus] as const,
        ...(kind === "gang" || kind === "colocated"
          ? { units: Math.min(slots, 4), slotsPerNode: 1 }
          : { units: slots }),
        exclusive: kind === "exclusive",
        priority,
        licences: own,
        ...(kind === "colocated" ? { colocated: true as const } : {}),
      }))
      .toSorted((a, b) => b.priority - a.priority),
    licences,
  };
}

/** Shared by all sizes, by those of an array, or by those of a family, and of single buckets. */
function limitsOf(
  sizes: Drawn["sizes"],
  { cluster, arrays, families, regional }: Drawn["left"],
): SmallLimit[] {
  const all = sizes.map((_, i) => i);
  const where = (isMember: (size: Drawn["sizes"][number]) => boolean): readonly number[] =>
    sizes.flatMap((size, i) => (isMember(size) ? [i] : []));
  return [
    ...families.map((cores, f): SmallLimit => ({
      kind: "family-quota",
      unit: "cores",
      left: cores,
      sizes: where(({ family }) => family === f),
    })),
    { kind: "regional-quota", unit: "cores", left: regional, sizes: all },
    ...arrays.map(({ inCores, nodes, cores }, a): SmallLimit => ({
      kind: "nodearray",
      ...(inCores ? { unit: "cores", left: cores } : { unit: "nodes", left: nodes }),
      sizes: where(({ array }) => array === a),
    })),
    ...(cluster === undefined
      ? []
      : [{ kind: "cluster", unit: "cores", left: cluster, sizes: all } satisfies SmallLimit]),
    ...sizes.flatMap(({ most }, i): SmallLimit[] =>
      most === undefined ? [] : [{ kind: "bucket", unit: "nodes", left: most, sizes: [i], isOffered: true }],
    ),
  ];
}

/** None if there is no such size. `free`: the part of it that is free, in quarters. */
function nodesOf(sizes: readonly SmallSize[], size: number, free: number): SmallNode[] {
  const { has } = sizes[size] ?? {};
  if (has === undefined) return [];
  const [cores, memory, gpus] = has;
  const isFree = free === 4;
  const used = [
    cores - Math.floor((cores * free) / 4),
    memory - Math.floor((memory * free) / 4),
    isFree ? 0 : gpus,
  ] as const;
  return [{ size, used, isTaskKnown: false }];
}
