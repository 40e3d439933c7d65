import { describe, expect, test } from "vitest";
import { arrayName } from "../../../src/domain/ids.ts";
import type { Policy } from "../../../src/domain/policy.ts";
import {
  at,
  buildArray,
  buildBucket,
  buildLedger,
  buildNode,
  buildNodes,
  buildSnapshot,
  D4,
  EXECUTE,
  rememberNode,
  rememberNodes,
} from "../../support/build-node.ts";
import { buildJob, buildTarget } from "../../support/build-record.ts";
import { OBSERVE, TwoFleets } from "./two-fleets.ts";

/** A set that is valid for a day. */
const lasting = { expiresAt: at(86_400), intervalSeconds: 86_400 };

describe("a node of the virtual fleet", () => {
  test("is made once, boots for five minutes where no boot was seen, and is not asked for again", () => {
    const fleets = new TwoFleets({ sets: { slurm: { ...lasting, demands: [buildTarget(2)] } } });
    const first = fleets.plan(0, buildSnapshot());
    expect(first.creates).toEqual([]);
    expect(first.virtual?.creates).toMatchObject([{ bucket: { array: EXECUTE, machineType: D4 }, count: 2 }]);
    expect(fleets.record.intents).toEqual([]);
    expect(fleets.plan(60, buildSnapshot()).virtual).toEqual({ creates: [], starts: [], terminates: [] });
    expect(fleets.phases(299)).toEqual({ "virtual-0": "coming", "virtual-1": "coming" });
    expect(fleets.phases(300)).toEqual({ "virtual-0": "ready", "virtual-1": "ready" });
  });

  test("boots as long as the median of the real boots of its size", () => {
    const real = buildNodes("r", 3);
    const ledger = buildLedger(
      real.map((node, i) =>
        rememberNode(node, { firstSeenAt: at(-3600), firstReadyAt: at(-3600 + [90, 120, 400][i]!) }),
      ),
    );
    const fleets = new TwoFleets({ sets: { slurm: { ...lasting, demands: [buildTarget(4)] } }, ledger });
    fleets.plan(0, buildSnapshot(real));
    expect(fleets.phases(119)).toMatchObject({ "virtual-0": "coming" });
    expect(fleets.phases(120)).toMatchObject({ "virtual-0": "ready" });
  });

  test("is idle once no job is placed on it, and is stopped after the idle timeout", () => {
    const real = buildNodes("r", 2);
    const busy = [
      { hostname: "ip-r1", jobs: ["1"] },
      { hostname: "ip-r2", jobs: ["2"] },
    ];
    const idle = busy.map(({ hostname }) => ({ hostname, jobs: [] }));
    const fleets = new TwoFleets({
      sets: { slurm: { ...lasting, report: busy } },
      ledger: rememberNodes(real),
    });
    fleets.plan(0, buildSnapshot(real));
    expect(fleets.phases(0)).toEqual({ r1: "ready", r2: "ready" });
    fleets.push({ slurm: { ...lasting, sentAt: at(60), report: idle } });
    for (let seconds = 60; seconds <= 300; seconds += 60) fleets.plan(seconds, buildSnapshot(real));
    expect(fleets.phases(300)).toEqual({ r1: "ready", r2: "ready" });
    // Idle since 60: marked at 360, when the five minutes are over, and stopped after one more observation.
    expect(fleets.plan(360, buildSnapshot(real)).virtual?.terminates).toEqual([]);
    expect(fleets.plan(420, buildSnapshot(real)).virtual?.terminates).toEqual(["r1", "r2"]);
    expect(fleets.phases(421)).toEqual({ r1: "going", r2: "going" });
    fleets.plan(480, buildSnapshot(real));
    expect(fleets.fleet.nodes).toEqual([]);
    expect(fleets.record.intents).toEqual([]);
  });
});

