import { describe, expect, test } from "vitest";
import type { AuditedLimit, NodeCreated } from "../../../src/local/workload/audit-events.ts";
import { Auditor } from "../../../src/local/workload/auditor.ts";
import { describeViolation } from "../../../src/local/workload/describe-violation.ts";
import { processorMs } from "../../support/processor-time.ts";

const hour = 3_600_000;
const minute = 60_000;

function node(nodeId: string, at: number, changes: Partial<NodeCreated> = {}): NodeCreated {
  return { at, nodeId, cores: 4, array: "hpc", machineType: "Standard_F4s_v2", spot: false, ...changes };
}

function auditorWith(...limits: readonly AuditedLimit[]): Auditor {
  return new Auditor({ limits });
}

/** Two nodes for eight slots, one job on the first; stopped when it was over. */
function playCleanRun(auditor: Auditor): void {
  auditor.demand({ at: 0, slots: 8, expiresAt: hour });
  auditor.nodeCreated(node("a", minute, { requestId: "r1" }));
  auditor.nodeCreated(node("b", minute, { requestId: "r1" }));
  auditor.nodeReady({ at: 6 * minute, nodeId: "a" });
  auditor.nodeReady({ at: 6 * minute, nodeId: "b" });
  auditor.hostBusy({ at: 6 * minute, nodeId: "a" });
  auditor.hostIdle({ at: 26 * minute, nodeId: "a" });
  auditor.terminateAccepted({ at: 31 * minute, nodeId: "a" });
  auditor.terminateAccepted({ at: 31 * minute, nodeId: "b" });
  auditor.nodeGone({ at: 33 * minute, nodeId: "a" });
  auditor.nodeGone({ at: 33 * minute, nodeId: "b" });
}

test("a clean run: nothing counted, nodes billed from creation until gone", () => {
  const auditor = auditorWith({ name: "cluster nodes", unit: "nodes", most: 2 });
  playCleanRun(auditor);
  const report = auditor.report(hour);
  expect(report).toMatchObject({
    busyNodesStopped: 0,
    limitsExceeded: 0,
    nodesBeyondDemand: 0,
    violations: [],
    nodesCreated: 2,
    nodesStopped: 2,
    scaleUps: 1,
    scaleDowns: 1,
    mostLiveNodes: 2,
  });
  // 2 x 32 min billed, of which 2 x 5 booting, 20 with a job.
  expect(report.nodeHours).toBeCloseTo(64 / 60, 9);
  expect(report.bootNodeHours).toBeCloseTo(10 / 60, 9);
  expect(report.idleNodeHours).toBeCloseTo(34 / 60, 9);
});

test("the order in which it is told does not matter", () => {
  const auditor = auditorWith();
  auditor.nodeGone({ at: 10 * minute, nodeId: "a" });
  auditor.terminateAccepted({ at: 9 * minute, nodeId: "a" });
  auditor.hostIdle({ at: 8 * minute, nodeId: "a" });
  auditor.hostBusy({ at: 5 * minute, nodeId: "a" });
  auditor.nodeCreated(node("a", minute));
  auditor.demand({ at: 0, slots: 1, expiresAt: hour });
  expect(auditor.report(hour)).toMatchObject({ violations: [], nodesStopped: 1, nodeHours: 0.15 });
});

test("nodes that are still there are billed until the end of the report", () => {
  const auditor = auditorWith();
  auditor.demand({ at: 0, slots: 4, expiresAt: hour });
  auditor.nodeCreated(node("a", 0));
  auditor.nodeReady({ at: 15 * minute, nodeId: "a" });
  auditor.hostBusy({ at: 30 * minute, nodeId: "a" });
  expect(auditor.report(hour)).toMatchObject({ nodeHours: 1, bootNodeHours: 0.25, idleNodeHours: 0.25 });
});

