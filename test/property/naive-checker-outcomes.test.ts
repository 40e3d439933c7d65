import { test } from "vitest";
import type { World, BucketOffer } from "../../src/domain/world.ts";
import type { RankedDemand } from "../../src/domain/demand.ts";
import { nodeId } from "../../src/domain/ids.ts";
import type { Reason } from "../../src/domain/reason.ts";
import { plusSeconds } from "../../src/domain/units.ts";
import { inArrays, needing } from "../support/build-constraints.ts";
import { NOW } from "./small-shapes.ts";
import type { Outcome, Planted } from "./planted-faults.ts";
import {
  ANSWER,
  DEMANDS,
  FOR_GANG,
  FOR_GROUP,
  GANG,
  GROUP,
  LICENSED,
  N2,
  OTHER,
  PACKED,
  REASON,
  SHORT,
  WORLD,
  at,
  check,
  gangs,
  job,
  loads,
  nodeOf,
  on,
  outcome,
  outcomes,
  part,
} from "./planted-faults.ts";

const FULL: Reason = {
  code: "limit-reached",
  limit: { kind: "cluster", name: "", unit: "nodes" },
  used: 1,
  max: 1,
  left: 0,
  asked: 1,
};

const CAPPED: World = { ...WORLD, caps: [{ kind: "user", name: "ann", unit: "nodes", max: 0 }] };
const offers = (change: Partial<BucketOffer>): World => ({
  ...WORLD,
  buckets: WORLD.buckets.map((offer) => ({ ...offer, ...change })),
});

const instead = (old: RankedDemand, other: RankedDemand): readonly RankedDemand[] =>
  DEMANDS.map((one) => (one === old ? other : one));

const PAUSE: Reason = {
  code: "backing-off",
  bucket: at("A4"),
  until: plusSeconds(NOW, 60),
  message: "",
};

const needs = (id: string, ncpus: number): RankedDemand => job(id, needing({ ncpus }), 1);
const EMPTY: Outcome["binding"] = { kind: "raise", raises: [] };

