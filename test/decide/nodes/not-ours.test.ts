import { describe, expect, test } from "vitest";
import { describeTroubles } from "../../../src/app/describe/describe-troubles.ts";
import { judgeStops } from "../../../src/decide/autostop/judge-stops.ts";
import { explainNode } from "../../../src/decide/explain/explain-node.ts";
import type { NodeAction } from "../../../src/decide/stops/scale-down.ts";
import { judgeNode, whyGivenUp } from "../../../src/decide/stops/scale-down.ts";
import type { Node } from "../../../src/domain/cluster.ts";
import { arrayName, nodeId } from "../../../src/domain/ids.ts";
import type { NodeVerdict } from "../../../src/domain/node-verdict.ts";
import type { Plan } from "../../../src/domain/plan.ts";
import { DEFAULT_POLICY, type Policy } from "../../../src/domain/policy.ts";
import type { LedgerNode } from "../../../src/domain/ledger.ts";
import { buildCall } from "../../support/build-call.ts";
import {
  at,
  buildLedger,
  buildNode,
  buildSnapshot,
  EXECUTE,
  idleSince,
  NOW,
  notOurs,
  rememberNode,
} from "../../support/build-node.ts";
import { buildState } from "../../support/build-record.ts";
import { free as FREE, judgeAlone, standingAlone } from "../stops/node-rows.ts";

type Circumstances = Parameters<typeof judgeNode>[3];

/** Nodes of other tools stand in an array that acts. */
const policy: Policy = { ...DEFAULT_POLICY, bootTimeoutSeconds: 1800 };
const exclusive: Policy = { ...policy, exclusiveArrays: [EXECUTE] };
const free: Circumstances = { ...FREE, policy };
const WHY = "not ours: another tool made it, and exclusiveNodearrays does not cover execute";

interface Case {
  readonly name: string;
  readonly node?: Partial<Node>;
  readonly known: Partial<LedgerNode>;
  /** What becomes of it if it is ours. */
  readonly own: NodeAction;
}

const cases: readonly Case[] = [
  { name: "idle for long", known: idleSince(at(-900)), own: { kind: "mark", by: "idle" } },
  {
    name: "failed, and reported idle",
    node: { phase: "failed" },
    known: {},
    own: { kind: "mark", by: "failed" },
  },
  {
    name: "stuck on its way out",
    node: { phase: "going", status: "Failed" },
    known: {},
    own: { kind: "terminate", by: "stuck" },
  },
];

describe("a node of another tool is left alone; one of ours is not", () => {
  test.each(cases)("$name", ({ node, known, own }) => {
    const shown = buildNode("n1", node);
    const ours = rememberNode(shown, known);
    const stranger = notOurs(ours);
    expect(judgeAlone(shown, ours, free)).toEqual(own);
    expect(judgeAlone(shown, stranger, free)).toEqual({ kind: "none" });
    expect(judgeAlone(shown, { ...stranger, keyId: "k1" }, free)).toEqual(own);
    expect(judgeAlone(shown, stranger, { ...free, policy: exclusive })).toEqual(own);
    const all = { ...policy, exclusiveArrays: true as const };
    expect(judgeAlone(shown, stranger, { ...free, policy: all })).toEqual(own);
    const elsewhere = { ...policy, exclusiveArrays: [arrayName("viz")] };
    expect(judgeAlone(shown, stranger, { ...free, policy: elsewhere })).toEqual({ kind: "none" });
  });

  test("its time to boot is over: neither stopped nor counted against its bucket", () => {
    const shown = buildNode("n1", { phase: "coming" });
    const { firstReadyAt: _never, ...ours } = rememberNode(shown, { firstSeenAt: at(-1800) });
    expect(judgeAlone(shown, notOurs(ours), free)).toEqual({ kind: "none" });
    expect(
      whyGivenUp(shown, notOurs(ours), standingAlone(shown, notOurs(ours), {}, policy), free),
    ).toBeUndefined();
    expect(judgeAlone(shown, ours, free)).toEqual({ kind: "terminate", by: "boot-timeout" });
  });

  test("deallocated: it is not started, because we could not stop it again", () => {
    const shown = buildNode("n1", { phase: "deallocated" });
    const excluded = (known: LedgerNode, by: Policy) =>
      standingAlone(shown, known, {}, by).kind !== "startable";
    const ours = rememberNode(shown, { deallocated: true });
    expect(excluded(ours, policy)).toBe(false);
    expect(excluded(notOurs(ours), policy)).toBe(true);
    expect(excluded(notOurs(ours), exclusive)).toBe(false);
  });

  test.each([false, true])("it asks (unhealthy: %s)", (unhealthy) => {
    const shown = buildNode("n1");
    const verdictOn = (known: LedgerNode) => {
      const { record, bodies } = buildState({ ledger: buildLedger([known]), seen: buildSnapshot([shown]) });
      return judgeStops(record, bodies, [buildCall("n1", { unhealthy })], policy, NOW).verdicts;
    };
    expect(verdictOn(notOurs(rememberNode(shown)))).toEqual([{ kind: "needed", why: WHY, undrain: true }]);
    expect(verdictOn(rememberNode(shown))).toEqual([{ kind: "marked", node: nodeId("n1") }]);
  });
});

