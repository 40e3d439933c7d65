import { describe, expect, test } from "vitest";
import { arrayName } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY, observing } from "../../../src/domain/policy.ts";
import {
  at,
  buildArray,
  buildLedger,
  buildNode,
  buildSnapshot,
  idleSince,
  NOW,
  rememberNode,
} from "../../support/build-node.ts";
import { buildState, buildTarget } from "../../support/build-record.ts";
import { countVerdicts, created, decideOn, verdicts } from "./reconcile-stage.ts";

describe("nothing may be changed", () => {
  const stuck = buildNode("n1", { phase: "going", status: "Failed" });
  const hung = buildNode("n2", { phase: "coming" });
  const idle = buildNode("n3");
  const nodes = [stuck, hung, idle];
  const ledger = buildLedger([
    rememberNode(stuck),
    rememberNode(hung, { firstSeenAt: at(-9000) }),
    rememberNode(idle, idleSince(at(-3000))),
  ]);
  const report = [{ hostname: "ip-n3", jobs: [] }];
  const state = buildState({
    sets: { standard: { demands: [buildTarget(8, { array: arrayName("viz") })], report } },
    ledger,
  });
  const arrays = [buildArray(), buildArray("viz")];
  const started = buildSnapshot(nodes, { arrays });

  test("where everything is in order these nodes would go, and eight would be created", () => {
    const decision = decideOn(state, started);
    expect(decision.plan.terminates).toEqual(["n1", "n2"]);
    expect(verdicts(decision)["n3"]).toEqual({
      kind: "draining",
      by: "idle",
      reportAfter: NOW,
      lastReportAt: NOW,
    });
    expect(created(decision)).toEqual(["8 viz/Standard_D4s_v5"]);
  });

  test.each([
    {
      name: "autoscaling is switched off",
      snapshot: started,
      policy: observing(DEFAULT_POLICY),
    },
    {
      name: "the cluster is terminated",
      snapshot: { ...started, state: "Terminated" },
      policy: DEFAULT_POLICY,
    },
    {
      name: "the cluster is meant to be terminated",
      snapshot: { ...started, targetState: "Terminated" },
      policy: DEFAULT_POLICY,
    },
    {
      name: "the cluster is still starting",
      snapshot: { ...started, state: "Starting" },
      policy: DEFAULT_POLICY,
    },
  ])("$name", ({ snapshot, policy }) => {
    const decision = decideOn(state, snapshot, { policy });
    expect(created(decision)).toEqual([]);
    expect(decision.plan.terminates).toEqual([]);
    expect(decision.record.intents).toEqual([]);
    expect(decision.record.backoffs).toEqual([]);
    expect([...decision.ledger.values()].filter((node) => node.draining !== undefined)).toEqual([]);
    expect(verdicts(decision)["n3"]).toMatchObject({
      kind: "idle",
      idleSeconds: 3000,
      idleTimeoutSeconds: 300,
    });
  });

  test.each([
    {
      name: "our configuration does not name the array",
      more: arrays,
      policy: { ...DEFAULT_POLICY, nodearrays: [arrayName("viz")] },
    },
    {
      name: "CycleCloud's configuration of the array says no",
      more: [buildArray("execute", { autoscaled: false }), buildArray("viz")],
      policy: DEFAULT_POLICY,
    },
  ])("on an array that is not ours: $name", ({ more, policy }) => {
    const decision = decideOn(state, { ...started, arrays: more }, { policy });
    expect(decision.plan.terminates).toEqual([]);
    expect(countVerdicts(decision)).toEqual({ "not-managed": 3 });
    expect(created(decision)).toEqual(["8 viz/Standard_D4s_v5"]);
  });
});
