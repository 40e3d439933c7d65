/**
 * P2 to P6 and P9 of architecture.md, Properties, on random worlds. How to replay a failure stands in runs.ts.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { allocate } from "../../src/decide/search/allocate.ts";
import type { Allocation, AllocationPolicy } from "../../src/domain/allocation.ts";
import type { BucketOffer } from "../../src/domain/world.ts";
import { canonicalText } from "../../src/domain/digest.ts";
import type { RankedDemand } from "../../src/domain/demand.ts";
import { apply, STAGES } from "./apply-plan.ts";
import { findFaults } from "./naive-checker.ts";
import type { Case } from "./random-world.ts";
import { anyCase } from "./random-world.ts";
import { NOW } from "./small-shapes.ts";
import { runsOf, TIMEOUT } from "./runs.ts";
import { servesTheUnmet } from "./serves-the-unmet.ts";
import { SUPPORTED, SUPPORTED_FIXPOINT, SUPPORTED_IN_BUCKET_ORDER } from "./supported.ts";

const POLICY: AllocationPolicy = {
  groupPrefix: "pg-",
  groupFillSeconds: 600,
  preference: "existing-first",
  among: "priority",
};
/** Every way of choosing. */
const POLICIES: readonly AllocationPolicy[] = (["existing-first", "bucket-order"] as const).flatMap(
  (preference) => (["priority", "cheapest"] as const).map((among) => ({ ...POLICY, preference, among })),
);
const named = POLICIES.map((policy) => ({ policy, name: `${policy.preference}, ${policy.among}` }));
/** A plan that nothing but rank decides, and that finds itself again, is what `existing-first` promises. */
const few = named.filter(({ policy }) => policy.preference === "existing-first");
const featuresOf = ({ preference }: AllocationPolicy) =>
  preference === "bucket-order" ? SUPPORTED_IN_BUCKET_ORDER : SUPPORTED;

const plan = ({ world, demands }: Case, policy = POLICY): Allocation => allocate(world, demands, policy, NOW);

/** The answer as text, without regard to the order in which existing nodes are listed. */
function textOf(answer: Allocation): string {
  const { creates, starts, loads, needed, outcomes, groups } = answer;
  const sorted = loads.map((load) => canonicalText(load)).toSorted();
  return canonicalText([
    creates,
    starts,
    sorted,
    [...needed].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    outcomes,
    groups,
  ]);
}

describe.each(named)("P2, P3, P4: $name", ({ policy }) => {
  test(
    "the naive checker finds no fault",
    () => {
      fc.assert(
        fc.property(anyCase(featuresOf(policy)), (drawn) => {
          const { world, demands } = drawn;
          expect(findFaults(world, demands, plan(drawn, policy), NOW)).toEqual([]);
        }),
        runsOf(20_251_120),
      );
    },
    TIMEOUT,
  );
});

const shuffled = <T>(items: readonly T[]): fc.Arbitrary<T[]> =>
  fc.shuffledSubarray([...items], { minLength: items.length });

/** The same world, told in another order. What is in flight is in the order in which it was asked for: that is meaning. */
function anyRetelling({ world, demands }: Case): fc.Arbitrary<Case> {
  return fc
    .record({
      nodes: shuffled(world.nodes),
      demands: shuffled(demands),
      limits: shuffled([...world.limits.keys()]),
      pools: shuffled(world.pools ?? []),
      caps: shuffled(world.caps ?? []),
      placed: fc.boolean(),
    })
    .map(({ nodes, demands: others, limits, pools, caps, placed }) => ({
      world: {
        ...world,
        nodes,
        limits: limits.flatMap((index) => world.limits[index] ?? []),
        buckets: world.buckets.map((offer) => retellOffer(offer, limits)),
        arrays: new Map([...world.arrays].toReversed()),
        pools,
        ...(world.caps === undefined ? {} : { caps }),
      },
      demands: placed ? others.map(retellPlaced) : others,
    }));
}

function retellOffer(offer: BucketOffer, limits: readonly number[]): BucketOffer {
  return {
    ...offer,
    charges: offer.charges.map(({ limit, amount }) => ({ limit: limits.indexOf(limit), amount })),
    groupSizes: new Map([...offer.groupSizes].toReversed()),
    ...(offer.groupRefusals === undefined
      ? {}
      : { groupRefusals: new Map([...offer.groupRefusals].toReversed()) }),
  };
}

function retellPlaced({ set, demand }: RankedDemand): RankedDemand {
  return demand.kind === "job"
    ? { set, demand: { ...demand, placed: demand.placed.toReversed() } }
    : { set, demand };
}

test.each(few)(
  "P5: $name: everything but rank shuffled, the same plan",
  ({ policy }) => {
    const told = anyCase(SUPPORTED).chain((drawn) => fc.tuple(fc.constant(drawn), anyRetelling(drawn)));
    fc.assert(
      fc.property(told, ([drawn, other]) => {
        expect(textOf(plan(other, policy))).toBe(textOf(plan(drawn, policy)));
      }),
      runsOf(20_251_121),
    );
  },
  TIMEOUT,
);

