import type { Bodies } from "../domain/bodies.ts";
import { bucketText } from "../domain/bucket.ts";
import type { Node } from "../domain/cluster.ts";
import { isLost } from "../domain/cluster.ts";
import { DEFAULT_POLICY, type Policy } from "../domain/policy.ts";
import { isOurs } from "../domain/exclusive.ts";
import { actsOn } from "../domain/mode.ts";
import type { NodeVerdict } from "../domain/node-verdict.ts";
import type { ClusterRecord } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import { isoTime, secondsBetween } from "../domain/units.ts";
import { lossShown } from "../decide/record/lost-bodies.ts";
import { missingUntil } from "../decide/nodes/missing.ts";
import { removedByOthers } from "../decide/intents/removed.ts";
import { ASKS_WITHIN_SECONDS, unneededSince } from "../decide/need/unneeded.ts";
import { unneededText } from "./describe-health.ts";
import { callsRefused, nodesUnhealthy } from "./node-troubles.ts";
import type { StopKeys } from "./ports/site.ts";
import { retiredKeys, retiredKeyText } from "./stop-key-use.ts";
import { arraysMissing, revisionsAhead } from "./input-troubles.ts";
import { phaseShown } from "./phase-shown.ts";
import { someOf } from "../domain/some-of.ts";
import type { TroubleShown } from "../wire/api/cluster-answer.ts";

/** Maximum number of names in a sentence. */
const NAMED = 5;
/** Maximum length of one trouble in characters. It may contain text of others. */
const MOST_CHARACTERS = 2000;

/**
 * All that is wrong with a cluster in one list; details are elsewhere in the answer. `senderNow`: what the senders' clocks show, which is
 * another time where ours is scaled.
 */
export function describeTroubles(
  record: ClusterRecord,
  bodies: Bodies,
  notes: readonly string[],
  now: Instant,
  senderNow: Instant = now,
  stopKeys?: StopKeys,
  policy: Policy = DEFAULT_POLICY,
): readonly TroubleShown[] {
  const troubles = [
    ...(policy.insecure ?? []).map((text): TroubleShown => ({ kind: "insecure", text, count: 1 })),
    ...notes.map((text): TroubleShown => ({ kind: "health", text, count: 1 })),
    ...storageLoss(record, now),
    ...notNeeded(record),
    ...nodesNotOurs(bodies, policy, now),
    ...pauses(record, now),
    ...failedNodes(bodies),
    ...nodesDown(bodies),
    ...nodesMissing(bodies),
    ...nodesUnclear(bodies),
    ...nodesRemoved(record, bodies, policy, now),
    ...nodesUnhealthy(bodies, now),
    ...callsRefused(bodies, now),
    ...keysMissing(record, stopKeys),
    ...refusedStarts(bodies),
    ...arraysMissing(bodies),
    ...revisionsAhead(record, senderNow),
    ...leftOut(bodies),
    ...rejectedJobs(record, bodies),
    ...rejectedMessages(record),
  ];
  return troubles.map((trouble) => ({ ...trouble, text: shortened(trouble.text) }));
}

const shortened = (text: string): string =>
  text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;

/** Losses in storage, shown until the sets that lapsed because of them have been pushed again, and for at least an hour. */
function storageLoss(record: ClusterRecord, now: Instant): readonly TroubleShown[] {
  const loss = lossShown(record, now);
  if (loss === undefined) return [];
  const sets =
    loss.sets.length === 0
      ? ""
      : `; the demand of ${someOf(loss.sets, NAMED)} is lost, and counts again when it is pushed again`;
  const nodes = loss.nodes ? "; the record of the nodes is lost, and the next observation rebuilds it" : "";
  const text = `storage lost ${loss.bodies} of its rows at ${isoTime(loss.at)}${sets}${nodes}; scale-down rests`;
  return [{ kind: "health", text, count: loss.bodies }];
}

function keysMissing(record: ClusterRecord, stopKeys: StopKeys | undefined): readonly TroubleShown[] {
  return retiredKeys(record, stopKeys).map((use) => ({
    kind: "stop-key-missing",
    text: retiredKeyText(use),
    count: use.nodes,
  }));
}

function notNeeded({ unneeded }: ClusterRecord): readonly TroubleShown[] {
  if (unneeded === undefined) return [];
  return [{ kind: "nodes-not-needed", text: unneededText(unneeded), count: 1 }];
}

