import { describe, expect, test } from "vitest";
import { Bench, withNodes } from "./fixture.ts";

describe("the summary", () => {
  test("adds up billed hours and costs from the VM's start until it is gone", () => {
    const bench = new Bench();
    bench.create([
      { nodearray: "htc", count: 2 },
      { nodearray: "hpc", count: 1 },
    ]);
    bench.pass(40 + 1800);
    bench.terminate({ names: ["htc-1"] });
    bench.pass(1800);
    const summary = bench.simulator.summarize();
    const [gone, live] = [1820 / 3600, 1];
    expect(summary).toMatchObject({ nodesByStatus: { Ready: 2 }, nodesCreated: 3 });
    expect(summary.nodeHours).toBeCloseTo(gone + 2 * live);
    expect(summary.coreHours).toBeCloseTo(2 * gone + 2 * live + 120 * live);
    expect(summary.cost).toBeCloseTo(0.1 * (gone + live) + 4 * live);
    expect(summary.byMachineType["Standard_F2s_v2"]?.nodeHours).toBeCloseTo(gone + live);
  });

  test("bills nothing for a record that is only retained", () => {
    const bench = withNodes(1, { quirks: { retainedTerminatedSeconds: 7200 } });
    bench.terminate({ names: ["htc-1"] });
    bench.pass(3600);
    expect(bench.simulator.summarize()).toMatchObject({ nodesByStatus: { Terminated: 1 } });
    expect(bench.simulator.summarize().nodeHours).toBeCloseTo(80 / 3600);
  });

  test("counts the most status calls in any 60 s", () => {
    const bench = new Bench();
    for (let call = 0; call < 20; call++) {
      bench.get("/clusters/demo/status");
      bench.pass(call < 10 ? 10 : 5);
    }
    expect(bench.simulator.summarize()).toMatchObject({ statusCalls: 20, mostStatusCallsIn60Seconds: 11 });
  });
});
