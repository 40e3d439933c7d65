import { expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import type { AllocationPolicy } from "../../../src/domain/allocation.ts";
import { bucketText } from "../../../src/domain/bucket.ts";
import type { Amounts, SmallJob, SmallWorld } from "../../property/small-world.ts";
import { buildSmall } from "../../property/small-world.ts";
import { now, policy } from "../../support/build-world.ts";

const job = (units: number, takes: Amounts, more: Partial<SmallJob> = {}): SmallJob => ({
  takes,
  units,
  exclusive: false,
  priority: 0,
  ...more,
});

const size = (has: Amounts, price: number, array = 0) => ({ has, price, array });
const idle = (at: number) => ({ size: at, used: [0, 0, 0] as const });
const limit = (unit: "nodes" | "cores", left: number, ...sizes: readonly number[]) =>
  ({ kind: "nodearray", unit, left, sizes }) as const;

interface Golden {
  readonly name: string;
  readonly small: SmallWorld;
  readonly among: readonly AllocationPolicy["among"][];
  /** What is created. Absent: there is more than one best way. */
  readonly creates?: readonly string[];
  /** Slots of each job. */
  readonly placed: readonly number[];
}

const BOTH = ["priority", "cheapest"] as const;

const GOLDENS: readonly Golden[] = [
  {
    name: "A: 400 slots, and an array of 200 nodes: half of its smallest size hold them, none would be left of the limit for more",
    small: {
      sizes: [size([2, 4, 0], 0.1), size([4, 8, 0], 0.2), size([8, 16, 0], 0.4)],
      limits: [limit("nodes", 200, 0, 1, 2)],
      nodes: [],
      jobs: [job(400, [2, 0, 0])],
    },
    among: BOTH,
    placed: [400],
  },
  {
    name: "B: one node, and the second size holds all three slots",
    small: {
      sizes: [size([8, 16, 0], 0.4), size([16, 32, 0], 0.8)],
      limits: [limit("nodes", 1, 0, 1)],
      nodes: [],
      jobs: [job(3, [4, 0, 0])],
    },
    among: BOTH,
    creates: ["1 x a0/S1"],
    placed: [3],
  },
  {
    name: "C: two nodes of 16 cores use up 34 cores, three of 8 do not",
    small: {
      sizes: [size([16, 32, 0], 0.5), size([8, 16, 0], 0.4)],
      limits: [limit("cores", 34, 0, 1)],
      nodes: [],
      jobs: [job(3, [2, 0, 0], { exclusive: true })],
    },
    among: BOTH,
    placed: [3],
  },
  {
    name: "D: the first job leaves the memory of the larger node to the second one",
    small: {
      sizes: [size([8, 32, 0], 0.4), size([4, 0, 0], 0.2)],
      limits: [limit("nodes", 10, 0, 1)],
      nodes: [idle(1), idle(0)],
      jobs: [job(3, [1, 0, 0]), job(6, [1, 1, 0])],
    },
    among: BOTH,
    creates: [],
    placed: [3, 6],
  },
  {
    name: "E: 4 slots on one node and 1 each on two others leave room for the last one",
    small: {
      sizes: [size([16, 32, 0], 0.8), size([10, 16, 0], 0.63), size([5, 8, 0], 0.3)],
      limits: [limit("nodes", 10, 0, 1, 2)],
      nodes: [idle(0), idle(1), idle(2)],
      jobs: [job(6, [4, 0, 0]), job(1, [6, 0, 0])],
    },
    among: BOTH,
    creates: [],
    placed: [6, 1],
  },
  {
    name: "F: jobs that share existing nodes evenly need one new node, not two",
    small: {
      sizes: [size([16, 16, 0], 0.8), size([4, 8, 0], 0.2475)],
      limits: [limit("nodes", 10, 0, 1)],
      nodes: [idle(0), idle(0)],
      jobs: [job(3, [2, 8, 0]), job(4, [4, 4, 0])],
    },
    among: ["cheapest"],
    creates: ["1 x a0/S1"],
    placed: [3, 4],
  },
  {
    name: "G: one large node is cheaper than the cheapest small one and a second array",
    small: {
      sizes: [size([8, 56, 1], 1.3945), size([16, 32, 0], 0.862, 1), size([8, 16, 0], 0.3457, 1)],
      limits: [limit("nodes", 5, 0), limit("nodes", 1, 1, 2)],
      nodes: [],
      jobs: [job(3, [4, 0, 0])],
    },
    among: ["cheapest"],
    creates: ["1 x a1/S1"],
    placed: [3],
  },
  {
    name: "H: what two jobs leave together is one larger node",
    small: {
      sizes: [size([8, 16, 0], 0.908), size([4, 8, 0], 0.648), size([7, 16, 0], 1)],
      limits: [limit("nodes", 10, 0, 1), limit("nodes", 0, 2)],
      nodes: [idle(2)],
      jobs: [job(5, [2, 0, 0]), job(1, [2, 0, 0])],
    },
    among: ["cheapest"],
    creates: ["1 x a0/S0"],
    placed: [5, 1],
  },
];

function planned(small: SmallWorld, more: Partial<AllocationPolicy>) {
  const { world, demands } = buildSmall(small);
  const answer = allocate(world, demands, { ...policy, ...more }, now);
  return {
    creates: answer.creates.map(({ bucket, count }) => `${count} x ${bucketText(bucket)}`),
    placed: small.jobs.map((_, i) => answer.outcomes.find(({ id }) => id === `j${i}`)?.placed),
  };
}

test.each(GOLDENS.flatMap((golden) => golden.among.map((among) => ({ ...golden, among }))))(
  "$name ($among)",
  ({ small, among, creates, placed }) => {
    expect(planned(small, { among })).toEqual({ creates: creates ?? expect.any(Array), placed });
  },
);

test.each(GOLDENS)(
  "without mixes it is another plan: $name",
  ({ small, among: [among], creates, placed }) => {
    expect(planned(small, { ...(among === undefined ? {} : { among }), mixes: "off" })).not.toEqual({
      creates: creates ?? expect.any(Array),
      placed,
    });
  },
);
