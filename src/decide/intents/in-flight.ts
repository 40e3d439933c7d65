import type { Purpose } from "../../domain/bucket.ts";
import { bucketId, bucketOf } from "../../domain/bucket.ts";
import type { RequestedNode } from "../../domain/cluster.ts";
import type { Digest, NodeId, RequestId } from "../../domain/ids.ts";
import { sameMachineType } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { InFlight, ClusterRecord, Observation } from "../../domain/record.ts";
import type { Ledger, LedgerNode, NodeAsked } from "../../domain/ledger.ts";
import { stillInFlight } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { backOff } from "./back-off.ts";
import type { Creation } from "./create-requests.ts";
import { nameStemOf } from "./create-requests.ts";
import { nodeNameOf } from "./named-requests.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** Nodes that were requested and that no observation has shown yet (docs/protocol.md, In flight). */

/** A list that has not grown for this long is complete. */
const WHOLE_LIST_SECONDS: Seconds = 60;

/**
 * Updates the requests in flight after an observation. A listed node is no longer in flight if this observation shows it or the ledger has it: it
 * may have been stopped before the list of its request came. If the answer to a create was lost, the number of its nodes follows from their
 * list when that no longer grows. A bucket that granted less than requested pauses.
 */
export function followInFlight(
  record: ClusterRecord,
  observation: Observation,
  ledger: Ledger,
  policy: Policy,
  now: Instant,
): ClusterRecord {
  if (record.inFlight.length === 0) return record;
  const present = new Set(observation.snapshot.nodes.map((node) => node.nodeId));
  const isKnown = (id: NodeId): boolean => present.has(id) || ledger.has(id);
  const listed = new Map(byRequest(record.inFlight).flatMap((sets) => [...listedOf(sets, observation)]));
  let next = record;
  const followed = record.inFlight.map((entry) => {
    const found = listed.get(entry);
    if (found === undefined) return entry;
    const more = seeMore(withList(entry, found), found.nodes.filter(isKnown));
    const grown = observation.snapshot.early === true ? more : confirm(more, found, isKnown);
    if (grown.added < entry.added) {
      const words = `${entry.added} asked, ${grown.added} added, as the list of the request's nodes says`;
      next = backOff(next, entry.bucket, "fell-short", words, now);
    }
    return grown;
  });
  const isAwaited = ({ since }: InFlight): boolean =>
    secondsBetween(since, observation.snapshot.at) < policy.inFlightGraceSeconds;
  const closed = closeVanished(followed, listed, ledger);
  for (const entry of closed) {
    if (isAwaited(entry) || entry.seen.length > 0 || stillInFlight(entry) === 0) continue;
    if (hasBootedSince(observation, ledger, entry)) continue;
    // Otherwise the same nodes would be asked for again and again, and no other size tried.
    const words = `CycleCloud accepted ${entry.added} and showed none within ${policy.inFlightGraceSeconds} s`;
    next = backOff(next, entry.bucket, "boot-failed", words, now);
  }
  const coming = closed.filter(isAwaited);
  // A complete set stays while another one of its request is not complete, because the list has the nodes of both.
  const isOpen = (entry: InFlight): boolean => stillInFlight(entry) > 0 || entry.presumedAt !== undefined;
  const open = new Set(coming.filter(isOpen).map(({ requestId }) => requestId));
  return { ...next, inFlight: coming.filter(({ requestId }) => open.has(requestId)) };
}

/** Whether a node of this create's bucket became Ready after it: the bucket boots, whatever became of the nodes that were never shown. */
function hasBootedSince({ snapshot }: Observation, ledger: Ledger, { bucket, since }: InFlight): boolean {
  return snapshot.nodes.some(
    (node) =>
      bucketId(bucketOf(node)) === bucketId(bucket) &&
      (ledger.get(node.nodeId)?.firstReadyAt ?? since) > since,
  );
}

/**
 * Counts nodes that went before the list of their request came, so that no list has them. Such a node counts for the first request that may
 * have created it, but only when all requests that may have created it were listed.
 */
function closeVanished(
  inFlight: readonly InFlight[],
  listed: ReadonlyMap<InFlight, Listed>,
  ledger: Ledger,
): readonly InFlight[] {
  if (inFlight.every((entry) => stillInFlight(entry) === 0)) return inFlight;
  const named = new Set(inFlight.flatMap(({ seen }) => seen));
  for (const { nodes } of listed.values()) for (const id of nodes) named.add(id);
  const isListed = new Set([...listed.keys()].map(({ requestId }) => requestId));
  const followed = [...inFlight];
  ledger.forEach((node, id) => {
    if (node.goneAt === undefined || node.requestId !== undefined || named.has(id)) return;
    const makers = followed.filter((entry) => stillInFlight(entry) > 0 && canHaveMade(entry, node));
    const [maker] = makers;
    if (maker === undefined || !makers.every(({ requestId }) => isListed.has(requestId))) return;
    followed[followed.indexOf(maker)] = seeMore(maker, [id]);
  });
  return followed;
}

const canHaveMade = (entry: InFlight, { array, firstSeenAt, name }: LedgerNode): boolean =>
  entry.bucket.array === array && entry.since <= firstSeenAt && (nodeNameOf(entry) ?? name) === name;

function byRequest(inFlight: readonly InFlight[]): readonly (readonly InFlight[])[] {
  const requests = new Map<RequestId, InFlight[]>();
  for (const entry of inFlight) {
    const sets = requests.get(entry.requestId);
    if (sets === undefined) requests.set(entry.requestId, [entry]);
    else sets.push(entry);
  }
  return [...requests.values()];
}

