import { describe, expect, test } from "vitest";
import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import { machineType } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY, observing } from "../../../src/domain/policy.ts";
import type { Policy } from "../../../src/domain/policy.ts";
import type { Snapshot } from "../../../src/domain/cluster.ts";
import type { Scenario } from "../../support/build-record.ts";
import { buildState, buildTarget, OURS } from "../../support/build-record.ts";
import {
  at,
  buildArray,
  buildLedger,
  buildNode,
  buildNodes,
  buildSnapshot,
  D4,
  EXECUTE,
  idleSince,
  NOW,
  rememberNode,
  rememberNodes,
} from "../../support/build-node.ts";

function decideOn(scenario: Scenario, snapshot: Snapshot, policy: Policy = DEFAULT_POLICY) {
  const { record, bodies } = buildState(scenario);
  return decide(record, bodies, { snapshot, requestNodes: new Map() }, policy, NOW, OURS);
}

const OFF = observing(DEFAULT_POLICY);

describe("what a plan would do in observe mode", () => {
  const hung = buildNode("n2", { phase: "coming" });
  const idle = buildNode("n3");
  const asleep = buildNode("n4", { phase: "deallocated" });
  const scenario: Scenario = {
    sets: { standard: { demands: [buildTarget(0)], report: [{ hostname: "ip-n3", jobs: [] }] } },
    ledger: buildLedger([
      rememberNode(hung, { firstSeenAt: at(-9000) }),
      rememberNode(idle, idleSince(at(-3000))),
    ]),
  };

  test("create, and start what is deallocated", () => {
    const wanted = { sets: { standard: { demands: [buildTarget(5)] } }, ledger: rememberNodes([asleep]) };
    const { plan, record } = decideOn(wanted, buildSnapshot([asleep]), OFF);
    expect(plan).toMatchObject({
      creates: [],
      terminates: [],
      withheld: {
        creates: [{ bucket: { array: EXECUTE, machineType: D4 }, count: 4 }],
        starts: ["n4"],
        terminates: [],
      },
    });
    expect(record.intents).toEqual([]);
  });

  test("stop: a node whose time to boot is over, and one that would be marked first", () => {
    const { plan, ledger } = decideOn(scenario, buildSnapshot([hung, idle]), OFF);
    expect(plan).toMatchObject({
      terminates: [],
      withheld: { creates: [], starts: [], terminates: ["n2", "n3"] },
    });
    expect([...ledger.values()].filter(({ draining }) => draining !== undefined)).toEqual([]);
  });

  test("a plan that acts withholds nothing, and neither does one of a cluster that is not started", () => {
    expect(decideOn(scenario, buildSnapshot([hung, idle])).plan.withheld).toBeUndefined();
    const terminated = buildSnapshot([hung, idle], { state: "Terminated" });
    expect(decideOn(scenario, terminated, OFF).plan.withheld).toBeUndefined();
  });
});

describe("nodes that no demand needs and no report names", () => {
  const nodes = buildNodes("n", 3);
  const needed = { lastNeededAt: at(-1000) };

  test("are noted, with the moment since when the first has not been needed", () => {
    const ledger = buildLedger(
      nodes.map((node, i) => rememberNode(node, i === 0 ? needed : { lastNeededAt: at(-950) })),
    );
    expect(decideOn({ ledger }, buildSnapshot(nodes)).record.unneeded).toEqual({
      nodes: 3,
      since: at(-1000),
      sizes: [{ array: EXECUTE, machineType: D4, nodes: 3 }],
    });
  });

  test("not before 15 minutes: a node that asks by itself has asked by then", () => {
    const ledger = rememberNodes(nodes, { lastNeededAt: at(-899) });
    expect(decideOn({ ledger }, buildSnapshot(nodes)).record.unneeded).toBeUndefined();
  });

  test("not while they are needed, or a job is reported on them, or they are kept from stopping", () => {
    const kept = [
      buildNode("k1", { keepAlive: true }),
      buildNode("k2", { stopDisabled: true }),
      buildNode("k3"),
    ];
    const ledger = rememberNodes(kept);
    const report = [{ hostname: "ip-k3", jobs: ["7"] }];
    const busy = decideOn({ sets: { standard: { report } }, ledger }, buildSnapshot(kept));
    expect(busy.record.unneeded).toBeUndefined();
    const all = { sets: { standard: { demands: [buildTarget(3)] } }, ledger: rememberNodes(nodes) };
    expect(decideOn(all, buildSnapshot(nodes)).record.unneeded).toBeUndefined();
  });

  test("are forgotten with the plan that no longer finds them", () => {
    const unneeded = { nodes: 3, since: at(-1000), sizes: [] };
    expect(decideOn({ record: { unneeded } }, buildSnapshot()).record.unneeded).toBeUndefined();
  });

  test("cost what their kind costs in their region: spot nodes the spot price", () => {
    const both = [...buildNodes("n", 2), ...buildNodes("s", 2, { spot: true })];
    const size = { machineType: machineType("Standard_D4s_v5"), onDemand: 0.25, spot: 0.0625 };
    const prices = {
      currency: "EUR",
      locations: new Map([["westeurope", new Map([["standard_d4s_v5", size]])]]),
      proxies: new Map(),
    };
    const snapshot = buildSnapshot(both, { arrays: [buildArray("execute", { region: "westeurope" })] });
    const { record } = decideOn({ ledger: rememberNodes(both) }, snapshot, { ...DEFAULT_POLICY, prices });
    // 2 x 0.25 + 2 x 0.0625
    expect(record.unneeded?.cost).toEqual({ perHour: 0.625, currency: "EUR", unpriced: 0 });
  });
});
