import { describe, expect, test } from "vitest";
import { decide } from "../../../src/decide/reconcile.ts";
import { endStarts, nextStart, startEffects } from "../../../src/decide/intents/node-starts.ts";
import { updateLedger } from "../../../src/decide/nodes/ledger.ts";
import type { Node, NodePhase } from "../../../src/domain/cluster.ts";
import { nodeId, placementGroup } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { Intent } from "../../../src/domain/intent.ts";
import type { LedgerNode, NodeStart } from "../../../src/domain/ledger.ts";
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
import {
  BUCKET,
  buildIntent,
  buildJob,
  buildState,
  buildTarget,
  EMPTY_RECORD,
  OURS,
} from "../../support/build-record.ts";

const asleep = (id: string, more: Partial<Node> = {}) => buildNode(id, { phase: "deallocated", ...more });

describe("what a look tells of a start", () => {
  const start = (state: NodeStart["state"]): NodeStart => ({ state, since: at(-40) });
  const off: Partial<LedgerNode> = { deallocated: true };
  test.each<{ name: string; known: Partial<LedgerNode>; phase: NodePhase; next: NodeStart | undefined }>([
    { name: "not asked for, and off", known: off, phase: "deallocated", next: undefined },
    {
      name: "asked for, and not seen yet",
      known: { ...off, start: start("unsure") },
      phase: "deallocated",
      next: start("unsure"),
    },
    {
      name: "accepted, and not seen yet",
      known: { ...off, start: start("accepted") },
      phase: "deallocated",
      next: start("accepted"),
    },
    {
      name: "accepted, and on its way: since it was asked for",
      known: { ...off, start: start("accepted") },
      phase: "coming",
      next: start("shown"),
    },
    {
      name: "no answer, but on its way",
      known: { ...off, start: start("unsure") },
      phase: "coming",
      next: start("shown"),
    },
    {
      name: "up between two looks",
      known: { ...off, start: start("accepted") },
      phase: "ready",
      next: start("shown"),
    },
    {
      name: "accepted, and already on its way down again",
      known: { ...off, start: start("accepted") },
      phase: "going",
      next: start("shown"),
    },
    {
      name: "failed on its way",
      known: { ...off, start: start("accepted") },
      phase: "failed",
      next: start("shown"),
    },
    {
      name: "started by somebody else: since this look",
      known: off,
      phase: "coming",
      next: { state: "shown", since: NOW },
    },
    {
      name: "refused, and then started by somebody else",
      known: { ...off, start: start("refused") },
      phase: "coming",
      next: { state: "shown", since: NOW },
    },
    {
      name: "refused, and on its way down",
      known: { ...off, start: start("refused") },
      phase: "going",
      next: { state: "shown", since: NOW },
    },
    {
      name: "on its way for some time",
      known: { start: start("shown") },
      phase: "coming",
      next: start("shown"),
    },
    {
      name: "deallocated again after it was Ready: as new",
      known: { start: start("shown"), firstReadyAt: at(-20) },
      phase: "deallocated",
      next: undefined,
    },
  ])("$name", ({ known, phase, next }) => {
    expect(nextStart(rememberNode(buildNode("n1"), known), buildNode("n1", { phase }), NOW)).toEqual(next);
  });

  test("off again before it was Ready: it came to nothing", () => {
    const known = rememberNode(asleep("n1", { phase: "coming" }), { start: start("shown") });
    expect(nextStart(known, asleep("n1"), NOW)).toEqual({
      state: "refused",
      since: NOW,
      until: at(120),
      message: "it was deallocated again before it was Ready",
    });
  });

  test("a node that is deallocated has no VM that was ever Ready, and its ledger entry stays the same object", () => {
    const look = (node: Node) => ({ snapshot: buildSnapshot([node]), requestNodes: new Map() });
    const before = buildLedger([rememberNode(buildNode("n1"))]);
    const off = updateLedger(before, look(asleep("n1")), [], new Map(), NOW);
    expect(off.get(nodeId("n1"))).toMatchObject({ deallocated: true });
    expect(off.get(nodeId("n1"))).not.toHaveProperty("firstReadyAt");
    expect(updateLedger(off, look(asleep("n1")), [], new Map(), at(60)).get(nodeId("n1"))).toBe(
      off.get(nodeId("n1")),
    );
    const coming = updateLedger(off, look(asleep("n1", { phase: "coming" })), [], new Map(), at(90));
    expect(coming.get(nodeId("n1"))).not.toHaveProperty("deallocated");
    const up = updateLedger(coming, look(buildNode("n1")), [], new Map(), at(120));
    expect(up.get(nodeId("n1"))).toMatchObject({
      firstReadyAt: at(120),
      start: { state: "shown", since: at(90) },
    });
  });
});

