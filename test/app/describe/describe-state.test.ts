import { describe, expect, test } from "vitest";
import { describeNodearrays } from "../../../src/app/describe/describe-nodearrays.ts";
import { describeWhy } from "../../../src/app/describe/describe-plan.ts";
import { describeTroubles } from "../../../src/app/describe/describe-troubles.ts";
import { describeWaiting } from "../../../src/app/describe/describe-outcomes.ts";
import type { Bodies } from "../../../src/domain/bodies.ts";
import type { Remedy } from "../../../src/domain/remedy.ts";
import { nodeId, requestId, setName } from "../../../src/domain/ids.ts";
import type { DemandOutcome, Plan } from "../../../src/domain/plan.ts";
import type { Policy } from "../../../src/domain/policy.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import {
  at,
  buildNode,
  buildNodes,
  buildSnapshot,
  EXECUTE,
  NOW,
  rememberNode,
  rememberNodes,
} from "../../support/build-node.ts";
import { BUCKET, buildState, buildTarget } from "../../support/build-record.ts";

/** The parts of the cluster answer that sum up for an operator. */

function outcome(set: string, id: string, more: Partial<DemandOutcome> = {}): DemandOutcome {
  return {
    set: setName(set),
    id,
    kind: "job",
    unit: "slots",
    asked: 1,
    placed: 1,
    pending: 0,
    reasons: [],
    ...more,
  };
}

function planOf(demands: readonly DemandOutcome[], nodes: Plan["nodes"] = new Map()): Plan {
  return { number: 7, at: NOW, creates: [], terminates: [], demands, nodes };
}

test("what waits: how much of each unit, the most frequent causes first, what would help", () => {
  const none = { code: "no-bucket", array: "gpu" } as const;
  const empty = { code: "pool-empty", pool: "licence", asked: 2, left: 0 } as const;
  const more = (amount: number): Remedy => ({
    kind: "raise",
    raises: [{ of: "pool", pool: "licence", more: amount }],
  });
  const plan = planOf([
    outcome("a", "whole", { pending: 1 }),
    outcome("a", "licensed", { asked: 3, placed: 1, pending: 1, reasons: [empty, none], binding: more(2) }),
    outcome("a", "gpu-1", { asked: 4, placed: 0, reasons: [none] }),
    outcome("a", "more", { placed: 0, reasons: [{ ...empty, asked: 9 }], binding: more(9) }),
    outcome("b", "gpu-2", { asked: 4, placed: 0, reasons: [none] }),
    outcome("b", "t", { kind: "target", unit: "nodes", asked: 9, placed: 2, reasons: [none] }),
  ]);
  expect(describeWaiting(plan)).toEqual({
    unmet: 5,
    missing: [
      { unit: "slots", amount: 11 },
      { unit: "nodes", amount: 7 },
    ],
    onTheirWay: 2,
    reasons: [
      {
        text: 'node array "gpu" has no VM size that CycleCloud\'s status offers',
        demands: 3,
        first: { requestSet: "a", id: "gpu-1" },
      },
      {
        text: "pool licence: 2 more needed, 0 left",
        demands: 2,
        first: { requestSet: "a", id: "licensed" },
      },
    ],
    remedies: [
      {
        text: "2 more of pool licence would place all of it",
        demands: 2,
        first: { requestSet: "a", id: "licensed" },
      },
    ],
  });
});

test("a remedy that is only the reason again does not repeat it", () => {
  const reason = { code: "unknown-array", array: "compute", known: ["execute"] } as const;
  const unknown = outcome("a", "t", { placed: 0, reasons: [reason], binding: { kind: "no-raise", reason } });
  expect(describeWaiting(planOf([unknown]))).toMatchObject({
    reasons: [{ text: 'node array "compute" does not exist in the cluster (known: execute)' }],
    remedies: [{ text: "no raise of a limit helps: change what it asks for" }],
  });
  expect(describeWhy(unknown).binding).toBe("no raise of a limit helps: change what it asks for");
});

test("nothing waits where no plan was made", () => {
  expect(describeWaiting(undefined)).toEqual({
    unmet: 0,
    missing: [],
    onTheirWay: 0,
    reasons: [],
    remedies: [],
  });
});

/** The array "execute" as it is shown. */
const executeOf = (record: ClusterRecord, bodies: Bodies) =>
  describeNodearrays(record, bodies, DEFAULT_POLICY, NOW).find(({ name }) => name === EXECUTE);

test("an array: its targets, its nodes by phase, what is in flight, and the sets that need them", () => {
  const nodes = [...buildNodes("r", 3), buildNode("c", { phase: "coming" })];
  const target = { kind: "target", unit: "nodes" } as const;
  const plan = planOf(
    [outcome("a/b", "nodearray:execute", { ...target, asked: 5, placed: 4 }), outcome("c", "job")],
    new Map([
      [nodeId("r1"), { kind: "needed", by: ["a/b/nodearray:execute", "c/job"] }],
      [nodeId("r2"), { kind: "needed", by: ["a/b/nodearray:execute"] }],
      [nodeId("r3"), { kind: "idle", idleSeconds: 5, idleTimeoutSeconds: 300 }],
    ]),
  );
  const { record, bodies } = buildState({
    sets: { "a/b": { demands: [buildTarget(5, { id: "nodearray:execute" })] } },
    seen: buildSnapshot(nodes),
    ledger: rememberNodes(nodes),
    record: {
      inFlight: [
        {
          requestId: requestId("r"),
          bucket: BUCKET,
          purpose: { kind: "array" },
          added: 3,
          seen: [nodeId("c")],
          since: NOW,
        },
      ],
    },
  });
  expect(executeOf(record, { ...bodies, plan })).toMatchObject({
    targets: [{ requestSet: "a/b", id: "nodearray:execute", unit: "nodes", asked: 5, placed: 4 }],
    nodes: { ready: 3, coming: 1 },
    count: 4,
    inFlight: 2,
    neededBy: [
      { requestSet: "a/b", nodes: 2 },
      { requestSet: "c", nodes: 1 },
    ],
    notNeeded: 2,
  });
});

