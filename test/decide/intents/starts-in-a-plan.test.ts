import { describe, expect, test } from "vitest";
import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import type { Node } from "../../../src/domain/cluster.ts";
import { nodeId } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { LedgerNode } from "../../../src/domain/ledger.ts";
import {
  at,
  buildArray,
  buildBucket,
  buildLedger,
  buildNode,
  buildSnapshot,
  D8,
  NOW,
  rememberNode,
} from "../../support/build-node.ts";
import { BUCKET, buildIntent, buildJob, buildState, buildTarget, OURS } from "../../support/build-record.ts";

const asleep = (id: string, more: Partial<Node> = {}) => buildNode(id, { phase: "deallocated", ...more });

describe("a plan", () => {
  const two = [asleep("n1"), asleep("n2")];
  const decideOn = (
    nodes: readonly Node[],
    scenario: Parameters<typeof buildState>[0],
    more: Parameters<typeof buildSnapshot>[1] = {},
    now = NOW,
  ) => {
    const { record, bodies } = buildState(scenario);
    const observation = { snapshot: { ...buildSnapshot(nodes, more), at: now }, requestNodes: new Map() };
    return decide(record, bodies, observation, DEFAULT_POLICY, now, OURS);
  };
  const known = (nodes: readonly Node[], more: Partial<LedgerNode> = {}) =>
    buildLedger(nodes.map((node) => rememberNode(node, { deallocated: true, ...more })));
  const target = (count: number) => ({ standard: { demands: [buildTarget(count)] } });

  test("starts what is deallocated and creates the rest: both are intents, the start first, and its nodes say so", () => {
    const decision = decideOn(two, { sets: target(3), ledger: known(two) });
    expect(decision.record.intents.map(({ effect }) => effect)).toEqual([
      { kind: "start", bucket: BUCKET, nodes: ["n1", "n2"] },
      { kind: "create", sets: [{ bucket: BUCKET, count: 1, purpose: { kind: "array" } }] },
    ]);
    expect(decision.plan).toMatchObject({ starts: ["n1", "n2"], terminates: [] });
    expect([...decision.plan.nodes.values()]).toEqual([
      { kind: "starting", by: ["standard/execute"] },
      { kind: "starting", by: ["standard/execute"] },
    ]);
    expect(decision.ledger.get(nodeId("n1"))?.start).toEqual({ state: "unsure", since: NOW });
    expect(decision.record.totals).toEqual({ created: 1, started: 2, terminated: 0 });
    expect(decision.plan.demands).toMatchObject([{ asked: 3, placed: 3, pending: 3 }]);
  });

  test("is a fixpoint: the same observation once more, and nothing is left to do", () => {
    const first = decideOn(two, { sets: target(2), ledger: known(two) });
    const again = decideOn(two, { sets: target(2), ledger: first.ledger, record: first.record }, {}, at(5));
    expect(again.plan.creates).toEqual([]);
    expect(again.plan.starts).toBeUndefined();
    expect(again.record.intents).toEqual(first.record.intents);
  });

  test("creates nothing in the place of nodes that the status lacks, and starts them once it shows them again", () => {
    const state = { sets: target(2), ledger: known(two), seen: buildSnapshot(two, { at: at(-30) }) };
    const empty = decideOn([], state);
    expect(empty.record.intents).toEqual([]);
    expect(empty.plan).toMatchObject({ creates: [], demands: [{ asked: 2, placed: 2, pending: 2 }] });
    const { record, ledger } = empty;
    const again = decideOn(two, { sets: target(2), record, ledger, seen: empty.seen }, {}, at(20));
    expect(again.plan).toMatchObject({ creates: [], starts: ["n1", "n2"] });
    const later = decideOn([], { sets: target(2), record, ledger, seen: empty.seen }, {}, at(40));
    expect(later.plan.creates).toEqual([]);
    const gone = decideOn(
      [],
      { ...state, record: later.record, ledger: later.ledger, seen: later.seen },
      {},
      at(80),
    );
    expect(gone.plan.creates).toMatchObject([{ count: 2 }]);
  });

  test("takes nodes that are coming before those that must be started", () => {
    const nodes = [asleep("n1"), buildNode("n2", { phase: "coming" })];
    const decision = decideOn(nodes, { sets: target(1) });
    expect(decision.plan.starts).toBeUndefined();
    expect(decision.plan.nodes.get(nodeId("n1"))).toEqual({ kind: "deallocated" });
  });

  test("takes nodes in flight before those that must be started", () => {
    const entry = {
      requestId: buildIntent("r-9", { effect: { kind: "terminate", nodes: [] } }).id,
      seen: [],
    };
    const inFlight = [
      { ...entry, bucket: BUCKET, purpose: { kind: "array" } as const, added: 1, since: at(-5) },
    ];
    const decision = decideOn([asleep("n1")], { sets: target(1), record: { inFlight } });
    expect(decision.plan).toMatchObject({ creates: [] });
    expect(decision.plan.starts).toBeUndefined();
  });

  test("packs jobs on nodes that it starts before it makes new ones, and another job beside them", () => {
    const jobs = [buildJob("a", 5), buildJob("b", 3, { position: 1 })];
    const decision = decideOn(two, { sets: { standard: { demands: jobs } }, ledger: known(two) });
    expect(decision.plan).toMatchObject({ starts: ["n1", "n2"], creates: [] });
    expect(decision.plan.demands).toMatchObject([{ placed: 5 }, { placed: 3 }]);
  });

  test("starts no more than the array allows", () => {
    const arrays = [buildArray("execute", { limit: { count: 1 } })];
    const decision = decideOn(two, { sets: target(2), ledger: known(two) }, { arrays });
    expect(decision.plan).toMatchObject({ starts: ["n1"], creates: [] });
    expect(decision.plan.demands).toMatchObject([{ asked: 2, placed: 1 }]);
  });

  test("starts nothing in a bucket that backs off, and creates elsewhere", () => {
    const backoffs = [
      { bucket: BUCKET, until: at(60), seconds: 60, cause: "refused", message: "no" } as const,
    ];
    const arrays = [buildArray("execute", { buckets: [buildBucket(), buildBucket(D8, 8)] })];
    const decision = decideOn(two, { sets: target(1), ledger: known(two), record: { backoffs } }, { arrays });
    expect(decision.plan.starts).toBeUndefined();
    expect(decision.plan.creates).toMatchObject([{ bucket: { machineType: D8 }, count: 1 }]);
  });

  test.each([
    { name: "the cluster is not started", more: { state: "Terminated" } },
    { name: "the cluster is going", more: { targetState: "Terminated" } },
  ])("starts nothing while $name", ({ more }) => {
    expect(decideOn(two, { sets: target(2), ledger: known(two) }, more).record.intents).toEqual([]);
  });

  test("does not believe a scheduler that has a task run on a node without a VM", () => {
    const jobs = [buildJob("a", 1, { placed: [{ hostname: "ip-n1", iterations: 1 }] })];
    const decision = decideOn([asleep("n1")], { sets: { standard: { demands: jobs } } });
    expect(decision.plan.nodes.get(nodeId("n1"))).toEqual({ kind: "deallocated" });
  });

  test("does not stop a Ready node because a deallocated one could be started in its place", () => {
    const nodes = [buildNode("n1"), asleep("n2")];
    const ledger = buildLedger([
      rememberNode(buildNode("n1"), { busyness: { state: "idle", since: at(-9000) } }),
      rememberNode(asleep("n2"), { deallocated: true }),
    ]);
    const report = [{ hostname: "ip-n1", jobs: [] }];
    const decision = decideOn(nodes, { sets: { standard: { demands: [buildTarget(1)], report } }, ledger });
    expect(decision.plan.nodes.get(nodeId("n1"))?.kind).toBe("needed");
    expect(decision.record.intents).toEqual([]);
  });
});
