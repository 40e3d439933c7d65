import { describe, expect, test } from "vitest";
import { EXCLUSIVE, needing, ofSizes } from "../../support/build-constraints.ts";
import { settle } from "../../../src/decide/intents/settle.ts";
import type { Node } from "../../../src/domain/cluster.ts";
import type { SchedulerNode } from "../../../src/domain/demand.ts";
import { nodeId } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { renderVerdict } from "../../../src/domain/node-verdict.ts";
import {
  at,
  buildArray,
  buildBucket,
  buildLedger,
  buildNode,
  buildNodes,
  buildSnapshot,
  D8,
  idleSince,
  NOW,
  rememberNode,
  rememberNodes,
} from "../../support/build-node.ts";
import { BUCKET, buildJob, buildState, buildTarget, pushSets } from "../../support/build-record.ts";
import type { Decision } from "../../../src/domain/decision.ts";
import type { State } from "./reconcile-stage.ts";
import { countVerdicts, created, d4, d8, decideOn, targetOf, verdicts } from "./reconcile-stage.ts";

/** What a commit of the decision leaves for the next turn. */
function after(state: State, { record, ledger, plan }: Decision): State {
  return { record, bodies: { ...state.bodies, ledger, plan } };
}

const twoSizes = [buildArray("execute", { buckets: [buildBucket(), buildBucket(D8, 8)] })];

describe("a target that was lowered", () => {
  test("from 10 to 5, and the busy state of the nodes is unknown: nothing is stopped, and the verdict says why", () => {
    const nodes = buildNodes("n", 10);
    const state = buildState({ sets: targetOf(5), ledger: rememberNodes(nodes) });
    const decision = decideOn(state, buildSnapshot(nodes));
    expect(decision.plan.terminates).toEqual([]);
    expect([...decision.ledger.values()].filter((node) => node.draining !== undefined)).toEqual([]);
    expect(countVerdicts(decision)).toEqual({ needed: 5, "busyness-unknown": 5 });
    const spare = Object.values(verdicts(decision)).find(({ kind }) => kind === "busyness-unknown");
    expect(spare === undefined ? "" : renderVerdict(spare)).toBe(
      "stays: not needed; busy state unknown: no report and no callback yet",
    );
  });

  test("from 10 to 5, all reported idle for long: five are marked, and stopped only after a newer report", () => {
    const nodes = buildNodes("n", 10);
    const report = nodes.map(({ hostname = "" }): SchedulerNode => ({ hostname, jobs: [] }));
    const state = buildState({
      sets: targetOf(5, { report, sentAt: at(-10) }),
      ledger: rememberNodes(nodes, idleSince(at(-300))),
    });
    const marking = decideOn(state, buildSnapshot(nodes));
    expect(marking.plan.terminates).toEqual([]);
    expect(countVerdicts(marking)).toEqual({ needed: 5, draining: 5 });

    const unconfirmed = decideOn(after(state, marking), buildSnapshot(nodes), { now: at(30) });
    expect(unconfirmed.plan.terminates).toEqual([]);

    const pushed = pushSets(after(state, unconfirmed), targetOf(5, { report, sentAt: at(50) }));
    const stopping = decideOn(pushed, buildSnapshot(nodes), { now: at(60) });
    expect(stopping.plan.terminates).toHaveLength(5);
    expect(stopping.record.intents.map(({ effect }) => effect)).toEqual([
      { kind: "terminate", nodes: stopping.plan.terminates },
    ]);
    expect(created(stopping)).toEqual([]);
  });

  test("and raised again before the newer report: the marks are taken back, and nothing is created", () => {
    const nodes = buildNodes("n", 10);
    const ledger = rememberNodes(nodes, idleSince(at(-300)));
    const report = nodes.map(({ hostname = "" }): SchedulerNode => ({ hostname, jobs: [] }));
    const state = buildState({ sets: targetOf(5, { report }), ledger });
    const marking = decideOn(state, buildSnapshot(nodes));
    const raised = pushSets(after(state, marking), targetOf(9, { report, sentAt: at(20) }));
    const decision = decideOn(raised, buildSnapshot(nodes), { now: at(30) });
    expect(created(decision)).toEqual([]);
    // The tenth is idle, marked and confirmed by the newer report.
    expect(decision.plan.terminates).toHaveLength(1);
    expect(countVerdicts(decision)).toEqual({ needed: 9, draining: 1 });
  });
});