describe("busy nodes stopped", () => {
  test.each([
    { name: "stopped while its job ran", busy: 10, idle: 30, stopped: 20, count: 1 },
    { name: "stopped in the instant in which its job began", busy: 20, idle: 30, stopped: 20, count: 1 },
    { name: "stopped in the instant in which its job ended", busy: 10, idle: 20, stopped: 20, count: 0 },
    { name: "stopped after its job", busy: 10, idle: 15, stopped: 20, count: 0 },
    { name: "a job began on it while it was going", busy: 25, idle: 30, stopped: 20, count: 0 },
  ])("$name: $count", ({ busy, idle, stopped, count }) => {
    const auditor = auditorWith();
    auditor.demand({ at: 0, slots: 4, expiresAt: hour });
    auditor.nodeCreated(node("a", 0));
    auditor.hostBusy({ at: busy * minute, nodeId: "a" });
    auditor.terminateAccepted({ at: stopped * minute, nodeId: "a" });
    auditor.hostIdle({ at: idle * minute, nodeId: "a" });
    expect(auditor.report(hour).busyNodesStopped).toBe(count);
  });

  test("asked to stop twice it counts once, with what happened", () => {
    const auditor = auditorWith();
    auditor.demand({ at: 0, slots: 4, expiresAt: hour });
    auditor.nodeCreated(node("a", 0));
    auditor.hostBusy({ at: 1000, nodeId: "a" });
    auditor.terminateAccepted({ at: 2000, nodeId: "a" });
    auditor.terminateAccepted({ at: 3000, nodeId: "a" });
    const { violations, nodesStopped } = auditor.report(hour);
    expect(violations).toEqual([{ kind: "busy-node-stopped", at: 2000, nodeId: "a", busySince: 1000 }]);
    expect(nodesStopped).toBe(1);
    expect(violations.map((violation) => describeViolation(violation))).toEqual([
      "2.0 s: node a was stopped with a job on it since 1.0 s",
    ]);
  });
});

describe("limits exceeded: three nodes of 4 cores, the third spot and in another array", () => {
  test.each<{ name: string; limit: Partial<AuditedLimit>; count: number }>([
    { name: "cluster nodes", limit: { unit: "nodes", most: 2 }, count: 1 },
    { name: "cluster nodes, just enough", limit: { unit: "nodes", most: 3 }, count: 0 },
    { name: "cluster cores", limit: { unit: "cores", most: 4 }, count: 2 },
    { name: "quota of a constrained size", limit: { unit: "quota-cores", most: 24 }, count: 1 },
    { name: "one array", limit: { most: 1, only: { array: "hpc" } }, count: 1 },
    { name: "an array that nobody is in", limit: { most: 0, only: { array: "gpu" } }, count: 0 },
    { name: "a family", limit: { most: 1, only: { machineTypes: ["Standard_F4s_v2"] } }, count: 1 },
    { name: "regular capacity of a region", limit: { most: 2, only: { spot: false } }, count: 0 },
    { name: "spot capacity of a region", limit: { most: 0, only: { spot: true } }, count: 1 },
  ])("$name: $count", ({ limit, count }) => {
    const auditor = auditorWith({ name: "limit", unit: "nodes", most: 0, ...limit });
    auditor.demand({ at: 0, slots: 100, expiresAt: hour });
    auditor.nodeCreated(node("a", 1000));
    auditor.nodeCreated(node("b", 1000));
    auditor.nodeCreated(
      node("c", 1000, { array: "htc", machineType: "Standard_HB120-4", spot: true, quotaCores: 120 }),
    );
    expect(auditor.report(hour).limitsExceeded).toBe(count);
  });

  test.each<{ name: string; heldUntil?: "gone" | "terminate-accepted"; createdAt: number; count: number }>([
    { name: "a node that is going still holds its quota", createdAt: 15, count: 1 },
    { name: "a node that is gone does not", createdAt: 20, count: 0 },
    {
      name: "a limit that forgets nodes that are going",
      heldUntil: "terminate-accepted",
      createdAt: 15,
      count: 0,
    },
  ])("$name: $count", ({ heldUntil, createdAt, count }) => {
    const auditor = auditorWith({ name: "n", unit: "nodes", most: 1, heldUntil: heldUntil ?? "gone" });
    auditor.demand({ at: 0, slots: 4, expiresAt: hour });
    auditor.nodeCreated(node("a", 0));
    auditor.terminateAccepted({ at: 10 * minute, nodeId: "a" });
    auditor.nodeGone({ at: 20 * minute, nodeId: "a" });
    auditor.nodeCreated(node("b", createdAt * minute));
    expect(auditor.report(hour).limitsExceeded).toBe(count);
  });

  test("a lowered limit counts from the next creation on, with what was there before", () => {
    const auditor = auditorWith({ name: "cluster nodes", unit: "nodes", most: 3 });
    auditor.demand({ at: 0, slots: 100, expiresAt: hour });
    auditor.nodeCreated(node("a", 1000));
    auditor.nodeCreated(node("b", 1000));
    auditor.limitsChanged(2000, [{ name: "cluster nodes", unit: "nodes", most: 1 }]);
    auditor.nodeCreated(node("c", 3000));
    const { violations } = auditor.report(hour);
    expect(violations).toEqual([
      { kind: "limit-exceeded", at: 3000, nodeId: "c", limit: "cluster nodes", most: 1, used: 3 },
    ]);
    expect(violations.map((violation) => describeViolation(violation, 1000))).toEqual([
      "2.0 s: node c brought cluster nodes to 3 of 1",
    ]);
  });
});

