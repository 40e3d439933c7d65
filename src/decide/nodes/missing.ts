import type { Missing, Node, NodeArray, Snapshot, Unlisted } from "../../domain/cluster.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import { NAMED_SECONDS, keyOf } from "../../domain/unlisted.ts";

/** What observations have lacked for this long is gone, if there were at least these. */
const MISSING_SECONDS: Seconds = 60;
const MISSING_OBSERVATIONS = 3;

/**
 * Adds the nodes that the observation lacks and that do not count as gone yet (docs/protocol.md, Doubt; docs/decisions.md, "Doubt is about
 * nodes, not about counts of nodes"), with their last records. `before`: the last believed observation, including such nodes. `open`: nodes whose stop has no known outcome. Nodes that we
 * have stopped are gone at once.
 */
export function withMissing(
  snapshot: Snapshot,
  before: Snapshot | undefined,
  ledger: Ledger,
  open: ReadonlySet<NodeId>,
): Snapshot {
  const { unlisted: named = [], ...rest } = snapshot;
  const unlisted = named.map((node) => ({ ...node, since: firstNamed(before, node) ?? node.since }));
  const observed: Snapshot = {
    ...rest,
    arrays: withMissingArrays(snapshot, before),
    ...(unlisted.length === 0 ? {} : { unlisted }),
  };
  if (before === undefined || startsWith(snapshot.nodes, before.nodes)) return observed;
  const listed = new Set(snapshot.nodes.map(({ nodeId }) => nodeId));
  const lacking = before.nodes.filter(({ nodeId }) => !listed.has(nodeId));
  if (lacking.length === 0) return observed;
  const arrays = new Set(observed.arrays.map(({ name }) => name));
  const names = new Set(named.map(keyOf));
  const missing = lacking.flatMap((node): readonly Node[] => {
    const known = ledger.get(node.nodeId);
    if (known === undefined || !arrays.has(node.array) || !isMissed(node, known, open)) return [];
    const isNamed = names.has(keyOf(node));
    const lack: Missing = { ...lackOf(node, snapshot, before), ...(isNamed ? { named: true } : {}) };
    return isOver(lack, snapshot) ? [] : [{ ...node, missing: lack }];
  });
  return missing.length === 0 ? observed : { ...observed, nodes: [...snapshot.nodes, ...missing] };
}

/**
 * Adds the node arrays of the last observation that this one lacks. As long as they do not count as gone, their nodes stay capacity, and no new
 * ones are created. Otherwise one status that lacks an array would create its nodes a second time in another array.
 */
function withMissingArrays(snapshot: Snapshot, before: Snapshot | undefined): readonly NodeArray[] {
  const { arrays } = snapshot;
  const listed = new Set(arrays.map(({ name }) => name));
  const missing = (before?.arrays ?? []).flatMap((array): readonly NodeArray[] => {
    if (listed.has(array.name)) return [];
    const lack = lackOf(array, snapshot, before);
    if (isOver(lack, snapshot)) return [];
    const invalidReason = "the last observation lacks the node array";
    const buckets = array.buckets.map((bucket) => ({ ...bucket, valid: false, invalidReason }));
    return [{ ...array, buckets, missing: lack }];
  });
  return missing.length === 0 ? arrays : [...arrays, ...missing];
}

/** What is noted of an array or a node that this observation lacks. The same observation, decided on again, counts once. */
function lackOf(
  { missing: was }: Pick<Node, "missing">,
  { at, early }: Snapshot,
  before: Snapshot | undefined,
): Omit<Missing, "named"> {
  const counted = was?.observations ?? 0;
  const isCounted = early === true || (was !== undefined && before?.at === at);
  return { since: was?.since ?? at, observations: isCounted ? counted : counted + 1 };
}

function isOver(lack: Missing, { at, early }: Snapshot): boolean {
  return early !== true && lack.observations >= MISSING_OBSERVATIONS && at >= untilOf(lack);
}

/** Whether no node is missing and the order is the same. This is the usual case, and needs no search. */
function startsWith(nodes: readonly Node[], first: readonly Node[]): boolean {
  return first.every(({ nodeId }, at) => nodes[at]?.nodeId === nodeId);
}

/** Whether the node may still have a VM, which uses limits, and CycleCloud has not accepted a stop of ours. */
function isMissed(node: Node, known: LedgerNode, open: ReadonlySet<NodeId>): boolean {
  const { goneAt, draining } = known;
  if (goneAt !== undefined) return false;
  return node.phase !== "off" && (draining?.sentAt === undefined || open.has(node.nodeId));
}

/** Until when a node that the observation lacks counts as existing, or longer. Undefined if the observation shows it. */
export function missingUntil({ missing }: Node): Instant | undefined {
  return missing === undefined ? undefined : untilOf(missing);
}

function untilOf({ since, named }: Missing): Instant {
  return plusSeconds(since, named === true ? NAMED_SECONDS : MISSING_SECONDS);
}

function firstNamed(before: Snapshot | undefined, node: Unlisted): Instant | undefined {
  return before?.unlisted?.find((one) => keyOf(one) === keyOf(node))?.since;
}

/** A status in which fewer records than this lack TargetState is believed. */
const FEWEST_LACKING = 5;
/** For this long a status whose records mostly lack TargetState is not believed. */
const DISBELIEVED_SECONDS: Seconds = 600;

/** A status whose records mostly lack TargetState. */
export interface Lacking {
  readonly lacking: number;
  readonly of: number;
  /** The first of the last statuses, without a gap, that were like this. */
  readonly since: Instant;
  /** From this moment on such a status is believed, and each node is judged by itself. */
  readonly until: Instant;
}

/** Finds whether most records of a status lack TargetState. Undefined if they do not, or if only a few do. */
export function findLacking(
  { targetStatesLackedSince }: Pick<ClusterRecord, "targetStatesLackedSince">,
  { nodes, at }: Snapshot,
): Lacking | undefined {
  const lacking = nodes.reduce((sum, node) => (node.noTargetState === true ? sum + 1 : sum), 0);
  if (lacking < FEWEST_LACKING || lacking * 2 <= nodes.length) return undefined;
  const since = targetStatesLackedSince ?? at;
  return { lacking, of: nodes.length, since, until: plusSeconds(since, DISBELIEVED_SECONDS) };
}
