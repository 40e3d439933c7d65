import { describe, expect, test } from "vitest";
import { Bench, htc, pick, start } from "./fixture.ts";

describe("the life of a node", () => {
  test.each([
    {
      name: "is in Allocation at first",
      after: 9,
      status: "Allocation",
      state: undefined,
      hostname: undefined,
    },
    {
      name: "is Acquiring while it waits for its VM",
      after: 10,
      status: "Acquiring",
      state: undefined,
      hostname: undefined,
    },
    {
      name: "is Preparing while software installs",
      after: 40,
      status: "Preparing",
      state: "Configuration",
      hostname: "ip-0A000004",
    },
    { name: "is Ready in the end", after: 100, status: "Ready", state: "Started", hostname: "ip-0A000004" },
  ])("$name", ({ after, status, state, hostname }) => {
    const bench = new Bench();
    bench.create([{ nodearray: "htc", count: 1 }]);
    bench.pass(after);
    expect(bench.nodes()[0]).toMatchObject({ Status: status, TargetState: "Started" });
    expect(bench.nodes()[0]?.["State"]).toBe(state);
    expect(bench.nodes()[0]?.["Hostname"]).toBe(hostname);
  });

  test("a Ready node has every field that clients read", () => {
    const bench = new Bench();
    bench.create([{ nodearray: "hpc", count: 1, placementGroupId: "pg0" }]);
    bench.pass(100);
    expect(bench.nodes()[0]).toEqual({
      Name: "hpc-1",
      NodeId: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
      ClusterName: "demo",
      Template: "hpc",
      MachineType: "Standard_HB120rs_v3",
      CoreCount: 120,
      Memory: 448,
      Region: "westeurope",
      SubnetId: "example-rg/example-vnet/compute",
      Interruptible: false,
      KeepAlive: false,
      Status: "Ready",
      Configuration: {},
      TargetState: "Started",
      State: "Started",
      PlacementGroupId: "pg0",
      InstanceId: expect.any(String),
      PrivateIp: "10.0.0.4",
      Hostname: "ip-0A000004",
    });
  });

  test("a terminated node is Terminating and then gone from every list", () => {
    const bench = new Bench();
    bench.create([{ nodearray: "htc", count: 1 }], "r1");
    bench.pass(100);
    bench.terminate({ ids: pick(bench.nodes(), "NodeId") });
    bench.pass(19);
    expect(bench.nodes()[0]).toMatchObject({ Status: "Terminating", TargetState: "Terminated" });
    bench.pass(1);
    expect(bench.nodes()).toEqual([]);
    expect(bench.get("/clusters/demo/nodes").body).toEqual({ nodes: [] });
    expect(bench.get("/clusters/demo/nodes", { request_id: "r1" }).body).toMatchObject({ nodes: [] });
  });

  test("terminating during the boot ends the boot", () => {
    const bench = new Bench();
    bench.create([{ nodearray: "htc", count: 1 }]);
    bench.pass(50);
    bench.terminate({ ids: pick(bench.nodes(), "NodeId") });
    bench.pass(1000);
    expect(bench.nodes()).toEqual([]);
    expect(bench.eventsOf("node-ready")).toEqual([]);
  });

  test("a terminated record stays listed as long as the option says", () => {
    const bench = new Bench({ quirks: { retainedTerminatedSeconds: 30 } });
    bench.create([{ nodearray: "htc", count: 1 }]);
    bench.terminate({ ids: pick(bench.nodes(), "NodeId") });
    bench.pass(49);
    expect(bench.nodes()[0]).toMatchObject({
      Name: "htc-1",
      Status: "Terminated",
      TargetState: "Terminated",
    });
    expect(bench.nodes()[0]?.["PrivateIp"]).toBeUndefined();
    bench.pass(1);
    expect(bench.nodes()).toEqual([]);
  });

  test("a head node stays listed as Off", () => {
    const headNodes = [{ name: "scheduler", machineType: "Standard_D4s_v3", region: "westeurope" }];
    const bench = new Bench({ quirks: { headNodesInStatus: true } }, { headNodes });
    expect(bench.nodes()[0]).toMatchObject({ Name: "scheduler", Template: "scheduler", Status: "Ready" });
    bench.terminate({ names: ["scheduler"] });
    bench.pass(1000);
    expect(bench.nodes()[0]).toMatchObject({ Name: "scheduler", Status: "Off" });
  });

  test("a node that never boots stays in Acquiring and says what it waits for", () => {
    const bench = new Bench({ neverBootShare: 1 });
    bench.create([{ nodearray: "htc", count: 1 }]);
    bench.pass(1_000_000);
    expect(bench.nodes()[0]).toMatchObject({ Status: "Acquiring", StatusMessage: "Waiting for capacity" });
  });

  test("a node whose installation fails is Failed, in State Configuration, and says when", () => {
    const bench = new Bench({ bootFailureShare: 1 });
    bench.create([{ nodearray: "htc", count: 1 }]);
    bench.pass(100);
    expect(bench.nodes()[0]).toMatchObject({
      Status: "Failed",
      State: "Configuration",
      TargetState: "Started",
      PhaseFailed: true,
      PhaseMap: {
        "Cloud.AwaitBootup": {
          Status: "Failed",
          StartTime: { $date: "2026-01-10T10:00:40.000+00:00" },
          EndTime: { $date: "2026-01-10T10:01:40.000+00:00" },
          Message: "Timeout awaiting system boot-up",
        },
      },
    });
  });

  test("a failed termination leaves a node that can be terminated again", () => {
    const bench = new Bench({ terminationFailureShare: 0.5, seed: 3 });
    bench.create([{ nodearray: "htc", count: 40 }]);
    bench.pass(100);
    bench.terminate({ ids: pick(bench.nodes(), "NodeId") });
    bench.pass(20);
    const failed = bench.nodes();
    expect(failed.length).toBeGreaterThan(5);
    expect(failed.length).toBeLessThan(35);
    expect(failed[0]).toMatchObject({ Status: "Failed", TargetState: "Terminated" });
    for (let round = 0; round < 30; round++) {
      bench.terminate({ ids: pick(bench.nodes(), "NodeId") });
      bench.pass(20);
    }
    expect(bench.nodes()).toEqual([]);
  });

  test("durations of an array override the global ones", () => {
    const quick = { ...htc, timings: { secondsToPrepare: 5 } };
    const bench = new Bench({}, { arrays: [quick] });
    bench.create([{ nodearray: "htc", count: 1 }]);
    bench.pass(45);
    expect(pick(bench.nodes(), "Status")).toEqual(["Ready"]);
  });

  test("jitter spreads the boot around its length", () => {
    const bench = new Bench({ timings: { ...timingsWithJitter } });
    bench.create([{ nodearray: "htc", count: 200 }]);
    bench.pass(1000);
    const ready = bench.eventsOf("node-ready").map((event) => (event.at - start) / 1000);
    expect(ready).toHaveLength(200);
    expect(Math.min(...ready)).toBeGreaterThanOrEqual(80);
    expect(Math.max(...ready)).toBeLessThanOrEqual(120);
    expect(Math.max(...ready) - Math.min(...ready)).toBeGreaterThan(15);
  });
});

const timingsWithJitter = {
  secondsToAllocate: 10,
  secondsToAcquire: 30,
  secondsToPrepare: 60,
  secondsToTerminate: 20,
  jitter: 0.2,
};