test.each<Planted>([
  {
    name: "no reason",
    answer: outcomes("short", { reasons: [] }),
    expected: "s/short: 0 placed of 1 with 0 reasons",
  },
  {
    name: "a reason for nothing",
    answer: outcomes("alone", { reasons: [REASON] }),
    expected: "s/alone: 1 placed of 1 with 1 reasons",
  },
  {
    name: "another demand's number",
    answer: outcomes("gang", { asked: 2 }),
    expected: "s/gang asked 4, not 2",
  },
  {
    name: "more than was asked",
    answer: outcomes("alone", { placed: 2 }),
    expected: "s/alone: 2 placed of 1",
  },
  {
    name: "no outcome",
    answer: { ...ANSWER, outcomes: ANSWER.outcomes.slice(1) },
    expected: "s/packed has no outcome",
  },
  {
    name: "pending that is up",
    answer: outcomes("packed", { pending: 1 }),
    expected: "s/packed: 1 pending, 0 on nodes that are not up",
  },
  {
    name: "new nodes in a bucket that backs off",
    world: offers({ refusal: PAUSE }),
    expected: "created in alpha/a4/pg-alpha-A4-1, which is refused",
  },
  {
    name: "a start in a bucket that backs off",
    world: offers({ refusal: PAUSE }),
    expected: "started in alpha/a4/, which is refused",
  },
  {
    name: "new nodes in a group that backs off",
    world: offers({ groupRefusals: new Map([[GANG, PAUSE]]) }),
    expected: "created in alpha/a4/pg-alpha-A4-1, a group that is paused",
  },
  {
    name: "a fresh group while another backs off",
    world: offers({ groupRefusals: new Map([[OTHER, PAUSE]]) }),
    expected: "created in alpha/a4/pg-alpha-A4-1, which evades a pause",
  },
  {
    name: "new nodes in a cluster that is off",
    world: { ...WORLD, closed: REASON },
    expected: "created in alpha/a4/pg-alpha-A4-1, and the cluster is closed",
  },
  {
    name: "a group outside the array's own",
    world: offers({ pinnedGroup: OTHER }),
    expected: "created in alpha/a4/pg-alpha-A4-1, and all nodes go to pg-other-1",
  },
  {
    name: "a group of a size that has none",
    world: { ...WORLD, buckets: WORLD.buckets.map(({ maxPlacementGroupSize: _size, ...offer }) => offer) },
    expected: "created in alpha/a4/pg-alpha-A4-1, and that size has no groups",
  },
  {
    name: "a placement group too large",
    world: offers({ maxPlacementGroupSize: 1 }),
    expected: "alpha/a4/pg-alpha-A4-1 has 2 nodes of at most 1",
  },
  {
    name: "a fresh name used twice",
    answer: gangs([1, 2, at("A4", GROUP)], [1, 2, at("A4", GANG)]),
    expected: "pg-alpha-2n-1 is the name of alpha/a4, alpha/b8",
  },
  {
    name: "spot for a job that refuses it",
    world: offers({ spot: true }),
    expected: "s/packed is on n1, which does not meet its constraints",
  },
  {
    name: "the wrong array",
    demands: instead(
      PACKED,
      job("packed", [...needing({ ncpus: 1 }), inArrays("beta")], 7, { placed: PACKED.demand.placed }),
    ),
    expected: "s/packed is on n1, which does not meet its constraints",
  },
  {
    name: "a node that is up started",
    answer: { ...ANSWER, starts: [nodeId("n2"), nodeId("n1")] },
    expected: "n1 is started and is not deallocated",
  },
  {
    name: "a node started twice",
    answer: { ...ANSWER, starts: [nodeId("n2"), nodeId("n2")] },
    expected: "started twice",
  },
  {
    name: "a node used and not started",
    answer: { ...ANSWER, starts: [] },
    expected: "n2 is needed and stays deallocated",
  },
  {
    name: "a new node where one could be started",
    answer: {
      ...loads({ ...N2, origin: "planned" }),
      starts: [],
      creates: [FOR_GANG, FOR_GROUP, { ...FOR_GANG, count: 1, bucket: at("A4") }],
    },
    expected: "n2 stays deallocated, and a new one is made in its place",
  },
  {
    name: "a pool drained",
    world: { ...WORLD, pools: [{ name: "licence", total: 2, used: 2 }] },
    expected: "s/licensed is on n1, which does not meet its constraints",
  },
  {
    name: "a pool overdrawn",
    demands: instead(LICENSED, { ...LICENSED, demand: { ...LICENSED.demand, iterations: 2 } }),
    answer: loads(on("n1", part("packed", 3), part("licensed", 2))),
    expected: "pool licence: 2 taken, 1 left",
  },
  {
    name: "two slots that take nothing on one node",
    demands: instead(PACKED, { ...PACKED, demand: { ...PACKED.demand, constraints: [] } }),
    expected: "s/packed asks for no amount, and has 3 slots on n1",
  },
  ...[{}, { binding: EMPTY }, { binding: { kind: "no-raise" as const, reason: FULL } }].map((told) => ({
    name: `what is unmet without a remedy: ${JSON.stringify(told)}`,
    answer: {
      ...ANSWER,
      outcomes: ANSWER.outcomes.map((one) =>
        one.id === "short" ? outcome("short", "slots", 1, 0, { placed: 0, reasons: [REASON], ...told }) : one,
      ),
    },
    expected: "s/short: nobody says what would place it, or what stands",
  })),
  { name: "a cap exceeded", world: CAPPED, expected: "user ann: 1 nodes held of 0" },
  {
    name: "a node left over",
    world: { ...WORLD, nodes: [...WORLD.nodes, nodeOf("n4")] },
    demands: instead(SHORT, needs("short", 4)),
    expected: "n4 is left over, and s/short is short",
  },
  {
    name: "room left",
    world: { ...WORLD, limits: WORLD.limits.map((limit) => ({ ...limit, left: 6 })) },
    demands: instead(SHORT, needs("short", 4)),
    expected: "alpha/A4 has room, and s/short is short",
  },
])("finds $name", check);
