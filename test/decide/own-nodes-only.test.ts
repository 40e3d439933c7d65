import { describe, expect, test } from "vitest";
import { judgeStops } from "../../src/decide/autostop.ts";
import type { Circumstances, NodeAction } from "../../src/decide/stops/scale-down.ts";
import { judgeNode, whyGivenUp } from "../../src/decide/stops/scale-down.ts";
import type { Node } from "../../src/domain/cluster.ts";
import { nodeId, requestId } from "../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import type { LedgerNode } from "../../src/domain/record.ts";
import { buildCall } from "../support/build-call.ts";
import {
  at,
  buildLedger,
  buildNode,
  buildSnapshot,
  idleSince,
  NOW,
  rememberNode,
} from "../support/build-node.ts";
import { buildState } from "../support/build-record.ts";

/** A trial on a laptop: only nodes that the ledger has a request for are ever stopped. */
const policy = { ...DEFAULT_POLICY, bootTimeoutSeconds: 1800, ownNodesOnly: true as const };
const free: Circumstances = {
  policy,
  now: NOW,
  plan: 7,
  resting: false,
  spare: true,
  reportedIdleAt: NOW,
  busy: false,
};
const asked = { requestId: requestId("r-1") };

interface Case {
  readonly name: string;
  readonly node?: Partial<Node>;
  readonly known: Partial<LedgerNode>;
  /** What becomes of it if we asked for it. */
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

describe("a node that nobody here asked for is left alone; one of our own is not", () => {
  test.each(cases)("$name", ({ node, known, own }) => {
    const shown = buildNode("n1", node);
    const stranger = rememberNode(shown, known);
    expect(judgeNode(shown, { ...stranger, ...asked }, free)).toEqual(own);
    expect(judgeNode(shown, stranger, free)).toEqual({ kind: "none" });
  });

  test("its time to boot is over: neither stopped nor counted against its bucket", () => {
    const shown = buildNode("n1", { phase: "coming" });
    const { firstReadyAt: _never, ...stranger } = rememberNode(shown, { firstSeenAt: at(-1800) });
    expect(judgeNode(shown, stranger, free)).toEqual({ kind: "none" });
    expect(whyGivenUp(shown, stranger, free)).toBeUndefined();
    expect(judgeNode(shown, { ...stranger, ...asked }, free)).toEqual({
      kind: "terminate",
      by: "boot-timeout",
    });
  });

  test.each([false, true])("it asks (unhealthy: %s)", (unhealthy) => {
    const shown = buildNode("n1");
    const verdictOn = (known: Partial<LedgerNode>) => {
      const ledger = buildLedger([rememberNode(shown, known)]);
      const { record, bodies } = buildState({ ledger, seen: buildSnapshot([shown]) });
      return judgeStops(record, bodies, [buildCall("n1", { unhealthy })], policy, NOW).verdicts;
    };
    expect(verdictOn({})).toEqual([
      {
        kind: "needed",
        why: "the autoscaler did not ask for this node, and stops only its own",
        undrain: true,
      },
    ]);
    expect(verdictOn(asked)).toEqual([{ kind: "marked", node: nodeId("n1") }]);
  });
});