describe("nodes beyond demand", () => {
  test.each([
    { name: "5 slots need two nodes of 4 cores, the third is too many", slots: 5, nodes: 3, count: 1 },
    { name: "5 slots need two nodes", slots: 5, nodes: 2, count: 0 },
    { name: "4 slots need one", slots: 4, nodes: 2, count: 1 },
    { name: "nobody asked", slots: 0, nodes: 1, count: 1 },
  ])("$name: $count", ({ slots, nodes, count }) => {
    const auditor = auditorWith();
    auditor.demand({ at: 0, slots, expiresAt: hour });
    for (let index = 0; index < nodes; index++) auditor.nodeCreated(node(`n${index}`, 1000));
    expect(auditor.report(hour).nodesBeyondDemand).toBe(count);
  });

  test("what the record says", () => {
    const auditor = auditorWith();
    auditor.demand({ at: 0, slots: 3, expiresAt: hour });
    auditor.nodeCreated(node("a", 1000));
    auditor.nodeCreated(node("b", 2000));
    const { violations } = auditor.report(hour);
    expect(violations).toEqual([
      {
        kind: "node-beyond-demand",
        at: 2000,
        nodeId: "b",
        slotsAsked: 3,
        nodesNeeded: 1,
        liveNodes: 1,
        liveCores: 4,
      },
    ]);
    expect(violations.map((violation) => describeViolation(violation))).toEqual([
      "2.0 s: node b was created although 1 live nodes with 4 cores met the largest demand in force: 3 slots (1 nodes of its size)",
    ]);
  });

  test.each([
    { name: "stopped", end: (auditor: Auditor) => auditor.terminateAccepted({ at: 2000, nodeId: "a" }) },
    { name: "failed", end: (auditor: Auditor) => auditor.nodeFailed({ at: 2000, nodeId: "a" }) },
    { name: "gone", end: (auditor: Auditor) => auditor.nodeGone({ at: 2000, nodeId: "a" }) },
  ])("a node that is $name may be replaced, once", ({ end }) => {
    const auditor = auditorWith();
    auditor.demand({ at: 0, slots: 4, expiresAt: hour });
    auditor.nodeCreated(node("a", 1000));
    end(auditor);
    auditor.nodeCreated(node("b", 3000));
    expect(auditor.report(hour).nodesBeyondDemand).toBe(0);
    auditor.nodeCreated(node("c", 4000));
    expect(auditor.report(hour).nodesBeyondDemand).toBe(1);
  });

  test("a failed node that is stopped and then gone is taken off once", () => {
    const auditor = auditorWith();
    auditor.demand({ at: 0, slots: 8, expiresAt: hour });
    auditor.nodeCreated(node("a", 1000));
    auditor.nodeFailed({ at: 2000, nodeId: "a" });
    auditor.terminateAccepted({ at: 3000, nodeId: "a" });
    auditor.nodeGone({ at: 4000, nodeId: "a" });
    for (const nodeId of ["b", "c", "d"]) auditor.nodeCreated(node(nodeId, 5000));
    expect(auditor.report(hour).nodesBeyondDemand).toBe(1);
  });

  test.each([
    { name: "replaced by a lower demand within the grace", createdAt: 10 * minute + 300_000, count: 0 },
    { name: "replaced longer ago", createdAt: 10 * minute + 300_001, count: 1 },
  ])("$name: $count", ({ createdAt, count }) => {
    const auditor = auditorWith();
    auditor.demand({ at: 0, slots: 8, expiresAt: hour });
    auditor.demand({ at: 10 * minute, slots: 4, expiresAt: hour });
    auditor.nodeCreated(node("a", 5 * minute));
    auditor.nodeCreated(node("b", createdAt));
    expect(auditor.report(hour).nodesBeyondDemand).toBe(count);
  });

  test.each([
    { name: "expired within the grace", createdAt: 400_000, count: 0 },
    { name: "expired longer ago", createdAt: 400_001, count: 1 },
    { name: "not yet arrived", createdAt: -1, count: 1 },
  ])("$name: $count", ({ createdAt, count }) => {
    const auditor = auditorWith();
    auditor.demand({ at: 0, slots: 4, expiresAt: 100_000 });
    auditor.nodeCreated(node("a", createdAt));
    expect(auditor.report(hour).nodesBeyondDemand).toBe(count);
  });

  test("a shorter grace is an option", () => {
    const auditor = new Auditor({ limits: [], graceSeconds: 10 });
    auditor.demand({ at: 0, slots: 4, expiresAt: 100_000 });
    auditor.nodeCreated(node("a", 110_001));
    expect(auditor.report(hour).nodesBeyondDemand).toBe(1);
  });
});