const placedOf = ({ outcomes }: Allocation): readonly number[] => outcomes.map(({ placed }) => placed);

/** What an allocation asks CycleCloud for, and how much it promises. */
function changesOf(first: Allocation, second: Allocation) {
  if (servesTheUnmet(first.outcomes, second.outcomes))
    return { creates: [], starts: [], placed: placedOf(first) };
  const { creates, starts } = second;
  return { creates, starts, placed: placedOf(second) };
}

test.each(few)(
  "P6: $name: all is in flight, visible or ready, and there is nothing to do",
  ({ policy }) => {
    fc.assert(
      fc.property(anyCase(SUPPORTED_FIXPOINT), (drawn) => {
        const first = plan(drawn, policy);
        const nothing = { creates: [], starts: [], placed: placedOf(first) };
        for (const stage of STAGES) {
          const next = { ...drawn, world: apply(drawn.world, first, stage) };
          const second = plan(next, policy);
          expect(changesOf(first, second), stage).toEqual(nothing);
          expect(findFaults(next.world, next.demands, second, NOW), stage).toEqual([]);
        }
      }),
      // Each world is planned four times.
      runsOf(20_251_122, { usual: 15 }),
    );
  },
  TIMEOUT,
);

/** All that a plan does, without why. */
function workOf({ creates, starts, needed, loads, groups, outcomes }: Allocation) {
  const done = outcomes.map(({ set, id, placed, pending }) => ({ set, id, placed, pending }));
  return { creates, starts, needed: [...needed], loads, groups, outcomes: done };
}

test.each(few)(
  "$name: a plan that is only tried out is the same, without reasons",
  ({ policy }) => {
    fc.assert(
      fc.property(anyCase(SUPPORTED), (drawn) => {
        const trial = plan(drawn, { ...policy, isTrial: true });
        expect(workOf(trial)).toEqual(workOf(plan(drawn, policy)));
        expect(trial.outcomes.flatMap(({ binding }) => binding ?? [])).toEqual([]);
      }),
      runsOf(20_251_124),
    );
  },
  TIMEOUT,
);

/** A world as JSON can say it: maps as lists, and what constraints may ask of nodes worked out. */
function writeCase({ world, demands }: Case): string {
  return JSON.stringify({ world, demands }, (_, value: unknown) => {
    if (value instanceof Map) return { map: [...value] };
    return typeof value === "function" ? { made: value() } : value;
  });
}

function readCase(text: string): Case {
  return JSON.parse(text, (_, value: unknown) => {
    if (typeof value !== "object" || value === null) return value;
    if ("map" in value && Array.isArray(value.map)) return new Map(value.map);
    if ("made" in value) {
      const { made } = value;
      return () => made;
    }
    return value;
  });
}

test.each(
  named.filter(({ policy }) => (policy.preference === "bucket-order") === (policy.among === "cheapest")),
)(
  "P9: $name: a plan replays byte for byte from inputs that went through JSON",
  ({ policy }) => {
    fc.assert(
      fc.property(anyCase(SUPPORTED), (drawn) => {
        // Not what planning cost: nodes that share an object of resources are looked at once.
        const text = (answer: Allocation): string =>
          JSON.stringify({ ...answer, needed: [...answer.needed], loads: answer.loads, steps: 0 });
        expect(text(plan(readCase(writeCase(drawn)), policy))).toBe(text(plan(drawn, policy)));
      }),
      runsOf(20_251_123),
    );
  },
  TIMEOUT,
);

test("what is drawn is not trivial: worlds are served whole and in part, and much is created, also in groups", () => {
  const seen = { whole: 0, created: 0, wholeAndCreated: 0, grouped: 0, nothing: 0 };
  for (const drawn of fc.sample(anyCase(), { numRuns: 100, seed: 1 })) {
    const answer = plan(drawn);
    const isWhole = answer.outcomes.every(({ placed, asked }) => placed === asked);
    const isCreated = answer.creates.length > 0;
    if (isWhole) seen.whole += 1;
    if (isCreated) seen.created += 1;
    if (isWhole && isCreated) seen.wholeAndCreated += 1;
    if (answer.creates.some(({ bucket }) => bucket.placementGroup !== undefined)) seen.grouped += 1;
    if (answer.outcomes.every(({ placed }) => placed === 0)) seen.nothing += 1;
  }
  expect(seen.whole).toBeGreaterThan(15);
  expect(seen.created).toBeGreaterThan(35);
  expect(seen.wholeAndCreated).toBeGreaterThan(8);
  expect(seen.grouped).toBeGreaterThan(20);
  expect(seen.nothing).toBeLessThan(20);
});