/** Nodes that nobody needs, in arrays that act, and that the autoscaler may not stop. */
function nodesNotOurs({ ledger, plan, seen }: Bodies, policy: Policy, now: Instant): readonly TroubleShown[] {
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

function pauses({ backoffs }: ClusterRecord, now: Instant): readonly TroubleShown[] {
  return backoffs
    .filter(({ until }) => until > now)
    .map(({ bucket, until, cause, message }) => ({
      kind: "backing-off",
      text: `${bucketText(bucket)} backs off until ${isoTime(until)} (${cause}): ${message}`,
      count: 1,
    }));
}

function failedNodes({ seen, ledger }: Bodies): readonly TroubleShown[] {
  const failed = (seen?.nodes ?? []).filter(({ nodeId, phase }) => phase === "failed" && ledger.has(nodeId));
  return byMessage(failed).map(({ message, names, count }) => ({
    kind: "node-failed",
    text: `${names} failed: ${message}`,
    count,
  }));
}

function nodesDown({ seen, plan }: Bodies): readonly TroubleShown[] {
  const down = (seen?.nodes ?? []).filter((node) => phaseShown(node, plan) === "down");
  return byMessage(down).map(({ message, names, count }) => ({
    kind: "node-down",
    text: `${names} ${count === 1 ? "was" : "were"} Ready and ${count === 1 ? "is" : "are"} no longer up: ${message}`,
    count,
  }));
}

function nodesMissing({ seen }: Bodies): readonly TroubleShown[] {
  const missing = (seen?.nodes ?? []).filter(isLost);
  const [first] = missing.flatMap((node) => missingUntil(node) ?? []).toSorted((a, b) => a - b);
  if (first === undefined) return [];
  const text = `${namesOf(missing)} ${missing.length === 1 ? "is" : "are"} not listed by CycleCloud: counted as present until ${isoTime(first)} or later, and as removed after that`;
  return [{ kind: "node-missing", text, count: missing.length }];
}

function nodesUnclear({ seen, plan }: Bodies): readonly TroubleShown[] {
  const unclear = (seen?.nodes ?? []).filter(({ nodeId }) => {
    const verdict = plan?.nodes.get(nodeId);
    return verdict?.kind === "unclear" && verdict.over !== undefined;
  });
  if (unclear.length === 0) return [];
  const text = `${namesOf(unclear)}: CycleCloud has not said for the whole boot timeout whether ${unclear.length === 1 ? "it is" : "they are"} wanted (no TargetState)`;
  return [{ kind: "node-unclear", text, count: unclear.length }];
}

function nodesRemoved(
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

function namesOf(nodes: readonly { readonly name: string }[]): string {
  return someOf(
    nodes.map(({ name }) => name),
    NAMED,
  );
}

/** Grouped by CycleCloud's message, because many nodes fail in the same way. */
function byMessage(
  nodes: readonly Node[],
): readonly { readonly message: string; readonly names: string; readonly count: number }[] {
  const alike = new Map<string, Node[]>();
  for (const node of nodes) {
    const message = node.statusMessage ?? node.status;
    const some = alike.get(message);
    if (some === undefined) alike.set(message, [node]);
    else some.push(node);
  }
  return [...alike].map(([message, some]) => ({
    message,
    names: namesOf(some),
    count: some.length,
  }));
}

function refusedStarts({ ledger }: Bodies): readonly TroubleShown[] {
  const refused = [...ledger.values()].filter(
    ({ start, goneAt }) => start?.state === "refused" && goneAt === undefined,
  );
  const [first] = refused;
  if (first === undefined) return [];
  const text = `${namesOf(refused)} did not start: ${first.start?.message ?? "nothing came of it"}`;
  return [{ kind: "start-refused", text, count: refused.length }];
}

function leftOut({ plan }: Bodies): readonly TroubleShown[] {
  return (plan?.leftOut ?? []).map(({ set, demands, first, why }) => ({
    kind: "left-out",
    text: `request set ${set}: left out of this plan, from ${first} on; ${why} cost more than its share of the planning budget. No nodes are created for this demand, and no node that it may need is stopped. Send fewer kinds of jobs, or fewer alternatives`,
    count: demands,
  }));
}

function rejectedJobs({ sets }: ClusterRecord, { demands }: Bodies): readonly TroubleShown[] {
  return [...sets].flatMap(([set, entry]) => {
    const { rejectedJobs: rejected = [], moreRejectedJobs = 0 } = demands.get(entry.digest) ?? {};
    if (!entry.live || rejected.length === 0) return [];
    const text = `request set ${set}: left out because they could not be read: ${namesOf(rejected)}${moreRejectedJobs === 0 ? "" : ` and ${moreRejectedJobs} more`}`;
    return [{ kind: "job-rejected", text, count: rejected.length + moreRejectedJobs }];
  });
}

function rejectedMessages({ rejections }: ClusterRecord): readonly TroubleShown[] {
  const newest = rejections.at(-1);
  if (newest === undefined) return [];
  const [first] = newest.problems;
  const why = first === undefined ? "" : `: ${first.path}: found ${first.found}, expected ${first.expected}`;
  const text = `messages could not be read, the last at ${isoTime(newest.at)}${why}`;
  return [{ kind: "message-rejected", text, count: rejections.length }];
}