test("scale-ups are requests, or instants where no request is named; scale-downs are instants", () => {
  const auditor = auditorWith();
  auditor.demand({ at: 0, slots: 100, expiresAt: hour });
  auditor.nodeCreated(node("a", 1000, { requestId: "r1" }));
  auditor.nodeCreated(node("b", 1001, { requestId: "r1" }));
  auditor.nodeCreated(node("c", 1001, { requestId: "r2" }));
  auditor.nodeCreated(node("d", 5000));
  auditor.nodeCreated(node("e", 5000));
  auditor.terminateAccepted({ at: 9000, nodeId: "a" });
  auditor.terminateAccepted({ at: 9000, nodeId: "b" });
  auditor.terminateAccepted({ at: 9500, nodeId: "c" });
  expect(auditor.report(hour)).toMatchObject({ scaleUps: 3, scaleDowns: 2, mostLiveNodes: 5 });
});

test("20,000 nodes under ten limits are audited in a second or two", () => {
  const limits = Array.from({ length: 10 }, (_, index): AuditedLimit => ({
    name: `l${index}`,
    unit: "nodes",
    most: 6000,
  }));
  const auditor = auditorWith(...limits);
  for (let wave = 0; wave < 20; wave++) {
    const at = wave * hour;
    for (let second = 0; second < 3600; second += 5)
      auditor.demand({ at: at + second * 1000, slots: 4000, expiresAt: at + 2 * hour });
    for (let index = 0; index < 1000; index++) {
      auditor.nodeCreated(node(`${wave}-${index}`, at + 1000));
      auditor.terminateAccepted({ at: at + 50 * minute, nodeId: `${wave}-${index}` });
      auditor.nodeGone({ at: at + 55 * minute, nodeId: `${wave}-${index}` });
    }
  }
  const began = processorMs();
  expect(auditor.report(20 * hour)).toMatchObject({ nodesCreated: 20_000, violations: [] });
  expect(processorMs() - began).toBeLessThan(2000);
});