describe("nodes that do not come up", () => {
  const young = rememberNode(buildNode("n1", { phase: "coming" }), { firstSeenAt: at(-100) });
  const old = rememberNode(buildNode("n1", { phase: "coming" }), { firstSeenAt: at(-3600) });

  test.each([
    {
      name: "failed before it was Ready",
      node: buildNode("n1", { phase: "failed", statusMessage: "no capacity" }),
      known: young,
      by: "failed",
      message: "Status Failed: no capacity",
    },
    {
      name: "its boot timeout is over",
      node: buildNode("n1", { phase: "coming" }),
      known: old,
      by: "boot-timeout",
      message: "execute-n1 was not Ready 3600 s after it was first seen (Status Preparation)",
    },
  ])(
    "$name: stopped, its bucket paused, its replacement planned elsewhere at once",
    ({ node, known, by, message }) => {
      const state = buildState({ sets: targetOf(1), ledger: buildLedger([known]) });
      const decision = decideOn(state, buildSnapshot([node], { arrays: twoSizes }));
      expect(decision.plan.terminates).toEqual(["n1"]);
      expect(decision.ledger.get(nodeId("n1"))?.draining).toMatchObject({ by, plan: 7, attempts: 0 });
      expect(decision.record.backoffs).toEqual([
        { bucket: BUCKET, until: at(60), seconds: 60, cause: "boot-failed", message },
      ]);
      expect(created(decision)).toEqual([`1 ${d8}`]);
    },
  );

  test("a bucket whose nodes keep failing rests twice as long each time, though CycleCloud accepts every create", () => {
    const failed = (id: string) => buildNode(id, { phase: "failed" });
    const first = buildState({ sets: targetOf(1, { expiresAt: at(5000) }), ledger: buildLedger([young]) });
    const one = decideOn(first, buildSnapshot([failed("n1")]));
    expect(created(one)).toEqual([]);
    expect(one.record.backoffs).toMatchObject([{ seconds: 60, until: at(60) }]);

    const again = decideOn(after(first, one), buildSnapshot([]), { now: at(61) });
    expect(created(again)).toEqual([`1 ${d4}`]);
    const accepted = again.record.intents.reduce(
      (state, { id }) => settle(state, id, { kind: "accepted", sets: [{ added: 1 }] }, at(62)),
      { record: again.record, ledger: again.ledger },
    );
    const { record, ledger } = accepted;
    const two = decideOn({ record, bodies: { ...first.bodies, ledger } }, buildSnapshot([failed("n2")]), {
      now: at(120),
      policy: { ...DEFAULT_POLICY, exclusiveArrays: true },
    });
    expect(two.record.backoffs).toMatchObject([{ seconds: 120, until: at(240) }]);
  });

  test("a node that hung while it came up and is needed no more is stopped as well", () => {
    const state = buildState({ sets: targetOf(0), ledger: buildLedger([old]) });
    expect(decideOn(state, buildSnapshot([buildNode("n1", { phase: "coming" })])).plan.terminates).toEqual([
      "n1",
    ]);
  });
});

describe("only Ready nodes stand in for a Ready node", () => {
  // A job on two large nodes that are still coming satisfies the target of two as well: in the end the two small ones are spare.
  const small = buildNodes("small", 2);
  const large = buildNodes("large", 2, { machineType: D8, phase: "coming" });
  const report = small.map(({ hostname = "" }): SchedulerNode => ({ hostname, jobs: [] }));
  const demands = [
    buildJob("wide", 2, { constraints: [...needing({ ncpus: 1 }), ofSizes(D8), EXCLUSIVE] }),
    buildTarget(2, { position: 1 }),
  ];
  const state = buildState({
    sets: { standard: { demands, report } },
    ledger: new Map([...rememberNodes(small, idleSince(at(-900))), ...rememberNodes(large)]),
  });

  test("while its substitutes are coming, a node that is spare in the plan is not marked", () => {
    const decision = decideOn(state, buildSnapshot([...small, ...large], { arrays: twoSizes }));
    expect(created(decision)).toEqual([]);
    expect(countVerdicts(decision)).toEqual({ needed: 2, idle: 2 });
    expect(verdicts(decision)["small1"]).toMatchObject({ kind: "idle" });
  });

  test("once they are Ready it is", () => {
    const up = large.map((node): Node => ({ ...node, phase: "ready", status: "Ready" }));
    const decision = decideOn(state, buildSnapshot([...small, ...up], { arrays: twoSizes }));
    expect(countVerdicts(decision)).toEqual({ needed: 2, draining: 2 });
    expect(verdicts(decision)["small1"]).toMatchObject({ kind: "draining", by: "idle", reportAfter: NOW });
  });
});
