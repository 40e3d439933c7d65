import { describe, expect, test } from "vitest";
import { concluder } from "../../../src/app/reconcile/conclude-observation.ts";
import { composeInMemory } from "../../../src/compose.ts";
import { effectsOf } from "../../../src/decide/pace/observation-times.ts";
import type { SchedulerNode } from "../../../src/domain/demand.ts";
import type { Node } from "../../../src/domain/cluster.ts";
import { digest, nodeId, setName } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import { VirtualClock } from "../../../src/local/play/virtual-clock.ts";
import {
  at,
  buildArray,
  buildNodes,
  buildSnapshot,
  idleSince,
  NOW,
  rememberNodes,
} from "../../support/build-node.ts";
import { buildIntent, buildState, buildTarget, OURS } from "../../support/build-record.ts";
import type { CurrentInForce } from "../../../src/app/record/load-record.ts";

/** What becomes of a plan when the record has changed while it was being saved: the change is asked for again, on the record as it is. */

const HPC = buildArray("hpc").name;
const nodes = buildNodes("n", 2);
const snapshot = buildSnapshot(nodes, { arrays: [buildArray(), buildArray("hpc")] });

/** Two idle nodes that are not needed, marked and since reported as idle, and a node of another array that is to be created. */
function start(): CurrentInForce {
  const { record, bodies } = buildState({
    sets: {
      pbs: {
        demands: [buildTarget(1, { id: "hpc", array: HPC })],
        report: ["ip-n1", "ip-n2"].map((hostname) => ({ hostname, jobs: [], state: "closed" })),
      },
    },
    ledger: rememberNodes(nodes, {
      ...idleSince(at(-900)),
      draining: { since: at(-30), by: "idle", plan: 5, attempts: 0 },
    }),
    record: { generation: 3 },
  });
  return { record, bodies, stored: undefined, policy: DEFAULT_POLICY };
}

function concludes(began: CurrentInForce, now = NOW, shown = snapshot) {
  const clock = new VirtualClock(now);
  const { app } = composeInMemory({
    cluster: "prod",
    clock,
    transport: { send: () => Promise.reject(new Error("nothing is sent")) },
    publicUrl: "http://autoscaler.invalid",
    autostopKeys: { current: "v", byId: new Map([["v", "no secret"]]) },
    policy: DEFAULT_POLICY,
    log: () => undefined,
  });
  const [site] = app.ports.sites.values();
  if (site === undefined) throw new Error("the composition has a cluster");
  const run = { app, site, deadline: at(180), owner: OURS, policy: DEFAULT_POLICY };
  const begun = { at: NOW, effects: effectsOf(began.record) };
  const templates = { configurationOf: () => undefined };
  const seen = {
    kind: "observation",
    observation: { snapshot: shown, requestNodes: new Map() },
    templates,
    arrivedAt: NOW,
  } as const;
  return concluder(run, begun, [], seen);
}

type Change = ReturnType<ReturnType<typeof concludes>>;

const changed = (current: CurrentInForce, record: Partial<ClusterRecord>): CurrentInForce => ({
  ...current,
  record: { ...current.record, ...record },
});

/** "create 1 hpc", "stop n1", in the order of the intents that are saved. */
function effectsIn({ save }: Change): readonly string[] {
  return (save?.record.intents ?? []).flatMap(({ effect }) =>
    effect.kind === "create"
      ? effect.sets.map(({ count, bucket }) => `create ${count} ${bucket.array}`)
      : effect.nodes.map((id) => `stop ${id}`),
  );
}

/** pbs has sent again at that moment: another report, or the same. */
function reported(current: CurrentInForce, seconds: number, busy?: string): CurrentInForce {
  const [entry] = current.record.sets.values();
  if (entry === undefined) throw new Error("there is a set");
  const report: readonly SchedulerNode[] = ["ip-n1", "ip-n2"].map((hostname) => ({
    hostname,
    jobs: hostname === busy ? ["job-1"] : [],
    state: "closed",
  }));
  const name = digest(busy === undefined ? "report-pbs" : "report-busy");
  const sets = new Map([[setName("pbs"), { ...entry, sentAt: at(seconds), report: name }]]);
  return {
    ...changed(current, { sets }),
    bodies: { ...current.bodies, reports: new Map(current.bodies.reports).set(name, report) },
  };
}