describe("starts that have waited long enough", () => {
  const pause = (message: string) => [["execute/Standard_D4s_v5", "boot-failed", message]];
  const came = (message: string): NodeStart => ({
    state: "refused",
    since: NOW,
    until: at(900),
    message,
  });
  const lost = "execute-n1 was still Deallocated 900 s after CycleCloud accepted its start";
  const conflict = "execute-n1 was still Deallocated 60 s after CycleCloud answered 409 to its start: locked";
  test.each<{
    name: string;
    start: NodeStart;
    next?: NodeStart;
    same?: true;
    pauses?: unknown[];
    intents?: Intent[];
  }>([
    {
      name: "accepted, within the grace of creates",
      start: { state: "accepted", since: at(-899) },
      same: true,
    },
    {
      name: "accepted, and the grace is over: its bucket rests",
      start: { state: "accepted", since: at(-900) },
      next: came(lost),
      pauses: pause(lost),
    },
    { name: "no answer, for less than a minute", start: { state: "unsure", since: at(-59) }, same: true },
    { name: "no answer, for a minute: decided again", start: { state: "unsure", since: at(-60) } },
    {
      name: "no answer, but still under way",
      start: { state: "unsure", since: at(-60) },
      same: true,
      intents: [buildIntent("r-1", { effect: { kind: "start", bucket: BUCKET, nodes: [nodeId("n1")] } })],
    },
    {
      name: "answered 409, and nothing came of it",
      start: { state: "unsure", since: at(-60), message: "locked" },
      next: came(conflict),
      pauses: pause(conflict),
    },
    { name: "refused: rests", start: { state: "refused", since: at(-899), until: at(1) }, same: true },
    {
      name: "refused a quarter of an hour ago: may be tried again",
      start: { state: "refused", since: at(-900), until: NOW },
    },
  ])("$name", ({ start, next, same, pauses = [], intents = [] }) => {
    const known = rememberNode(asleep("n1"), { deallocated: true, start });
    const record = { ...EMPTY_RECORD, intents };
    const ended = endStarts(record, buildLedger([known]), buildSnapshot([asleep("n1")]), DEFAULT_POLICY, NOW);
    expect(ended.ledger.get(nodeId("n1"))?.start).toEqual(same === true ? start : next);
    expect(
      ended.record.backoffs.map(({ bucket, cause, message }) => [
        `${bucket.array}/${bucket.machineType}`,
        cause,
        message,
      ]),
    ).toEqual(pauses);
  });
});

test("one effect for each bucket and placement group", () => {
  const group = placementGroup("pg-1");
  const nodes = [asleep("n1"), asleep("n2", { placementGroup: group }), asleep("n3"), asleep("n4")];
  const starts = ["n3", "n1", "n2"].map(nodeId);
  expect(startEffects(starts, buildSnapshot(nodes))).toEqual([
    { kind: "start", bucket: BUCKET, nodes: ["n1", "n3"] },
    { kind: "start", bucket: { ...BUCKET, placementGroup: group }, nodes: ["n2"] },
  ]);
});

describe("a plan", () => {
  const two = [asleep("n1"), asleep("n2")];
  const decideOn = (
    nodes: readonly Node[],
    scenario: Parameters<typeof buildState>[0],
    more: Parameters<typeof buildSnapshot>[1] = {},
    now = NOW,
  ) => {
    const { record, bodies } = buildState(scenario);
    const look = { snapshot: { ...buildSnapshot(nodes, more), at: now }, requestNodes: new Map() };
    return decide(record, bodies, look, DEFAULT_POLICY, now, OURS);
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

  test("is a fixpoint: the same look once more, and nothing is left to do", () => {
    const first = decideOn(two, { sets: target(2), ledger: known(two) });
    const again = decideOn(two, { sets: target(2), ledger: first.ledger, record: first.record }, {}, at(5));
    expect(again.plan.creates).toEqual([]);
    expect(again.plan.starts).toBeUndefined();
    expect(again.record.intents).toEqual(first.record.intents);
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
