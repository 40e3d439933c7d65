import { expect } from "vitest";
import type { NodeAction } from "../../../src/decide/stops/scale-down.ts";
import { judgeNode } from "../../../src/decide/stops/scale-down.ts";
import { standingsOf } from "../../../src/decide/nodes/standing.ts";
import type { NodeStanding } from "../../../src/domain/node-standing.ts";
import { standingIn } from "../../../src/domain/node-standing.ts";
import type { Node, Snapshot } from "../../../src/domain/cluster.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { Draining, LedgerNode } from "../../../src/domain/ledger.ts";
import { at, buildLedger, buildSnapshot, idleSince, NOW, rememberNode } from "../../support/build-node.ts";

type Circumstances = Parameters<typeof judgeNode>[3];

/*
 * Rows of tables: a node, what is known of it, and what scale-down does with it.
 */

export const policy = DEFAULT_POLICY;

/** Spare, reported idle just now, nothing in the way. */
export const free: Circumstances = {
  policy,
  now: NOW,
  plan: 7,
  resting: false,
  spare: true,
  reportedIdleAt: NOW,
  busy: false,
  kept: false,
  ends: false,
};

export const mark = (more: Partial<Draining> = {}): { readonly draining: Draining } => ({
  draining: { since: at(-30), by: "idle", plan: 6, attempts: 0, ...more },
});

export const silent = { reportedIdleAt: undefined };
export const keptAlive = { keepAlive: true };
export const idle = idleSince(at(-300));

export interface Row {
  readonly name: string;
  readonly known?: Partial<LedgerNode>;
  readonly around?: Partial<Circumstances>;
  readonly node?: Partial<Node>;
  readonly action: NodeAction;
}

export const none = { kind: "none" } as const;
export const terminate = (by: Draining["by"]) => ({ kind: "terminate", by }) as const;

/** The standing of a node that is alone in its cluster. */
export function standingAlone(
  node: Node,
  known: LedgerNode,
  more: Partial<Snapshot> = {},
  by = policy,
): NodeStanding {
  const seen = {
    snapshot: buildSnapshot([node], more),
    ledger: buildLedger([known]),
    open: new Set<never>(),
  };
  return standingIn(standingsOf(seen, by, NOW), node.nodeId);
}

/** What scale-down does with such a node. */
export const judgeAlone = (node: Node, known: LedgerNode, around: Circumstances): NodeAction =>
  judgeNode(node, known, standingAlone(node, known, {}, around.policy), around);

export function check(node: Node, { known = {}, around = {}, action }: Row): void {
  expect(judgeAlone(node, rememberNode(node, known), { ...free, ...around })).toEqual(action);
}