test("nothing has changed: creates and stops", () => {
  const began = start();
  expect(effectsIn(concludes(began)(began))).toEqual(["create 1 hpc", "stop n1", "stop n2"]);
});

test("a set was renewed: the decision stands, and so does the renewal", () => {
  const began = start();
  const conclude = concludes(began);
  conclude(began);
  const change = conclude(reported(began, 1));
  expect(effectsIn(change)).toEqual(["create 1 hpc", "stop n1", "stop n2"]);
  expect(change.save?.record.sets.get(setName("pbs"))?.sentAt).toBe(at(1));
});

test("a report says that a job runs on n1: it is not stopped; the rest stands", () => {
  const began = start();
  const conclude = concludes(began);
  conclude(began);
  const change = conclude(reported(began, 1, "ip-n1"));
  expect(effectsIn(change)).toEqual(["create 1 hpc", "stop n2"]);
  expect(change.save?.changes.plan?.terminates).toEqual([nodeId("n2")]);
  expect(change.save?.changes.ledger?.get(nodeId("n1"))?.draining).toBeUndefined();
  expect(change.save?.record.totals).toEqual({ created: 1, terminated: 1 });
});

test("a report about other hosts leaves out no stop", () => {
  const began = start();
  const conclude = concludes(began);
  conclude(began);
  const [entry] = began.record.sets.values();
  if (entry === undefined) throw new Error("there is a set");
  const other = { ...entry, report: digest("report-other") };
  const current: CurrentInForce = {
    ...changed(began, { separateReports: new Map([[setName("other"), other]]) }),
    bodies: {
      ...began.bodies,
      reports: new Map(began.bodies.reports).set(other.report, [{ hostname: "ip-x", jobs: ["1"] }]),
    },
  };
  expect(effectsIn(conclude(current))).toEqual(["create 1 hpc", "stop n1", "stop n2"]);
});

describe("marks and grants of others", () => {
  test("the observation is decided on again; the second time the plan asks them to wait 5 s; then it is saved", () => {
    const began = start();
    const conclude = concludes(began);
    conclude(began);
    const undrained = rememberNodes(nodes, idleSince(at(-900)));
    const granted: CurrentInForce = {
      ...changed(began, { plan: 7 }),
      bodies: { ...began.bodies, ledger: undrained },
    };
    // A node that was told to stay has no mark: what was decided on the mark must not stop it.
    expect(effectsIn(conclude(granted))).toEqual(["create 1 hpc"]);
    const second = conclude(changed(granted, { plan: 8 }));
    expect(second.result).toEqual({ kind: "plan-first" });
    expect(second.save).toEqual({ record: { ...granted.record, plan: 8, planBy: at(5) }, changes: {} });
    // What was under way has a moment to be saved.
    expect(conclude(changed(granted, { plan: 8, planBy: at(4) }))).toEqual({ result: second.result });
    const third = conclude(changed(granted, { plan: 8, planBy: at(3) }));
    expect(third.result).toMatchObject({ kind: "planned", plan: { number: 9 } });
    expect(third.save?.record).not.toHaveProperty("planBy");
  });

  test("the word that the plan goes first meets a grant itself: it is said again", () => {
    const began = start();
    const conclude = concludes(began);
    conclude(began);
    for (const plan of [7, 8]) conclude(changed(began, { plan }));
    const again = conclude(changed(began, { plan: 9 }));
    expect(again.result).toEqual({ kind: "plan-first" });
    expect(again.save?.record).toMatchObject({ plan: 9, planBy: at(5) });
  });
});

test("demand that moves each time: the third time the creates are saved, and what was seen of it", () => {
  const began = start();
  const conclude = concludes(began);
  for (const generation of [3, 4, 5])
    expect(effectsIn(conclude(changed(began, { generation })))).toHaveLength(3);
  const change = conclude(changed(began, { generation: 6 }));
  expect(effectsIn(change)).toEqual(["create 1 hpc"]);
  expect(change.save?.record).toMatchObject({ generation: 6, observedGeneration: 5 });
});

