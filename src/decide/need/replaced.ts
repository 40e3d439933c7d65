import type { ArrayName, NodeId } from "../../domain/ids.ts";
import { isOurs } from "../../domain/exclusive.ts";
import type { LedgerNode } from "../../domain/ledger.ts";
import { actsOn } from "../../domain/mode.ts";
import type { NodeStanding } from "../../domain/node-standing.ts";
import { isUp, standingIn } from "../../domain/node-standing.ts";
import { stillInFlight } from "../../domain/record.ts";
import { compareText } from "../../domain/text.ts";
import { pendingCreates } from "../intents/create-requests.ts";
import { arrayOf, OldNodes } from "../world/old-nodes.ts";
import type { ToWeigh } from "./weigh.ts";

/** This share of an array's nodes is replaced at a time, and at least one. */
const SHARE = 0.1;

type Asked = Pick<ToWeigh, "record" | "snapshot" | "ledger" | "standings" | "policy"> & {
  readonly wanted: Pick<ToWeigh["wanted"], "demands" | "dynamics">;
};

/**
 * The idle nodes with old attributes that do not count for the demand, so that others are made and they stop as nodes that it can do without
 * (docs/protocol.md, Replacing old nodes). Of an array a few at a time, and none while one of its nodes is on its way or goes.
 */
export function replacedNow(asked: Asked, isIdle: (known: LedgerNode) => boolean): ReadonlySet<NodeId> {
  const { snapshot, ledger, standings, policy, wanted } = asked;
  const old = new OldNodes(wanted.demands, wanted.dynamics);
  if (!old.replaces) return NO_NODES;
  const counts = new Map<ArrayName, number>();
  const moving = comingIn(asked);
  const idle: LedgerNode[] = [];
  for (const node of snapshot.nodes) {
    const known = ledger.get(node.nodeId);
    if (known === undefined) continue;
    const array = arrayOf(known);
    const standing = standingIn(standings, node.nodeId);
    if (MOVING.has(standing.kind)) moving.add(array);
    if (!isUp(standing)) continue;
    counts.set(array, (counts.get(array) ?? 0) + 1);
    const mayStop = !node.keepAlive && node.stopDisabled !== true && standing.kind === "up";
    const isActing = actsOn(policy, known.array) && isOurs(known, policy);
    if (mayStop && isActing && isIdle(known) && old.isReplaced(node, known)) idle.push(known);
  }
  const replaced = new Set<NodeId>();
  for (const [array, nodes] of Map.groupBy(idle, arrayOf)) {
    if (moving.has(array)) continue;
    const most = Math.max(1, Math.floor((counts.get(array) ?? 0) * SHARE));
    for (const { nodeId } of nodes.sort(inTurn).slice(0, most)) replaced.add(nodeId);
  }
  return replaced;
}

/** On its way, or on its way out: what comes in its place may not be asked for yet. */
const MOVING: ReadonlySet<NodeStanding["kind"]> = new Set(["coming", "starting", "stopping", "going"]);

const NO_NODES: ReadonlySet<NodeId> = new Set();

/** Those that are marked first, so that plans choose the same ones until they are gone. */
const inTurn = (a: LedgerNode, b: LedgerNode): number =>
  Number(b.draining !== undefined) - Number(a.draining !== undefined) || compareText(a.nodeId, b.nodeId);

/** The arrays with nodes that no status shows yet. */
function comingIn({ record }: Pick<Asked, "record">): Set<ArrayName> {
  const asked = [
    ...record.inFlight.filter((entry) => stillInFlight(entry) > 0),
    ...pendingCreates(record.intents),
  ];
  return new Set(asked.map(({ bucket, purpose }) => arrayOf({ array: bucket.array, purpose })));
}
