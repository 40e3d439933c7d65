import { describe, expect, test } from "vitest";
import type { Node } from "../../../src/domain/cluster.ts";
import { nodeId } from "../../../src/domain/ids.ts";
import type { NodeVerdict } from "../../../src/domain/node-verdict.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import {
  at,
  buildLedger,
  buildNode,
  buildSnapshot,
  idleSince,
  NOW,
  rememberNode,
  rememberNodes,
} from "../../support/build-node.ts";
import { buildState } from "../../support/build-record.ts";
import { decideOn, targetOf, verdicts } from "./reconcile-stage.ts";

describe("the verdict on every node", () => {
  const unneeded: readonly { name: string; node: Node; known?: object; verdict: NodeVerdict }[] = [
    {
      name: "coming",
      node: buildNode("n1", { phase: "coming" }),
      known: { firstSeenAt: at(-800) },
      verdict: { kind: "coming", bootSecondsLeft: 2800 },
    },
    { name: "KeepAlive", node: buildNode("n1", { keepAlive: true }), verdict: { kind: "keep-alive" } },
    {
      name: "autostop switched off by its configuration",
      node: buildNode("n1", { stopDisabled: true }),
      verdict: { kind: "stop-disabled" },
    },
    {
      name: "idle, not long enough",
      node: buildNode("n1"),
      known: idleSince(at(-40)),
      verdict: { kind: "idle", idleSeconds: 40, idleTimeoutSeconds: 300 },
    },
    { name: "going", node: buildNode("n1", { phase: "going" }), verdict: { kind: "going" } },
    {
      name: "failed, and its busy state is unknown",
      node: buildNode("n1", { phase: "failed", statusMessage: "disk" }),
      verdict: { kind: "failed", status: "disk", wasReady: true },
    },
    { name: "off", node: buildNode("n1", { phase: "off" }), verdict: { kind: "off", status: "Off" } },
    {
      name: "deallocated",
      node: buildNode("n1", { phase: "deallocated" }),
      verdict: { kind: "deallocated" },
    },
    {
      name: "deallocated, with KeepAlive",
      node: buildNode("n1", { phase: "deallocated", keepAlive: true }),
      verdict: { kind: "keep-alive" },
    },
    {
      name: "deallocated, and resting after a start that came to nothing",
      node: buildNode("n1", { phase: "deallocated" }),
      known: { start: { state: "refused", since: at(-100), until: at(1700), message: "no such VM" } },
      verdict: { kind: "deallocated", restsUntil: at(1700), message: "no such VM" },
    },
    {
      name: "off",
      node: buildNode("n1", { phase: "off" }),
      verdict: { kind: "off", status: "Off" },
    },
    {
      name: "asked to stop",
      node: buildNode("n1"),
      known: { draining: { since: at(-90), by: "callback", plan: 5, attempts: 2, sentAt: at(-60) } },
      verdict: { kind: "stopping", attempts: 2 },
    },
    {
      name: "marked by its callback",
      node: buildNode("n1"),
      known: { draining: { since: at(-5), by: "callback", plan: 5, attempts: 0 } },
      verdict: { kind: "draining", by: "callback", until: at(55) },
    },
  ];
  test.each(unneeded)("$name", ({ node, known = {}, verdict }) => {
    const report = [{ hostname: "ip-n1", jobs: [] }];
    const reports = verdict.kind === "idle" ? { report } : {};
    const state = buildState({
      sets: targetOf(0, reports),
      ledger: buildLedger([rememberNode(node, known)]),
    });
    expect(verdicts(decideOn(state, buildSnapshot([node])))).toEqual({ n1: verdict });
  });

  test("busy, though no demand needs it", () => {
    const state = buildState({
      sets: targetOf(0, { report: [{ hostname: "ip-n1", jobs: ["7"] }] }),
      ledger: rememberNodes([buildNode("n1")]),
    });
    expect(verdicts(decideOn(state, buildSnapshot([buildNode("n1")])))).toEqual({ n1: { kind: "busy" } });
  });

  test("needed, and by whom; the ledger remembers when", () => {
    const state = buildState({ sets: targetOf(1), ledger: rememberNodes([buildNode("n1")]) });
    const decision = decideOn(state, buildSnapshot([buildNode("n1")]));
    expect(verdicts(decision)).toEqual({ n1: { kind: "needed", by: ["standard/execute"] } });
    expect(decision.ledger.get(nodeId("n1"))?.lastNeededAt).toBe(NOW);
  });

  // Of an idle timeout of 300 s: once in a fifth where it counts, once in all of it where it does not, by the clock.
  test.each([
    { state: "idle" as const, before: 0, after: 59, noted: false },
    { state: "idle" as const, before: 59, after: 60, noted: true },
    { state: "idle" as const, before: 60, after: 120, noted: true },
    { state: "busy" as const, before: 0, after: 299, noted: false },
    { state: "busy" as const, before: 299, after: 300, noted: true },
  ])(
    "needed while $state, noted at $before s, planned at $after s: noted again is $noted",
    ({ state, before, after: seconds, noted }) => {
      const now = at(seconds);
      const report = [{ hostname: "ip-n1", jobs: state === "busy" ? ["7"] : [] }];
      const known = { busyness: { state, since: at(-900) }, lastNeededAt: at(before) };
      const old = buildState({
        sets: targetOf(1, { report, sentAt: now }),
        ledger: buildLedger([rememberNode(buildNode("n1"), known)]),
        record: { lastGoodLookAt: at(seconds - 1) },
      });
      const { ledger } = decideOn(old, buildSnapshot([buildNode("n1")]), { now });
      expect(ledger.get(nodeId("n1"))?.lastNeededAt).toBe(noted ? now : at(before));
      expect(ledger === old.bodies.ledger).toBe(!noted);
    },
  );

  test("with an idle timeout of no time a needed node is noted once a second", () => {
    const policy = { ...DEFAULT_POLICY, idleTimeoutSeconds: 0 };
    const noted = [0.5, 1].map((seconds) => {
      const known = { busyness: { state: "idle" as const, since: at(-900) }, lastNeededAt: NOW };
      const old = buildState({
        sets: targetOf(1, { report: [{ hostname: "ip-n1", jobs: [] }] }),
        ledger: buildLedger([rememberNode(buildNode("n1"), known)]),
      });
      const { ledger } = decideOn(old, buildSnapshot([buildNode("n1")]), { policy, now: at(seconds) });
      return ledger.get(nodeId("n1"))?.lastNeededAt;
    });
    expect(noted).toEqual([NOW, at(1)]);
  });
});
