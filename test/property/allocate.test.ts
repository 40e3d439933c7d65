import fc from "fast-check";
import { expect, test } from "vitest";
import { allocate } from "../../src/decide/allocate.ts";
import type {
  Allocation,
  BucketOffer,
  InFlightSupply,
  SupplyNode,
  World,
} from "../../src/domain/allocation.ts";
import type { RankedDemand } from "../../src/domain/demand.ts";
import { canonicalText } from "../../src/domain/canonical.ts";
import { nodeId } from "../../src/domain/ids.ts";
import { instant } from "../../src/domain/units.ts";
import { findFaults } from "./naive-checker.ts";
import { anyCase, plainDemands } from "./random-world.ts";

const now = instant(1_763_636_400_000);
const policy = { groupPrefix: "pg-", preference: "existing-first", among: "priority" } as const;
/** A seed of its own for every deep run; `npm test` must not depend on luck. A failing seed is printed, and replays. */
const runs = process.env["DEEP"] === undefined ? { numRuns: 300, seed: 20_251_120 } : { numRuns: 10_000 };

/** Ten thousand worlds take seconds. */
const TIMEOUT = 120_000;

/** The answer as text, without regard to the order in which existing nodes are listed. */
function textOf(answer: Allocation): string {
  return canonicalText([
    answer.creates,
    [...answer.needed].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    answer.outcomes,
  ]);
}

/** The world once CycleCloud shows everything that was asked for: what was in flight before, and after that the plan's own. */
function apply(world: World, answer: Allocation): World {
  const left = world.limits.map((limit) => limit.left);
  const sizes = world.buckets.map((offer) => new Map(offer.groupSizes));
  const made: SupplyNode[] = [];
  const show = ({ bucket, purpose, resources, cores, count }: InFlightSupply, order: number): void => {
    for (let i = 0; i < count; i += 1) {
      const id = nodeId(`made-${String(made.length).padStart(3, "0")}`);
      made.push({ nodeId: id, bucket, purpose, resources, cores, order, ready: false });
    }
  };
  for (const entry of world.inFlight) show(entry, 15);
  for (const create of answer.creates) {
    const index = world.buckets.findIndex(
      ({ bucket }) =>
        bucket.array === create.bucket.array && bucket.machineType === create.bucket.machineType,
    );
    const offer: BucketOffer | undefined = world.buckets[index];
    const group = create.bucket.placementGroup;
    if (offer === undefined) continue;
    for (const { limit, amount } of offer.charges) left[limit] = (left[limit] ?? 0) - amount * create.count;
    if (group !== undefined) sizes[index]?.set(group, (sizes[index]?.get(group) ?? 0) + create.count);
    show({ ...create, resources: offer.resources, cores: offer.cores }, 20);
  }
  return {
    ...world,
    nodes: [...world.nodes, ...made],
    inFlight: [],
    limits: world.limits.map((limit, i) => ({
      ...limit,
      left: left[i] ?? 0,
      used: limit.max - (left[i] ?? 0),
    })),
    buckets: world.buckets.map((offer, i) => ({ ...offer, groupSizes: sizes[i] ?? offer.groupSizes })),
  };
}

test(
  "P2, P3, P4: the naive checker finds no fault",
  () => {
    fc.assert(
      fc.property(anyCase(), ({ world, demands }) => {
        expect(findFaults(world, demands, allocate(world, demands, policy, now))).toEqual([]);
      }),
      runs,
    );
  },
  TIMEOUT,
);

test(
  "P5: everything but rank shuffled, the same plan",
  () => {
    const shuffled = anyCase().chain(({ world, demands }) =>
      fc.record({
        world: fc.constant(world),
        demands: fc.constant(demands),
        nodes: fc.shuffledSubarray([...world.nodes], { minLength: world.nodes.length }),
        inFlight: fc.shuffledSubarray([...world.inFlight], { minLength: world.inFlight.length }),
        order: fc.shuffledSubarray([...demands], { minLength: demands.length }),
        limits: fc.shuffledSubarray([...world.limits.keys()], { minLength: world.limits.length }),
      }),
    );
    fc.assert(
      fc.property(shuffled, ({ world, demands, nodes, inFlight, order, limits }) => {
        const other: World = {
          ...world,
          nodes,
          inFlight,
          limits: limits.flatMap((index) => world.limits[index] ?? []),
          buckets: world.buckets.map((offer) => ({
            ...offer,
            charges: offer.charges.map(({ limit, amount }) => ({ limit: limits.indexOf(limit), amount })),
          })),
          arrays: new Map([...world.arrays].toReversed()),
        };
        expect(textOf(allocate(other, order, policy, now))).toBe(
          textOf(allocate(world, demands, policy, now)),
        );
      }),
      runs,
    );
  },
  TIMEOUT,
);

/** What the first plan had to leave unmet may find a place among the nodes that it made. */
function servesTheUnmet(first: Allocation, second: Allocation): boolean {
  return first.outcomes.some(
    ({ placed, asked }, i) => placed < asked && (second.outcomes[i]?.placed ?? 0) > placed,
  );
}

/**
 * Without colocated jobs that run in part: the rest of one can go to its own group only, and a job of higher rank may take the very node
 * that was made for it. Schedulers start such jobs whole.
 */
function startedWhole({ demand, set }: RankedDemand): RankedDemand {
  return demand.kind === "job" && demand.colocated
    ? { set, demand: { ...demand, placed: [] } }
    : { set, demand };
}

test(
  "P6: what was asked for is there, and nothing new is asked for",
  () => {
    fc.assert(
      fc.property(anyCase(), (drawn) => {
        const { world } = drawn;
        const demands = drawn.demands.map(startedWhole);
        const first = allocate(world, demands, policy, now);
        const second = allocate(apply(world, first), demands, policy, now);
        expect(servesTheUnmet(first, second) ? [] : second.creates).toEqual([]);
      }),
      runs,
    );
  },
  TIMEOUT,
);

test(
  "P6: what was asked for is in flight, and nothing new is asked for",
  () => {
    fc.assert(
      fc.property(anyCase(plainDemands), (drawn) => {
        const { demands } = drawn;
        const world: World = { ...drawn.world, inFlight: [] };
        const first = allocate(world, demands, policy, now);
        const applied = apply(world, first);
        const flying = first.creates.map(({ bucket, purpose, count }) => {
          const offer = world.buckets.find(
            (one) => one.bucket.array === bucket.array && one.bucket.machineType === bucket.machineType,
          );
          return { bucket, purpose, count, resources: offer?.resources ?? {}, cores: offer?.cores ?? 0 };
        });
        const second = allocate({ ...applied, nodes: world.nodes, inFlight: flying }, demands, policy, now);
        expect(second.creates).toEqual([]);
      }),
      runs,
    );
  },
  TIMEOUT,
);