test("troubles: all that is wrong, alike things once with their number", () => {
  const failed = buildNodes("f", 7, { phase: "failed", statusMessage: "no such image" });
  const off = buildNode("d", { phase: "deallocated" });
  const { record, bodies } = buildState({
    seen: buildSnapshot([...failed, off, buildNode("up")]),
    ledger: new Map([
      ...rememberNodes(failed),
      [off.nodeId, rememberNode(off, { start: { state: "refused", since: NOW, message: "no quota" } })],
    ]),
    sets: { jobs: {}, old: { live: false } },
    record: {
      backoffs: [
        { bucket: BUCKET, until: at(60), seconds: 60, cause: "refused", message: "no capacity" },
        { bucket: BUCKET, until: at(-60), seconds: 60, cause: "refused", message: "long ago" },
      ],
      rejections: [
        { at: at(-5), messageId: "m", problems: [{ path: "version", found: "2", expected: "1" }] },
      ],
    },
  });
  const rejected = { name: "odd", problems: [] };
  const demands = new Map(
    [...bodies.demands].map(([digest, demand]) => [digest, { ...demand, rejectedJobs: [rejected] }]),
  );
  expect(describeTroubles(record, { ...bodies, demands }, ["does the timer run?"], NOW)).toEqual([
    { kind: "health", text: "does the timer run?", count: 1 },
    {
      kind: "backing-off",
      text: "execute/Standard_D4s_v5 backs off until 2025-11-20T11:01:00.000Z (refused): no capacity",
      count: 1,
    },
    {
      kind: "node-failed",
      text: "execute-f1, execute-f2, execute-f3, execute-f4, execute-f5 and 2 more failed: no such image",
      count: 7,
    },
    { kind: "start-refused", text: "execute-d did not start: no quota", count: 1 },
    {
      kind: "job-rejected",
      text: "request set jobs: left out because they could not be read: odd",
      count: 1,
    },
    {
      kind: "message-rejected",
      text: "messages could not be read, the last at 2025-11-20T10:59:55.000Z: version: found 2, expected 1",
      count: 1,
    },
  ]);
});

test("troubles: what a message probably meant comes before the list of what is known", () => {
  const known = "one of the keys name, constraints, iterations";
  const problem = { path: "jobs[0]", found: '"itterations"', expected: known, didYouMean: "iterations" };
  const { record, bodies } = buildState({
    record: { rejections: [{ at: at(-5), messageId: "m", problems: [problem] }] },
  });
  expect(describeTroubles(record, bodies, [], NOW).map(({ text }) => text)).toEqual([
    `messages could not be read, the last at 2025-11-20T10:59:55.000Z: jobs[0]: found "itterations"; did you mean iterations? Expected ${known}`,
  ]);
});

test("troubles: nodes that were Ready and are up no more, by what CycleCloud shows", () => {
  const down = buildNodes("d", 2, { phase: "coming", status: "Off" });
  const nodes = [...down, buildNode("e", { phase: "coming", status: "Restarting" }), buildNode("up")];
  const verdicts = new Map(
    nodes
      .slice(0, 3)
      .map((node) => [node.nodeId, { kind: "down" as const, since: NOW, status: node.status }]),
  );
  const { record, bodies } = buildState({ seen: buildSnapshot(nodes), ledger: rememberNodes(nodes) });
  const plan = { number: 1, at: NOW, creates: [], terminates: [], demands: [], nodes: verdicts };
  expect(describeTroubles(record, { ...bodies, plan }, [], NOW)).toEqual([
    { kind: "node-down", text: "execute-d1, execute-d2 were Ready and are no longer up: Off", count: 2 },
    { kind: "node-down", text: "execute-e was Ready and is no longer up: Restarting", count: 1 },
  ]);
  expect(executeOf(record, { ...bodies, plan })?.nodes).toEqual({ down: 3, ready: 1 });
});

describe("troubles: the app setting decides on the mode", () => {
  const texts = (record: Partial<ClusterRecord>, policy: Partial<Policy>) => {
    const state = buildState({ record });
    const inForce = { ...DEFAULT_POLICY, ...policy };
    const troubles = describeTroubles(state.record, state.bodies, [], NOW, NOW, undefined, inForce);
    return troubles.map(({ kind, text }) => `${kind}: ${text}`);
  };

  test.each(["act", "observe"] as const)("of a cluster that was planned and says none: %s", (mode) => {
    expect(texts({ plan: 6 }, { mode, modeIsDefault: true })).toEqual([
      `configuration: the configuration says no mode, so the app setting AUTOSCALER_DEFAULT_MODE decides, and it says ${mode}: keep that with config set mode=${mode}`,
    ]);
  });

  test("not before its first plan, which writes the mode, nor where the configuration says one", () => {
    expect(texts({ plan: 0 }, { modeIsDefault: true })).toEqual([]);
    expect(texts({ plan: 6 }, { mode: "observe" })).toEqual([]);
  });
});