test("an amended plan keeps from when on CycleCloud proves something, and a later moment is decided on", () => {
  const began = changed(start(), { provesFrom: at(-500) });
  const conclude = concludes(began);
  conclude(began);
  const amended = conclude(changed(began, { wakeAt: at(9), wakeFor: "demand" }));
  expect(amended.save?.record).toMatchObject({ provesFrom: at(-500) });
  const later = conclude(changed(began, { provesFrom: at(50) }));
  expect(later.save?.changes.seen).toMatchObject({ early: true });
});

test("a report that had lapsed is sent again under the same revision: it is in force", () => {
  const began = start();
  const [entry] = began.record.sets.values();
  if (entry === undefined) throw new Error("there is a set");
  const other = setName("other");
  const until = (seconds: number): CurrentInForce =>
    changed(began, { separateReports: new Map([[other, { ...entry, expiresAt: at(seconds) }]]) });
  const conclude = concludes(began);
  expect(conclude(until(-1)).save?.record.separateReports.get(other)?.live).toBe(false);
  const change = conclude(until(300));
  expect(change.result).toMatchObject({ kind: "planned" });
  expect(change.save?.record.separateReports.get(other)).toMatchObject({ live: true, expiresAt: at(300) });
});

test("a status whose records lack TargetState: nothing is decided, and a stop of 15 minutes ago ends", () => {
  const unclear = buildNodes("u", 6).map((node): Node => ({
    ...node,
    phase: "unknown",
    noTargetState: true,
  }));
  const stop = (seconds: number) =>
    buildIntent("r-1", {
      effect: { kind: "terminate", nodes: [nodeId("n1")] },
      committedAt: at(seconds),
      leaseUntil: at(seconds + 30),
      notAfter: at(seconds + 30),
    });
  const left = (seconds: number): readonly string[] => {
    const began = changed(start(), { intents: [stop(seconds)] });
    const change = concludes(began, NOW, { ...snapshot, nodes: unclear })(began);
    expect(change.result).toMatchObject({ kind: "troubled", failure: { kind: "suspicious" } });
    return (change.save?.record.intents ?? []).map(({ id }) => id);
  };
  expect(left(-899)).toEqual(["r-1"]);
  expect(left(-900)).toEqual([]);
});

describe("an observation is overtaken", () => {
  test("by a plan that has created since: we were there, and nothing else is saved", () => {
    const began = start();
    const current = changed(began, { plan: 7, totals: { created: 1, terminated: 0 } });
    const { save, result } = concludes(began)(current);
    expect(result).toEqual({ kind: "overtaken", byPlan: true });
    expect(save).toEqual({ record: { ...current.record, lastGoodLookAt: NOW }, changes: {} });
  });

  test("by a later look that was saved", () => {
    const began = start();
    const seenAt = (seconds: number): CurrentInForce => ({
      ...began,
      bodies: { ...began.bodies, seen: { ...snapshot, at: at(seconds) } },
    });
    expect(concludes(began, at(2))(seenAt(0)).result).toMatchObject({ kind: "planned" });
    expect(concludes(began, at(2))(seenAt(1)).result).toEqual({ kind: "overtaken", byPlan: true });
    // Saved by an instance whose clock is ahead: that says nothing.
    expect(concludes(began, at(2))(seenAt(3600)).result).toMatchObject({ kind: "planned" });
  });

  test("by its age: 30 s, and what slow calls take", () => {
    const began = start();
    const slow = changed(began, { calls: { create: { seconds: 20, at: NOW } } });
    expect(concludes(began, at(30))(began).result).toMatchObject({ kind: "planned" });
    expect(concludes(began, at(31))(began).result).toEqual({ kind: "overtaken", byPlan: false });
    expect(concludes(began, at(70))(slow).result).toMatchObject({ kind: "planned" });
    expect(concludes(began, at(71))(slow).result).toEqual({ kind: "overtaken", byPlan: false });
  });

  test("marks and grants alone do not overtake it", () => {
    const began = start();
    expect(concludes(began)(changed(began, { plan: 12 })).result).toMatchObject({ kind: "planned" });
  });
});
