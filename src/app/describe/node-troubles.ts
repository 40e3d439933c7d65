import type { Unneeded } from "../../domain/unneeded.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { LedgerNode } from "../../domain/ledger.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Question, UnhealthyHold } from "../../domain/questions.ts";
import { isRecent, unhealthyNow } from "../../domain/questions.ts";
import type { ClusterRecord, StopKeyUse } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { isoTime, secondsBetween } from "../../domain/units.ts";
import type { TroubleShown, StopKeyShown } from "../../wire/api/cluster-answer.ts";
import type { DownGroup } from "../../decide/need/down-summary.ts";
import { summariseDown } from "../../decide/need/down-summary.ts";
import type { Node } from "../../domain/cluster.ts";
import { isLost } from "../../domain/cluster.ts";
import type { NodeVerdict } from "../../domain/node-verdict.ts";
import type { StopKeys } from "../ports/ports.ts";
import { phaseShown } from "./describe-nodearrays.ts";
import { endedOn } from "../../decide/senders/foreign-claims.ts";
import { factsAndClaims } from "../../decide/senders/host-facts.ts";
import { someOf } from "../../domain/text.ts";
import { isOurs } from "../../domain/exclusive.ts";
import { actsOn } from "../../domain/mode.ts";
import { missingUntil } from "../../decide/nodes/missing.ts";
import { removedByOthers } from "../../decide/stops/pause-buckets.ts";
import { ASKS_WITHIN_SECONDS, costOf, unneededSince } from "../../decide/need/unneeded.ts";

/** Troubles that nodes report about themselves, and that calls in their name and jobs on them cause. */

/** Maximum number of names in a sentence. */
export const NAMED = 5;

interface Said {
  readonly node: LedgerNode;
  readonly question: Question;
}

/** Nodes that report themselves unhealthy and are not stopped, with the reasons. */
export function nodesUnhealthy(bodies: Bodies, now: Instant): readonly TroubleShown[] {
  const texts: Readonly<Record<UnhealthyHold, (names: string) => string>> = {
    job: (names) =>
      `${names}: reported unhealthy by the node itself, and a job is on it. It stays closed, and is stopped when no job is reported or placed there`,
    limit: (names) =>
      `${names}: reported unhealthy by the node itself. Enough other nodes of its node array were stopped this way within the hour (10 %, at least 3), and no scheduler reports its host closed or without jobs. Check it: the stop URL of its node array may have leaked`,
  };
  return (["job", "limit"] as const).flatMap((held) => {
    const nodes = saidBy(bodies).filter(({ question }) => unhealthyNow(question, now)?.held === held);
    if (nodes.length === 0) return [];
    return [{ kind: "nodes-unhealthy", text: texts[held](saidNames(nodes)), count: nodes.length }];
  });
}

/** Nodes for which a call lacked the token of the node's own calls. */
export function callsRefused(bodies: Bodies, now: Instant): readonly TroubleShown[] {
  const refused = saidBy(bodies).filter(({ question: { refusedAt } }) => isRecent(refusedAt, now));
  if (refused.length === 0) return [];
  const last = refused.flatMap(({ question }) => question.refusedAt ?? []).reduce((a, b) => (a < b ? b : a));
  const text = `${saidNames(refused)}: calls were refused because they did not carry the node's own token, the last at ${isoTime(last)}. Either the stop URL has leaked, or the node has lost its token. In the second case a scheduler's report or a stop in CycleCloud ends it`;
  return [{ kind: "node-token", text, count: refused.length }];
}

/** Sets whose claims of jobs on nodes of other senders have ended. */
export function claimsEnded(
  record: ClusterRecord,
  bodies: Bodies,
  { senders }: Pick<Policy, "senders">,
  now: Instant,
): readonly TroubleShown[] {
  // Only rules for senders end claims.
  if (senders === undefined || senders.length === 0) return [];
  const { ended } = factsAndClaims(record, bodies, now, senders);
  if (ended.size === 0) return [];
  const claims = [...bodies.ledger.values()].flatMap((node) =>
    endedOn(node, ended, senders).map((set) => ({ set, name: node.name })),
  );
  return [...Map.groupBy(claims, ({ set }) => set)].map(([set, nodes]) => {
    const names = someOf(
      nodes.map(({ name }) => name),
      NAMED,
    );
    const text = `request set ${set}: says that its jobs run on ${names}. Another sender asked for these nodes and calls them idle, so the jobs no longer count there after an hour. If they do run, let the set of a rule that has these jobs report the hosts, too`;
    return { kind: "claims-ended", text, count: nodes.length };
  });
}

function saidBy({ questions, ledger }: Bodies): readonly Said[] {
  return [...(questions ?? [])].flatMap(([id, question]): readonly Said[] => {
    const node = ledger.get(id);
    return node === undefined || node.goneAt !== undefined ? [] : [{ node, question }];
  });
}

function saidNames(nodes: readonly Said[]): string {
  return someOf(
    nodes.map(({ node }) => node.name),
    NAMED,
  );
}