describe("what answers say about it", () => {
  const shown = buildNode("n1");
  const planWith = (verdict: NodeVerdict): Plan => ({
    number: 7,
    at: NOW,
    creates: [],
    terminates: [],
    demands: [],
    nodes: new Map([[shown.nodeId, verdict]]),
  });
  const troublesOf = (known: LedgerNode, verdict: NodeVerdict, by: Policy) => {
    const seen = buildSnapshot([shown]);
    const { record, bodies } = buildState({ ledger: buildLedger([known]), seen });
    return describeTroubles(record, { ...bodies, plan: planWith(verdict) }, [], NOW, NOW, undefined, by);
  };
  const idle: NodeVerdict = { kind: "idle", idleSeconds: 3500, idleTimeoutSeconds: 300 };
  const known = notOurs(rememberNode(shown));

  test("nodes that no demand needs, in an array that acts, are a trouble that says what to do", () => {
    expect(troublesOf(known, idle, policy)).toEqual([
      {
        kind: "nodes-not-ours",
        text: "execute-n1: not needed, and not ours: the autoscaler never stops it. Stop it in CycleCloud; or, if no other tool manages the node array, name it in exclusiveNodearrays",
        count: 1,
      },
    ]);
  });

  test.each([
    { name: "one of ours", troubles: () => troublesOf(rememberNode(shown), idle, policy) },
    { name: "an exclusive array", troubles: () => troublesOf(known, idle, exclusive) },
    { name: "an observed array", troubles: () => troublesOf(known, idle, { ...policy, mode: "observe" }) },
    { name: "a busy node", troubles: () => troublesOf(known, { kind: "busy" }, policy) },
    {
      name: "needed 14 minutes ago",
      troubles: () => troublesOf({ ...known, lastNeededAt: at(-840) }, idle, policy),
    },
  ])("no trouble: $name", ({ troubles }) => {
    expect(troubles()).toEqual([]);
  });

  test.each([
    { known, rules: policy, line: WHY },
    { known: { ...known, keyId: "k1" }, rules: policy, line: "ours: it carries our stop URL" },
    { known: rememberNode(shown), rules: policy, line: "ours: our request made it" },
    { known, rules: exclusive, line: "ours: exclusiveNodearrays covers execute" },
  ])("explain node says: $line", ({ known: node, rules, line }) => {
    const told = explainNode(planWith(idle), buildLedger([node]), "n1", { rules });
    expect(told.kind === "node" ? told.text.split("\n")[2] : told.kind).toBe(line);
  });
});
