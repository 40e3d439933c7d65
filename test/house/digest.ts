import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import fc from "fast-check";
import { decide } from "../../src/decide/reconcile/reconcile.ts";
import { allocate } from "../../src/decide/search/allocate.ts";
import { attempt } from "../../src/decide/search/attempt.ts";
import { readProblem } from "../../src/decide/search/problem.ts";
import { createsOf } from "../../src/decide/draft/creates.ts";
import type { Allocation, AllocationPolicy } from "../../src/domain/allocation.ts";
import type { Demand, RankedDemand } from "../../src/domain/demand.ts";
import { canonicalText } from "../../src/domain/digest.ts";
import { nodeId } from "../../src/domain/ids.ts";
import type { DemandOutcome } from "../../src/domain/plan.ts";
import { compareText } from "../../src/domain/text.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import { anyClusterDemands } from "../property/cluster-demands.ts";
import { SUPPORTED, SUPPORTED_IN_BUCKET_ORDER } from "../property/supported.ts";
import type { Case } from "../property/random-world.ts";
import { anyCase } from "../property/random-world.ts";
import { NOW } from "../property/small-shapes.ts";
import { at, buildLedger, rememberNode } from "../support/build-node.ts";
import type { RandomCluster } from "../support/build-random-cluster.ts";
import { anyCluster, anyPhase, showCluster } from "../support/build-random-cluster.ts";
import { buildState, OURS } from "../support/build-record.ts";

/*
 * The digest of the plans of 10,000 random clusters, so that two checkouts can be compared: with the tries that improve a plan, and without
 * them (the order of rank alone). What a plan costs in steps is not part of it.
 */

const USAGE = `usage: npm run digest -- [--write FILE] [--against FILE] [--help]
Plans 10,000 random clusters from fixed seeds, and prints one digest of all plans with the tries that improve a plan, and one without.
  --write FILE    writes the digest of each plan to a file, for another checkout
  --against FILE  lists the plans that differ from those in a file, what they cost, and which serve a demand worse by rank`;

/** One line of a file: what one plan came to. */
interface Row {
  readonly tried: string;
  readonly untried: string;
  /** What each demand has, by rank, of the plan with tries. */
  readonly placed: readonly number[];
  readonly nodes: number;
  readonly price: number;
}

const POLICIES: readonly AllocationPolicy[] = (["existing-first", "bucket-order"] as const).flatMap(
  (preference) =>
    (["priority", "cheapest"] as const).map((among) => ({
      groupPrefix: "pg-",
      groupFillSeconds: 600,
      preference,
      among,
    })),
);

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 16);

function costOf(creates: Allocation["creates"], { world }: Case): Pick<Row, "nodes" | "price"> {
  const priceOf = ({ bucket }: Allocation["creates"][number]): number =>
    world.buckets.find(
      (offer) => offer.bucket.array === bucket.array && offer.bucket.machineType === bucket.machineType,
    )?.price ?? 0;
  return {
    nodes: creates.reduce((sum, { count }) => sum + count, 0),
    price: creates.reduce((sum, one) => sum + one.count * priceOf(one), 0),
  };
}

/** Ranks as docs/architecture.md says: priority, then position, then names. */
const byRank = (a: RankedDemand, b: RankedDemand): number =>
  b.demand.priority - a.demand.priority ||
  a.demand.position - b.demand.position ||
  compareText(a.set, b.set) ||
  compareText(a.demand.id, b.demand.id);

function rowOfAllocation(drawn: Case, policy: AllocationPolicy): Row {
  const { world, demands } = drawn;
  const tried = allocate(world, demands, policy, NOW);
  const problem = readProblem(world, demands.toSorted(byRank), policy, NOW);
  const way = { order: "rank", opening: "own" } as const;
  const { draft, outcomes, leftOut } = attempt(
    problem,
    { way, entries: problem.entries },
    { withReasons: true },
  );
  const { creates, starts, loads, needed, groups } = tried;
  return {
    tried: hashOf(
      canonicalText([creates, starts, loads, [...needed], tried.outcomes, groups, tried.leftOut.length]),
    ),
    untried: hashOf(
      canonicalText([
        createsOf(draft.bins),
        [...draft.bins.toStart],
        draft.bins.loads(),
        outcomes,
        leftOut.length,
      ]),
    ),
    placed: tried.outcomes.map(({ placed }) => placed),
    ...costOf(creates, drawn),
  };
}

/** Two plans of one cluster, one after the other: the second knows the first, and a node is missing. */
function rowOfDecisions(cluster: RandomCluster, demands: readonly Demand[]): Row {
  const policy = DEFAULT_POLICY;
  const { nodes } = cluster;
  const state = buildState({
    sets: { standard: { demands } },
    ledger: buildLedger(nodes.map((node) => rememberNode(node))),
  });
  const decided = (bodies: typeof state.bodies, seen: typeof nodes, seconds: number) =>
    decide(
      state.record,
      bodies,
      { snapshot: { ...showCluster(cluster, seen), at: at(seconds) }, requestNodes: new Map() },
      policy,
      at(seconds),
      OURS,
    );
  const first = decided(state.bodies, nodes, 0);
  const { ledger, plan } = first;
  const second = decided({ ...state.bodies, ledger, plan }, nodes.slice(0, -1), 60);
  const texts = [first, second].map(({ record, ledger: known, plan: made }) =>
    canonicalText([record, [...record.sets], [...known], made, [...made.nodes]]),
  );
  const outcomes: readonly Pick<DemandOutcome, "placed">[] = second.plan.demands;
  return {
    tried: hashOf(texts.join("\n")),
    untried: "",
    placed: outcomes.map(({ placed }) => placed),
    nodes: [first, second].reduce(
      (sum, one) => sum + one.plan.creates.reduce((all, { count }) => all + count, 0),
      0,
    ),
    price: 0,
  };
}