/** Nodes that were Ready and are no longer up, and what keeps those that were shut down from being terminated. */
export function nodesDown(
  record: ClusterRecord,
  bodies: Bodies,
  policy: Policy,
  now: Instant,
): readonly TroubleShown[] {
  const { seen, plan, ledger } = bodies;
  const down = (seen?.nodes ?? []).filter((node) => phaseShown(node, plan) === "down");
  const groups =
    seen === undefined || plan === undefined ? [] : summariseDown(record, plan, ledger, seen, policy, now);
  const all = groups.find(({ kind }) => kind === "nodes-down");
  const alike = byMessage(down);
  return [
    ...alike.map(({ message, names, count }): TroubleShown => ({
      kind: "node-down",
      text: `${names} ${count === 1 ? "was" : "were"} Ready and ${count === 1 ? "is" : "are"} no longer up: ${message}${alike.length === 1 ? endOf(all) : ""}`,
      count,
    })),
    ...groups.flatMap((group) => troubleOf(group) ?? []),
  ];
}

/** Since when, when the first of them ends, and what they cost. */
function endOf(group: DownGroup | undefined): string {
  if (group === undefined) return "";
  const { nodes, since, nextEnd } = group;
  const one = nodes.length === 1;
  const ends = one ? "it is terminated at" : "the first is terminated at";
  const end = nextEnd === undefined ? "" : `; ${ends} ${isoTime(nextEnd)}`;
  return `; ${one ? "" : "the first "}shut down since ${isoTime(since)}${end}${costOfDown(group)}`;
}

function costOfDown({ nodes, cost }: DownGroup): string {
  return cost === undefined ? "" : `; ${nodes.length === 1 ? "it costs" : "they cost"} ${costText(cost)}`;
}

function troubleOf(group: DownGroup): TroubleShown | undefined {
  const { kind, nodes, since, nextEnd, array } = group;
  const names = namesOf(nodes);
  const count = nodes.length;
  const is = count === 1 ? "is" : "are";
  const end = nextEnd === undefined ? "" : `; the first is terminated at ${isoTime(nextEnd)}`;
  switch (kind) {
    case "down-wave": {
      const where = array === undefined ? "all node arrays together" : `node array ${array}`;
      const text = `${where}: ${count} nodes are down at once, the first since ${isoTime(since)}, so each waits at least an hour${end}${costOfDown(group)}. If they are to end now: end-down ${array ?? "ARRAY"}`;
      return { kind, text, count };
    }
    case "down-busy":
      return {
        kind,
        text: `${names}: down for over an hour, and a job is still reported or placed there, so ${count === 1 ? "it is" : "they are"} not terminated${costOfDown(group)}. Remove the job in the scheduler if it is lost`,
        count,
      };
    case "down-kept":
      return {
        kind,
        text: `${names} ${is} down since ${isoTime(since)}, and ${is} not terminated: downTimeout is never${costOfDown(group)}. Look at ${count === 1 ? "it" : "them"}, then use end-down, or end ${count === 1 ? "it" : "them"} in CycleCloud`,
        count,
      };
    case "nodes-down":
      return undefined;
  }
}

/* Troubles with nodes, from observations and from the ledger. */

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

/** Node arrays whose ShutdownPolicy is a word that we do not know. */
export function oddShutdownPolicies({ seen }: Bodies): readonly TroubleShown[] {
  return (seen?.arrays ?? []).flatMap(({ name, oddShutdownPolicy: word }): readonly TroubleShown[] => {
    if (word === undefined) return [];
    const text = `node array ${name}: its ShutdownPolicy ${word} is neither Terminate nor Deallocate, and counts as Terminate`;
    return [{ kind: "shutdown-policy", text, count: 1 }];
  });
}

/** Grouped by CycleCloud's message, because many nodes fail in the same way. */
function byMessage(nodes: readonly Node[]): readonly {
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

// Keys of stop URLs: which of them live nodes carry, and whether the app settings still have them.

/** The lines of the state page: by key id, the signing key first. */
export function describeStopKeys(
  { stopKeys: used = [] }: ClusterRecord,
  configured: StopKeys | undefined,
): readonly StopKeyShown[] {
  const counts = new Map(used.map(({ keyId, nodes }) => [keyId, nodes]));
  const ids = new Set([...(configured?.accepted ?? []), ...used.flatMap(({ keyId }) => keyId ?? [])]);
  const lines = [...ids].map((keyId): StopKeyShown => ({
    keyId,
    nodes: counts.get(keyId) ?? 0,
    configured: configured?.accepted.includes(keyId),
    signing: configured?.signing === keyId ? true : undefined,
  }));
  const unknown = counts.get(undefined);
  if (unknown === undefined) return lines;
  return [...lines, { keyId: undefined, nodes: unknown, configured: undefined, signing: undefined }];
}

/** Keys that live nodes carry and that are missing from the app settings: those nodes can never ask to be stopped. */
export function retiredKeys(
  { stopKeys: used = [] }: Pick<ClusterRecord, "stopKeys">,
  configured: StopKeys | undefined,
): readonly StopKeyUse[] {
  if (configured === undefined) return [];
  return used.filter(({ keyId }) => keyId !== undefined && !configured.accepted.includes(keyId));
}

export function retiredKeyText({ keyId, nodes }: StopKeyUse): string {
  const many = nodes === 1 ? "1 live node carries" : `${nodes} live nodes carry`;
  return `${many} a stop URL of key "${keyId}", which AUTOSCALER_AUTOSTOP_KEYS does not have: the calls are refused. Put the key back until no live node carries it`;
}

/** "at least 0.40 USD an hour". */
export function costText({ perHour, currency, unpriced }: NonNullable<Unneeded["cost"]>): string {
  const least = unpriced === 0 ? "" : "at least ";
  return `${least}${perHour.toFixed(2)} ${currency} an hour`;
}