test("a node of an array with Deallocate is deallocated, holds its quota, and is started before a new one is made; it ends after its time", () => {
  const real = buildNodes("r", 2);
  const [quota] = [{ quotaCores: 100, consumedCores: 8 }];
  const bucket = { ...buildBucket(), familyQuota: quota };
  const seen = buildSnapshot(real, {
    arrays: [buildArray("execute", { deallocates: true, buckets: [bucket] })],
  });
  const idle = ["ip-r1", "ip-r2"].map((hostname) => ({ hostname, jobs: [] }));
  const fleets = new TwoFleets({
    sets: { slurm: { ...lasting, report: idle } },
    ledger: rememberNodes(real),
  });
  const policy = { ...OBSERVE, deallocatedTimeout: { every: 3600, byArray: new Map() } };
  for (let seconds = 0; seconds <= 360; seconds += 60) fleets.plan(seconds, seen, policy);
  expect(fleets.phases(400)).toEqual({ r1: "going", r2: "going" });
  expect(fleets.phases(460)).toEqual({ r1: "deallocated", r2: "deallocated" });
  fleets.push({ slurm: { ...lasting, sentAt: at(500), report: idle, demands: [buildTarget(1)] } });
  const { virtual } = fleets.plan(500, seen, policy);
  expect(virtual).toMatchObject({ creates: [], starts: ["r1"] });
  expect(fleets.phases(501)).toEqual({ r1: "coming", r2: "deallocated" });
  expect(fleets.phases(900)).toEqual({ r1: "ready", r2: "deallocated" });
  for (let seconds = 900; seconds <= 4200; seconds += 60) fleets.plan(seconds, seen, policy);
  expect(fleets.phases(4260)).toEqual({ r1: "ready" });
});

describe("jobs that the scheduler has placed", () => {
  const report = (...hosts: readonly (readonly [string, readonly string[]])[]) =>
    hosts.map(([hostname, jobs]) => ({ hostname, jobs }));

  test("run on a virtual node of the same kind, and stay there", () => {
    const fleets = new TwoFleets({ sets: { slurm: { ...lasting, demands: [buildTarget(2)] } } });
    fleets.plan(0, buildSnapshot());
    const [one, two] = buildNodes("r", 2);
    if (one === undefined || two === undefined) throw new Error("two nodes");
    fleets.push({ slurm: { ...lasting, sentAt: at(400), report: report(["ip-r2", ["7"]]) } });
    fleets.plan(400, buildSnapshot([one, two]));
    expect(fleets.fleet.moved).toEqual([{ real: "r2", to: "virtual-0" }]);
    fleets.push({
      slurm: { ...lasting, sentAt: at(460), report: report(["ip-r1", ["8"]], ["ip-r2", ["7"]]) },
    });
    fleets.plan(460, buildSnapshot([one, two]));
    expect(fleets.fleet.moved).toEqual([
      { real: "r1", to: "virtual-1" },
      { real: "r2", to: "virtual-0" },
    ]);
  });

  test("get a node where the virtual fleet has none of the kind", () => {
    const fleets = new TwoFleets({ sets: { slurm: lasting } });
    fleets.plan(0, buildSnapshot());
    const real = buildNode("r1");
    const placed = [{ hostname: "ip-r1", iterations: 4 }];
    fleets.push({ slurm: { ...lasting, demands: [buildJob("7", 4, { placed })] } });
    expect(fleets.plan(60, buildSnapshot([real])).virtual?.creates).toMatchObject([{ count: 1 }]);
    fleets.plan(120, buildSnapshot([real]));
    expect(fleets.fleet.moved).toEqual([{ real: "r1", to: "virtual-0" }]);
    expect(fleets.fleet.nodes).toHaveLength(1);
  });
});

describe("beside arrays that act", () => {
  const other = arrayName("other");
  const arrays = [buildArray(), buildArray("other")];
  const mixed: Policy = { ...OBSERVE, arrayModes: new Map([[other, "act"]]) };

  test("only observed arrays have virtual nodes, and an array that is switched to act loses them", () => {
    const real = [...buildNodes("r", 2), ...buildNodes("o", 1, { array: other })];
    const fleets = new TwoFleets({
      sets: { slurm: { ...lasting, demands: [buildTarget(3)] } },
      ledger: rememberNodes(real),
    });
    fleets.plan(0, buildSnapshot(real, { arrays }), mixed);
    expect(fleets.phases(0)).toEqual({ r1: "ready", r2: "ready", "virtual-0": "coming" });
    fleets.plan(60, buildSnapshot(real, { arrays }), { ...OBSERVE, mode: "act" });
    expect(fleets.fleet).toMatchObject({ arrays: [], nodes: [] });
  });
});