/** The same case with many more nodes and demands of each sort. */
function enlarge({ world, demands }: Case): Case {
  const times = <T>(list: readonly T[], count: number, copy: (item: T, i: number) => T): readonly T[] =>
    Array.from({ length: count }, (_, i) => list.map((item) => (i === 0 ? item : copy(item, i)))).flat();
  return {
    world: {
      ...world,
      nodes: times(world.nodes, 40, (node, i) => ({
        ...node,
        nodeId: nodeId(`${node.nodeId}-${i}`),
        ...(node.hostname === undefined ? {} : { hostname: `${node.hostname}-${i}` }),
      })),
    },
    demands: times(demands, 12, ({ set, demand }, i) => ({
      set,
      demand: { ...demand, id: `${demand.id}-${i}` },
    })),
  };
}

function* rows(): Generator<Row> {
  const few = POLICIES.filter(({ preference }) => preference === "existing-first");
  const all = fc.sample(anyCase({ ...SUPPORTED, names: false }), { numRuns: 5500, seed: 31 });
  for (const [i, drawn] of all.entries()) {
    const policy = few[i % 2];
    if (policy !== undefined) yield rowOfAllocation(i % 11 === 0 ? enlarge(drawn) : drawn, policy);
  }
  const inOrder = fc.sample(anyCase({ ...SUPPORTED_IN_BUCKET_ORDER, names: false }), {
    numRuns: 1500,
    seed: 32,
  });
  for (const [i, drawn] of inOrder.entries()) {
    const policy = POLICIES[2 + (i % 2)];
    if (policy !== undefined) yield rowOfAllocation(drawn, policy);
  }
  const phases = fc.oneof(anyPhase, fc.constant("deallocated" as const));
  const clusters = fc.sample(
    fc.tuple(anyCluster(8, phases), anyClusterDemands({ ...SUPPORTED, names: false })),
    {
      numRuns: 3000,
      seed: 33,
    },
  );
  for (const [cluster, demands] of clusters) yield rowOfDecisions(cluster, demands);
}

function compareWith(before: readonly Row[], after: readonly Row[]): void {
  let worse = 0;
  let better = 0;
  let differ = 0;
  let untried = 0;
  after.forEach((row, i) => {
    const old = before[i];
    if (old === undefined) return;
    if (old.untried !== row.untried) untried += 1;
    if (old.untried !== row.untried) console.log(`plan ${i}: differs without tries`);
    if (old.tried === row.tried) return;
    differ += 1;
    const at = row.placed.findIndex((placed, rank) => placed !== old.placed[rank]);
    const sign = at < 0 ? 0 : Math.sign((row.placed[at] ?? 0) - (old.placed[at] ?? 0));
    if (sign < 0) worse += 1;
    if (sign > 0) better += 1;
    const service = [
      "a demand is served worse by rank",
      "all are served the same",
      "a demand is served better",
    ];
    console.log(
      `plan ${i}: differs; ${service[1 + sign]}; ${old.nodes} -> ${row.nodes} new nodes, price ${old.price.toFixed(2)} -> ${row.price.toFixed(2)}`,
    );
  });
  const sumOf = (rowsOf: readonly Row[], key: "nodes" | "price"): number =>
    rowsOf.reduce((sum, row) => sum + row[key], 0);
  console.log(
    `${untried} plans differ without tries, ${differ} with them: ${worse} worse by rank, ${better} better`,
  );
  for (const key of ["nodes", "price"] as const) {
    const [old, now] = [sumOf(before, key), sumOf(after, key)];
    console.log(
      `${key}: ${old.toFixed(1)} -> ${now.toFixed(1)} (${((100 * (now - old)) / old).toFixed(3)} %)`,
    );
  }
}

function readRows(path: string): readonly Row[] {
  const all: readonly Row[] = JSON.parse(readFileSync(path, "utf8"));
  return all;
}

const { values } = parseArgs({
  options: { write: { type: "string" }, against: { type: "string" }, help: { type: "boolean" } },
});
if (values.help === true) console.log(USAGE);
else {
  const all = [...rows()];
  if (values.write !== undefined) writeFileSync(values.write, JSON.stringify(all));
  if (values.against !== undefined) compareWith(readRows(values.against), all);
  console.log(`${hashOf(all.map(({ tried }) => tried).join())}  ${all.length} clusters, with tries`);
  console.log(`${hashOf(all.map(({ untried }) => untried).join())}  without tries`);
}
