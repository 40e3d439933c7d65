import { describe, expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import { storeLoads } from "../../../src/decide/need/weigh.ts";
import type { Allocation } from "../../../src/domain/allocation.ts";
import type { LastPlan, World } from "../../../src/domain/world.ts";
import type { Constraint } from "../../../src/domain/constraint.ts";
import type { JobDemand, RankedDemand } from "../../../src/domain/demand.ts";
import { arrayName } from "../../../src/domain/ids.ts";
import { inArrays, needing } from "../../support/build-constraints.ts";
import { job, node, now, policy, world } from "../../support/build-world.ts";

/**
 * Each array has one large node and one small one, and a job for each size. The small job comes first, so by rank it takes the large node.
 * There are more such arrays than there are second chances for unmet jobs.
 */
const ARRAYS = 60;
const arrays = Array.from({ length: ARRAYS }, (_, i) => `array${i}`);
const demands: readonly RankedDemand[] = arrays.flatMap((array) => [
  job(`small-${array}`, { priority: 1, constraints: [...needing({ ncpus: 3 }), inArrays(array)] }),
  job(`large-${array}`, { constraints: [...needing({ ncpus: 8 }), inArrays(array)] }),
]);
const common: Partial<World> = {
  buckets: [],
  arrays: new Map(arrays.map((array) => [arrayName(array), "managed"])),
};
const apart = world({
  ...common,
  nodes: arrays.flatMap((array) => [
    node({ id: `${array}-large`, at: `${array}/D8`, cores: 8, order: 0 }),
    node({ id: `${array}-small`, at: `${array}/D4`, order: 1 }),
  ]),
});

const met = ({ outcomes }: Allocation): number =>
  outcomes.filter(({ placed, asked }) => placed === asked).length;
const plan = (given: World, asked = demands): Allocation => allocate(given, asked, policy, now);

/** The best plan: each array planned separately. `seen`: the nodes existed, and were not only requested. */
function lastPlan(seen: boolean): LastPlan {
  const outcomes = arrays.flatMap((array) =>
    plan({ ...apart, nodes: apart.nodes.filter(({ bucket }) => bucket.array === array) }, ofArray(array)),
  );
  const loads = outcomes.flatMap((one) => one.loads);
  const unseen = loads.map(({ bucket, count, jobs }) => ({
    origin: "planned" as const,
    bucket,
    count,
    jobs,
  }));
  return {
    demands: outcomes.flatMap((one) => one.outcomes),
    nodes: new Set(seen ? apart.nodes.map(({ nodeId: id }) => id) : []),
    loads: storeLoads({ loads: seen ? loads : unseen, outcomes: outcomes.flatMap((one) => one.outcomes) }),
  };
}

const ofArray = (array: string): readonly RankedDemand[] =>
  demands.filter(({ demand }) => demand.id.endsWith(`-${array}`));

describe("jobs stay where the last plan had them, where rank alone would leave some short", () => {
  test("nothing is known of a last plan: some are short", () => {
    expect(met(plan(apart))).toBeLessThan(2 * ARRAYS);
  });

  test.each([
    { name: "on nodes that it had seen", last: lastPlan(true) },
    { name: "on nodes that it asked for, which are known by their bucket", last: lastPlan(false) },
  ])("$name", ({ last }) => {
    expect(met(plan({ ...apart, last: () => last }))).toBe(2 * ARRAYS);
  });

  test("on nodes that are in flight", () => {
    const inFlight = apart.nodes.map(({ bucket, purpose, resources, cores }) => ({
      bucket,
      purpose,
      resources,
      cores,
      count: 1,
    }));
    expect(met(plan({ ...apart, nodes: [], inFlight, last: () => lastPlan(false) }))).toBe(2 * ARRAYS);
  });

  test("whose node has gone is placed anew; the others stay", () => {
    const nodes = apart.nodes.filter(({ nodeId: id }) => id !== "array7-large");
    const { outcomes } = plan({ ...apart, nodes, last: () => lastPlan(true) });
    expect(outcomes.filter(({ placed }) => placed === 0).map(({ id }) => id)).toEqual(["large-array7"]);
  });

  test("a plan that knows other jobs is of no use", () => {
    const { outcomes } = plan({
      ...apart,
      last: () => ({
        ...lastPlan(true),
        demands: lastPlan(true).demands.map((one) => ({ ...one, id: `old-${one.id}` })),
      }),
    });
    expect(outcomes.some(({ placed }) => placed === 0)).toBe(true);
  });
});

describe("a gang stays as a whole or not at all", () => {
  const nodes = [0, 1, 2].map((order) => node({ id: `n${order}`, order }));
  const gang = (more: Partial<JobDemand>): RankedDemand =>
    job("gang", { nodeCount: 2, constraints: needing({ ncpus: 4 }), ...more });
  const first = plan(world({ nodes, buckets: [] }), [gang({})]);
  const last = {
    demands: first.outcomes,
    nodes: new Set(nodes.map(({ nodeId: id }) => id)),
    loads: storeLoads(first),
  };

  test.each([
    { name: "one of its nodes has gone, another is there", left: ["n1", "n2"], placed: 2 },
    { name: "only one is left", left: ["n1"], placed: 0 },
  ])("$name", ({ left, placed }) => {
    const there = nodes.filter(({ nodeId: id }) => left.includes(id));
    // One job stays unmet, so that the last plan is read.
    const asked = [gang({}), job("too-much", { constraints: needing({ ncpus: 99 }) })];
    const { outcomes } = plan(world({ nodes: there, buckets: [], last: () => last }), asked);
    expect(outcomes.find(({ id }) => id === "gang")?.placed).toBe(placed);
  });

  test.each<{ readonly name: string; readonly more: Partial<World> }>([
    {
      name: "a pool has become too small for all of it",
      more: { pools: [{ name: "lic", total: 1, used: 0 }] },
    },
    {
      name: "a cap has become too small for all of it",
      more: {
        pools: [{ name: "lic", total: 9, used: 0 }],
        caps: [{ kind: "request-set" as const, name: "standard", unit: "nodes" as const, max: 1 }],
      },
    },
  ])("$name", ({ more }) => {
    const pool = { kind: "pool", pool: "lic", amount: 1 } as const;
    const asked = [gang({ constraints: [...needing({ ncpus: 4 }), pool] })];
    const there = world({ nodes, buckets: [], pools: [{ name: "lic", total: 9, used: 0 }] });
    const before = plan(there, asked);
    expect(before.outcomes[0]?.placed).toBe(2);
    const known = { demands: before.outcomes, nodes: last.nodes, loads: storeLoads(before) };
    const filler = job("too-much", { constraints: needing({ ncpus: 99 }) });
    const { outcomes } = plan({ ...there, ...more, last: () => known }, [...asked, filler]);
    expect(outcomes.find(({ id }) => id === "gang")?.placed).toBe(0);
  });
});

test("of some nodes as many as can be had: what runs on one of them now is not put there once more", () => {
  const nodes = ["n0", "n1", "n2"].map((id, order) => node({ id, order, host: id }));
  const some = (more: Partial<JobDemand>): RankedDemand =>
    job("some", { nodeCount: 2, partial: true, constraints: needing({ ncpus: 1 }), ...more });
  const first = plan(world({ nodes, buckets: [] }), [some({})]);
  const last = {
    demands: first.outcomes,
    nodes: new Set(nodes.map(({ nodeId: id }) => id)),
    loads: storeLoads(first),
  };
  expect([...first.needed.keys()]).toEqual(["n0", "n1"]);
  const asked = [
    some({ placed: [{ hostname: "n1", iterations: 1 }] }),
    job("too-much", { constraints: needing({ ncpus: 99 }) }),
  ];
  const { loads, outcomes } = plan(world({ nodes, buckets: [], last: () => last }), asked);
  expect(outcomes.find(({ id }) => id === "some")?.placed).toBe(2);
  expect(loads.map(({ nodeId: id, jobs }) => ({ id, slots: jobs.map(({ slots }) => slots) }))).toEqual([
    { id: "n0", slots: [1] },
    { id: "n1", slots: [1] },
  ]);
});

describe("what a job with alternatives takes depends on what others have left", () => {
  const either: Constraint = {
    kind: "or",
    of: [
      { kind: "amount", resource: "ncpus", amount: 2 },
      { kind: "pool", pool: "licence", amount: 1 },
    ],
  };
  /** `first`: the job that is served first in each array. */
  const asked = (first: "either" | "plain"): readonly RankedDemand[] =>
    arrays.flatMap((array) => {
      const here = [...needing({ ncpus: 1 }), inArrays(array)];
      return [
        job(`either-${array}`, { priority: first === "either" ? 1 : 0, constraints: [...here, either] }),
        job(`plain-${array}`, { priority: first === "plain" ? 1 : 0, iterations: 6, constraints: here }),
      ];
    });
  const large = arrays.map((array) => node({ id: array, at: `${array}/D8`, cores: 8 }));
  const there = world({ ...common, nodes: large, pools: [{ name: "licence", total: ARRAYS, used: 0 }] });
  const before = plan(there, asked("plain"));
  const last = {
    demands: before.outcomes,
    nodes: new Set(large.map(({ nodeId: id }) => id)),
    loads: storeLoads(before),
  };

  test("served first it takes cores, and some are short; where they were, all have what they had", () => {
    expect(met(before)).toBe(2 * ARRAYS);
    expect(met(plan(there, asked("either")))).toBeLessThan(2 * ARRAYS);
    expect(met(plan({ ...there, last: () => last }, asked("either")))).toBe(2 * ARRAYS);
  });
});
