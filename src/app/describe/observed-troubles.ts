import type { Bodies } from "../../domain/bodies.ts";
import type { Node } from "../../domain/cluster.ts";
import { isLost } from "../../domain/cluster.ts";
import type { Policy } from "../../domain/policy.ts";
import { isOurs } from "../../domain/exclusive.ts";
import { actsOn } from "../../domain/mode.ts";
import type { NodeVerdict } from "../../domain/node-verdict.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { isoTime, secondsBetween } from "../../domain/units.ts";
import { missingUntil } from "../../decide/nodes/missing.ts";
import { removedByOthers } from "../../decide/intents/removed.ts";
import { ASKS_WITHIN_SECONDS, costOf, unneededSince } from "../../decide/need/unneeded.ts";
import { costText } from "./unneeded-text.ts";
import { someOf } from "../../domain/some-of.ts";
import type { TroubleShown } from "../../wire/api/cluster-answer.ts";

/* Troubles with nodes, from observations and from the ledger. */

/** Maximum number of names in a sentence. */
export const NAMED = 5;

/** Nodes without use in arrays that act, which the autoscaler may not stop. */
export function nodesNotOurs(
  { ledger, plan, seen }: Bodies,
  policy: Policy,
  now: Instant,
): readonly TroubleShown[] {
  const idle = (seen?.nodes ?? []).filter(({ nodeId }) => {
    const verdict = plan?.nodes.get(nodeId)?.kind;
    const known = ledger.get(nodeId);
    if (known === undefined || verdict === undefined || !USELESS.has(verdict)) return false;
    return (
      actsOn(policy, known.array) &&
      !isOurs(known, policy) &&
      secondsBetween(unneededSince(known), now) >= ASKS_WITHIN_SECONDS
    );
  });
  if (idle.length === 0) return [];
  const one = idle.length === 1;
  const text = `${namesOf(idle)}: not needed, and not ours: the autoscaler never stops ${one ? "it" : "them"}. Stop ${one ? "it" : "them"} in CycleCloud; or, if no other tool manages the node array, name it in exclusiveNodearrays`;
  return [{ kind: "nodes-not-ours", text, count: idle.length }];
}

/** Verdicts on nodes that serve no demand, though they may run. */
const USELESS: ReadonlySet<NodeVerdict["kind"]> = new Set(["idle", "busyness-unknown", "failed", "down"]);

/** Nodes whose start or work failed, grouped by CycleCloud's message. */
export function failedNodes({ seen, ledger }: Bodies, policy: Policy): readonly TroubleShown[] {
  if (seen === undefined) return [];
  const failed = seen.nodes.filter(({ nodeId, phase }) => phase === "failed" && ledger.has(nodeId));
  return byMessage(failed).map(({ message, nodes, names, count }) => {
    const cost = costOf(nodes, seen, policy);
    const costs = cost === undefined ? "" : `; ${count === 1 ? "it costs" : "they cost"} ${costText(cost)}`;
    return { kind: "node-failed", text: `${names} failed: ${message}${costs}`, count };
  });
}

/** Nodes that the last observation lacks and that still count as present. */
export function nodesMissing({ seen }: Bodies): readonly TroubleShown[] {
  const missing = (seen?.nodes ?? []).filter(isLost);
  const [first] = missing.flatMap((node) => missingUntil(node) ?? []).toSorted((a, b) => a - b);
  if (first === undefined) return [];
  const text = `${namesOf(missing)} ${missing.length === 1 ? "is" : "are"} not listed by CycleCloud: counted as present until ${isoTime(first)} or later, and as removed after that`;
  return [{ kind: "node-missing", text, count: missing.length }];
}

/** Nodes whose TargetState has been missing or unknown for the whole boot timeout. */
export function nodesUnclear({ seen, plan }: Bodies): readonly TroubleShown[] {
  const unclear = (seen?.nodes ?? []).filter(({ nodeId }) => {
    const verdict = plan?.nodes.get(nodeId);
    return verdict?.kind === "unclear" && verdict.over !== undefined;
  });
  if (unclear.length === 0) return [];
  const text = `${namesOf(unclear)}: CycleCloud has not said for the whole boot timeout whether ${unclear.length === 1 ? "it is" : "they are"} wanted (no known TargetState)`;
  return [{ kind: "node-unclear", text, count: unclear.length }];
}

/** Our nodes that another tool, or CycleCloud itself, removed within the last hour. */
export function nodesRemoved(
  record: ClusterRecord,
  { ledger }: Bodies,
  policy: Policy,
  now: Instant,
): readonly TroubleShown[] {
  const removed = removedByOthers(record, ledger, policy, now);
  if (removed.length === 0) return [];
  const young = removed.filter(({ firstReadyAt }) => firstReadyAt === undefined).length;
  const all =
    removed.length === 1
      ? "1 node was removed in the last hour, and not by the autoscaler"
      : `${removed.length} nodes were removed in the last hour, and not by the autoscaler`;
  const before = young === 0 ? "" : `, ${young} of them before they were Ready`;
  return [{ kind: "nodes-removed", text: `${all}${before}: ${namesOf(removed)}`, count: removed.length }];
}

/** Deallocated nodes that CycleCloud did not start. */
export function refusedStarts({ ledger }: Bodies): readonly TroubleShown[] {
  const refused = [...ledger.values()].filter(
    ({ start, goneAt }) => start?.state === "refused" && goneAt === undefined,
  );
  const [first] = refused;
  if (first === undefined) return [];
  const text = `${namesOf(refused)} did not start: ${first.start?.message ?? "nothing came of it"}`;
  return [{ kind: "start-refused", text, count: refused.length }];
}

/** Grouped by CycleCloud's message, because many nodes fail in the same way. */
export function byMessage(nodes: readonly Node[]): readonly {
  readonly message: string;
  readonly nodes: readonly Node[];
  readonly names: string;
  readonly count: number;
}[] {
  const alike = new Map<string, Node[]>();
  for (const node of nodes) {
    const message = node.statusMessage ?? node.status;
    const some = alike.get(message);
    if (some === undefined) alike.set(message, [node]);
    else some.push(node);
  }
  return [...alike].map(([message, some]) => ({
    message,
    nodes: some,
    names: namesOf(some),
    count: some.length,
  }));
}

export function namesOf(nodes: readonly { readonly name: string }[]): string {
  return someOf(
    nodes.map(({ name }) => name),
    NAMED,
  );
}