/** The listed nodes of one set. */
interface Listed {
  /** Nodes of this set. */
  readonly nodes: readonly NodeId[];
  /** Nodes of all sets of the request. */
  readonly all: readonly RequestedNode[];
  readonly askedAt: Instant;
}

/** The listed nodes of each set of one request. Empty if there is no list. */
function listedOf(sets: readonly InFlight[], observation: Observation): ReadonlyMap<InFlight, Listed> {
  const [first] = sets;
  const answer = first === undefined ? undefined : observation.requestNodes.get(first.requestId);
  if (answer === undefined) return new Map();
  const { askedAt, nodes: all } = answer;
  return new Map([...nodesBySet(sets, all)].map(([set, nodes]) => [set, { nodes, all, askedAt }]));
}

/** The set after a list. One that was asked for earlier may lack nodes that were taken without it. */
function withList(entry: InFlight, { askedAt }: Listed): InFlight {
  const { presumedAt, ...rest } = entry;
  return presumedAt === undefined || askedAt <= presumedAt ? entry : rest;
}

function seeMore(entry: InFlight, shown: readonly NodeId[]): InFlight {
  const before = new Set(entry.seen);
  const more = shown.filter((id) => !before.has(id));
  return more.length === 0 ? entry : { ...entry, seen: [...entry.seen, ...more] };
}

function confirm(
  entry: InFlight,
  { nodes, all, askedAt }: Listed,
  isKnown: (id: NodeId) => boolean,
): InFlight {
  const { unconfirmed, ...rest } = entry;
  if (unconfirmed === undefined) return entry;
  if (all.length > unconfirmed.listed)
    return { ...entry, unconfirmed: { listed: all.length, since: askedAt } };
  const isWhole = secondsBetween(unconfirmed.since, askedAt) >= WHOLE_LIST_SECONDS;
  if (!isWhole || !all.some(({ nodeId }) => isKnown(nodeId))) return entry;
  const added = new Set([...entry.seen, ...nodes]).size;
  return { ...rest, added: Math.min(entry.added, added) };
}

// ---------------------------------------------------------------- origins

/** The request that created a node, and the purpose of the node. */
export interface Origin {
  readonly requestId: RequestId;
  readonly purpose: Purpose;
  /** Number of open sets that were requested before the node's own. */
  readonly askedAfter: number;
  readonly asked: NodeAsked;
  /** Digest of the attributes that were sent. Absent: none. */
  readonly attributesDigest?: Digest;
  /** The key of the stop URL that it was created with. Absent: not known. */
  readonly keyId?: string;
}

/** The origins of the listed nodes of open requests. */
export function originsOf(
  observation: Observation,
  inFlight: readonly InFlight[],
): ReadonlyMap<NodeId, Origin> {
  const origins = new Map<NodeId, Origin>();
  const positions = new Map(inFlight.map((entry, index) => [entry, index]));
  for (const sets of byRequest(inFlight)) {
    for (const [entry, { nodes }] of listedOf(sets, observation)) {
      const { requestId, purpose, look: attributesDigest, keyId, plan } = entry;
      const origin: Origin = {
        requestId,
        purpose,
        askedAfter: positions.get(entry) ?? 0,
        asked: { at: entry.plannedAt ?? entry.since, ...withoutAbsent({ plan }) },
        ...withoutAbsent({ attributesDigest, keyId }),
      };
      for (const id of nodes) origins.set(id, origin);
    }
  }
  return origins;
}

// ---------------------------------------------------------------- which set a node belongs to

/** A set of a request with its number of nodes and those that are known already. */
interface Claim extends Creation {
  readonly added: number;
  readonly seen: readonly NodeId[];
}

/**
 * Assigns the nodes of one request to its sets. A node belongs to the set that names it, else to the one with its array, size, group and name. If its record lacks some of
 * these and several sets are possible, it belongs to the first one that is not full.
 */
function nodesBySet<C extends Claim>(
  sets: readonly C[],
  nodes: readonly RequestedNode[],
): ReadonlyMap<C, readonly NodeId[]> {
  const found = new Map<C, NodeId[]>(sets.map((set) => [set, []]));
  const known = new Map(sets.flatMap((set) => set.seen.map((id) => [id, set] as const)));
  const byName = new Map(sets.map((set) => [nodeNameOf(set), set]));
  const numbered = sets.filter((set) => nodeNameOf(set) === undefined);
  for (const node of nodes) {
    const exact = known.get(node.nodeId) ?? byName.get(node.name);
    const set = exact ?? setOf(numbered, node, (one) => hasRoom(one, found.get(one) ?? []));
    if (set !== undefined) found.get(set)?.push(node.nodeId);
  }
  return found;
}

function hasRoom({ added, seen }: Claim, more: readonly NodeId[]): boolean {
  return new Set([...seen, ...more]).size < added;
}

function setOf<C extends Claim>(
  sets: readonly C[],
  node: RequestedNode,
  roomy: (set: C) => boolean,
): C | undefined {
  const agrees: readonly ((set: C) => boolean)[] = [
    ({ bucket }) => bucket.array === node.array,
    ({ bucket }) => sameMachineType(bucket.machineType, node.machineType),
    ({ bucket }) => bucket.placementGroup === node.placementGroup,
    (set) => isNumbered(node.name, nameStemOf(set) ?? set.bucket.array),
    roomy,
  ];
  const left = agrees.reduce((rest, agree) => {
    const fitting = rest.filter(agree);
    return fitting.length === 0 ? rest : fitting;
  }, sets);
  return left[0];
}

function isNumbered(name: string, stem: string): boolean {
  const prefix = `${stem}-`;
  return name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length));
}
