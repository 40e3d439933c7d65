import { describe, expect, test } from "vitest";
import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import type { Purpose } from "../../../src/domain/bucket.ts";
import { arrayName } from "../../../src/domain/ids.ts";
import type { Policy } from "../../../src/domain/policy.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { timeoutsOf } from "../../../src/domain/timeouts.ts";
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
import { buildState, OURS } from "../../support/build-record.ts";

const policy: Policy = {
  ...DEFAULT_POLICY,
  idleTimeouts: new Map([
    ["hpc", 600],
    ["licensed", 60],
    ["hpc:64", 1200],
  ]),
  bootTimeouts: new Map([["hpc", 7200]]),
};
const inArray: Purpose = { kind: "array" };

describe("which timeouts count for a node", () => {
  test.each([
    { name: "its array is not named", array: "htc", purpose: inArray, idle: 300, boot: 3600 },
    { name: "its array is named", array: "hpc", purpose: inArray, idle: 600, boot: 7200 },
    {
      name: "a dynamic array that is named; its parent's where it says nothing",
      array: "hpc",
      purpose: { kind: "dynamic", array: arrayName("licensed") } as const,
      idle: 60,
      boot: 7200,
    },
    {
      name: "a dynamic array that is not named: its parent's",
      array: "hpc",
      purpose: { kind: "dynamic", array: arrayName("other") } as const,
      idle: 600,
      boot: 7200,
    },
    {
      name: "a generated array of groups that is named",
      array: "hpc",
      purpose: { kind: "group", key: "hpc:64", group: "group-hpc-64-1" } as const,
      idle: 1200,
      boot: 7200,
    },
    {
      name: "a generated array of a dynamic one: that, then its parent",
      array: "hpc",
      purpose: { kind: "group", key: "licensed:64", dynamic: arrayName("licensed") } as const,
      idle: 60,
      boot: 7200,
    },
    {
      name: "neither named",
      array: "htc",
      purpose: { kind: "dynamic", array: arrayName("other") } as const,
      idle: 300,
      boot: 3600,
    },
  ])("$name", ({ array, purpose, idle, boot }) => {
    const node = { array: arrayName(array), purpose };
    expect(timeoutsOf(policy, node)).toEqual({ idleSeconds: idle, bootSeconds: boot });
  });
});

describe("nodes of two arrays in one plan", () => {
  const arrays = [buildArray("hpc"), buildArray("htc")];
  const inHpc = { array: arrayName("hpc") };
  const inHtc = { array: arrayName("htc") };
  const decideOn = (
    nodes: readonly ReturnType<typeof buildNode>[],
    known: object,
    idle: readonly string[],
  ) => {
    const state = buildState({
      sets: { standard: { report: idle.map((hostname) => ({ hostname, jobs: [] })) } },
      ledger: buildLedger(nodes.map((node) => rememberNode(node, known))),
    });
    const observation = { snapshot: buildSnapshot(nodes, { arrays }), requestNodes: new Map() };
    return decide(state.record, state.bodies, observation, policy, NOW, OURS);
  };

  test("idle for 400 s: one is marked, the other stays for now and says its own timeout", () => {
    const nodes = [buildNode("h1", inHpc), buildNode("t1", inHtc)];
    const { plan } = decideOn(nodes, idleSince(at(-400)), ["ip-h1", "ip-t1"]);
    expect(Object.fromEntries(plan.nodes)).toEqual({
      h1: { kind: "idle", idleSeconds: 400, idleTimeoutSeconds: 600 },
      t1: { kind: "draining", by: "idle", reportAfter: NOW, lastReportAt: NOW },
    });
  });

  test("not Ready after 4000 s: one is given up, the other has 3200 s left", () => {
    const nodes = [
      buildNode("h1", { ...inHpc, phase: "coming" }),
      buildNode("t1", { ...inHtc, phase: "coming" }),
    ];
    const { plan } = decideOn(nodes, { firstSeenAt: at(-4000) }, []);
    expect(plan.terminates).toEqual(["t1"]);
    expect(Object.fromEntries(plan.nodes)["h1"]).toEqual({
      kind: "coming",
      bootSecondsLeft: 3200,
    });
  });
});
