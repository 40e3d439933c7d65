import { withoutAbsent } from "../../domain/without-absent.ts";
import type { Bodies } from "../../domain/bodies.ts";
import { noteMachines } from "./node-life.ts";
import type { Node, Snapshot } from "../../domain/cluster.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { InFlight, Observation } from "../../domain/record.ts";
import type {
  Busyness,
  Down,
  Draining,
  KeptOff,
  Ledger,
  LedgerNode,
  NodeStart,
} from "../../domain/ledger.ts";
import { OBSERVATIONS_DOWN } from "../../domain/ledger.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import type { Origin } from "../intents/in-flight.ts";
import { originsOf } from "../intents/in-flight.ts";
import type { NodeFacts } from "../senders/host-facts.ts";
import { factThatCounts } from "./planned-beside.ts";
import { isFromBefore, nextStart } from "../intents/node-starts.ts";

/** A node that is gone is remembered for this time, so that a late question of it is granted. */
const REMEMBER_GONE_SECONDS: Seconds = 3600;

/** What the ledger becomes by a believed observation. `isRestart`: the nodes were not observed for some time, which does not count. */
export function followNodes(
  { ledger, seen, isRestart }: Pick<Bodies, "ledger" | "seen"> & { readonly isRestart: boolean },
  observation: Observation,
  inFlight: readonly InFlight[],
  facts: NodeFacts,
  now: Instant,
): Ledger {
  const updated = noteMachines(updateLedger(ledger, observation, inFlight, facts, now), seen, now);
  const followed = followDown(updated, seen, observation, { isRestart }, now);
  return isRestart ? restartClocks(followed, now) : followed;
}

/** The ledger with all idle times starting now. */
function restartClocks(ledger: Ledger, now: Instant): Ledger {
  return new Map(
    [...ledger].map(([id, node]) => [id, { ...node, busyness: { ...node.busyness, since: now } }]),
  );
}

/** Brings the ledger up to date with a believed observation. The same object if nothing changes. */
function updateLedger(
  ledger: Ledger,
  observation: Observation,
  inFlight: readonly InFlight[],
  facts: NodeFacts,
  now: Instant,
): Ledger {
  const arrays = new Set(observation.snapshot.arrays.map((array) => array.name));
  const origins = originsOf(observation, inFlight);
  const present: LedgerNode[] = [];
  let touched = 0;
  // forEach, here and in all loops over nodes: a for loop creates an object in each step until the compiler has optimised it.
  observation.snapshot.nodes.forEach((node) => {
    const old = ledger.get(node.nodeId);
    // Head nodes and other single nodes belong to no node array and are not ours. A node that the ledger knows stays, even if this status
    // does not list its array.
    if (!arrays.has(node.array) && (old === undefined || old.goneAt !== undefined)) return;
    const known = updateNode(old, node, origins.get(node.nodeId), facts, now, observation.snapshot.at);
    if (known !== old) touched += 1;
    present.push(known);
  });
  if (touched === 0 && ledger.size === present.length + countRemembered(ledger, facts, now)) return ledger;
  const next = new Map<NodeId, LedgerNode>();
  present.forEach((node) => next.set(node.nodeId, node));
  ledger.forEach((old, id) => {
    if (next.has(id)) return;
    if (old.goneAt === undefined) next.set(id, { ...old, goneAt: now });
    else if (isRemembered(old, facts, now)) next.set(id, old);
  });
  return next;
}

/** Whether the entry of a gone node is kept: for an hour, and while a report gives its host resources (see {@link LedgerNode.goneAt}). */
function isRemembered(node: LedgerNode, facts: NodeFacts, now: Instant): boolean {
  if (node.goneAt === undefined) return false;
  if (secondsBetween(node.goneAt, now) < REMEMBER_GONE_SECONDS) return true;
  return facts.get(node.nodeId)?.hasAmounts === true;
}

function countRemembered(ledger: Ledger, facts: NodeFacts, now: Instant): number {
  let count = 0;
  ledger.forEach((node) => {
    if (isRemembered(node, facts, now)) count += 1;
  });
  return count;
}

/** The facts about a node that follow from an observation and the old entry. */
interface Shown {
  readonly busyness: Busyness;
  readonly start: NodeStart | undefined;
  readonly firstReadyAt: Instant | undefined;
  readonly leftReadyAt: Instant | undefined;
  readonly unclearSince: Instant | undefined;
  readonly isDeallocated: boolean;
  readonly kept: KeptOff | undefined;
  readonly draining: Draining | undefined;
}

function updateNode(
  old: LedgerNode | undefined,
  node: Node,
  origin: Origin | undefined,
  facts: NodeFacts,
  now: Instant,
  began: Instant,
): LedgerNode {
  const isDeallocated = node.phase === "deallocated" || isFromBefore(old, began);
  const isUpByReport = saysUp(old, node, facts);
  const up = node.phase === "ready" || isUpByReport ? now : undefined;
  // A deallocated node has no VM. The VM that its start makes has never been Ready, and its boot timeout begins then.
  const firstReadyAt = isDeallocated ? undefined : (old?.firstReadyAt ?? up);
  const shown: Shown = {
    busyness: nextBusyness(old, node, facts, now),
    start: nextStart(old, node, now, began),
    firstReadyAt,
    leftReadyAt: isUpByReport ? undefined : nextLeftReady(old, node, firstReadyAt, now),
    unclearSince: nextUnclear(old, node, now),
    isDeallocated,
    kept: isDeallocated ? nextKept(old, now) : undefined,
    draining: isDeallocated ? endingOf(old) : old?.draining,
  };
  return old !== undefined && isSame(old, node, origin, shown) ? old : entryOf(old, node, origin, shown, now);
}

/** Whether the entry stays as it is. Most do, and keeping the same object saves memory and writes. */
function isSame(old: LedgerNode, node: Node, origin: Origin | undefined, shown: Shown): boolean {
  return (
    old.goneAt === undefined &&
    old.busyness === shown.busyness &&
    old.firstReadyAt === shown.firstReadyAt &&
    old.leftReadyAt === shown.leftReadyAt &&
    old.unclearSince === shown.unclearSince &&
    old.start === shown.start &&
    (old.deallocated === true) === shown.isDeallocated &&
    old.kept === shown.kept &&
    old.draining === shown.draining &&
    (origin === undefined || old.requestId === origin.requestId) &&
    (origin?.keyId === undefined || old.keyId === origin.keyId) &&
    (node.stopKey === undefined || old.keyId !== undefined) &&
    (node.phase !== "ready" || old.down === undefined) &&
    hasSameNames(old, node)
  );
}

function entryOf(
  old: LedgerNode | undefined,
  node: Node,
  origin: Origin | undefined,
  shown: Shown,
  now: Instant,
): LedgerNode {
  const { busyness, start, firstReadyAt, leftReadyAt, unclearSince, isDeallocated, kept, draining } = shown;
  const requestId = origin?.requestId ?? old?.requestId;
  const keyId = origin?.keyId ?? old?.keyId ?? node.stopKey;
  const attributesDigest = origin === undefined ? old?.look : origin.attributesDigest;
  const askedAfter = old?.requestId === undefined ? (origin?.askedAfter ?? 0) : (old.askedAfter ?? 0);
  const instanceId = nextInstanceId(old, node);
  const asked = origin?.asked ?? old?.asked;
  return {
    nodeId: node.nodeId,
    name: node.name,
    array: node.array,
    ...withoutAbsent({ hostname: node.hostname, instanceId, requestId, asked }),
    purpose: origin?.purpose ?? old?.purpose ?? { kind: "array" },
    ...withoutAbsent({ look: attributesDigest }),
    firstSeenAt: old?.firstSeenAt ?? now,
    ...(askedAfter === 0 ? {} : { askedAfter }),
    ...withoutAbsent({ firstReadyAt, leftReadyAt, unclearSince }),
    ...withoutAbsent({ lastNeededAt: old?.lastNeededAt, firstNeeded: old?.firstNeeded }),
    busyness,
    ...withoutAbsent({ draining, keyId, bound: old?.bound, clock: old?.clock }),
    ...withoutAbsent({ plannedBeside: old?.plannedBeside, askedBy: old?.askedBy }),
    ...withoutAbsent({ plannedFor: old?.plannedFor, claims: old?.claims }),
    ...(node.phase === "ready" ? {} : downOf(old)),
    ...withoutAbsent({ endedAt: old?.endedAt }),
    ...(isDeallocated ? { deallocated: true } : {}),
    ...withoutAbsent({ kept, offSeconds: nextOff(old, kept, now), start }),
  };
}

/** With the time that is over: the node is not deallocated any more. */
function nextOff(old: LedgerNode | undefined, kept: KeptOff | undefined, now: Instant): Seconds | undefined {
  if (old?.kept === undefined || kept !== undefined) return old?.offSeconds;
  return (old.offSeconds ?? 0) + secondsBetween(old.kept.since, now);
}

/**
 * Whether a report made since the node was first seen calls its host open, though CycleCloud shows it on its way: its scheduler has started
 * it, and may have put a job there. Only of nodes that were made by name, whose scheduler opens what it has seen up.
 */
function saysUp(old: LedgerNode | undefined, { nodeId, phase }: Node, facts: NodeFacts): boolean {
  if (phase !== "coming" || old?.purpose.kind !== "named") return false;
  const { state, reportedAt, idleAt } = facts.get(nodeId) ?? {};
  const at = idleAt ?? reportedAt;
  return state === "open" && at !== undefined && at > old.firstSeenAt;
}

/** Since when a deallocated node has been that, and why. */
function nextKept(old: LedgerNode | undefined, now: Instant): KeptOff {
  const by = old?.draining?.by;
  return old?.kept ?? { since: now, ...(by === undefined ? {} : { by }) };
}

/**
 * The mark of a deallocated node: only that of its end. What belonged to its deallocation goes with it, or it would count once the node is
 * started again.
 */
function endingOf(old: LedgerNode | undefined): Draining | undefined {
  const draining = old?.draining;
  if (draining === undefined) return undefined;
  const isEnd = draining.by === "deallocated-timeout" || draining.by === "quota";
  return isEnd || (draining.sentAt !== undefined && draining.act === undefined) ? draining : undefined;
}

/** What {@link followDown} keeps of a node until it is Ready. */
function downOf(old: LedgerNode | undefined): Pick<LedgerNode, "down" | "startedAgainAt"> {
  const { down, startedAgainAt } = old ?? {};
  return {
    ...(down === undefined ? {} : { down }),
    ...(startedAgainAt === undefined ? {} : { startedAgainAt }),
  };
}

function hasSameNames(old: LedgerNode, node: Node): boolean {
  const { hostname, name } = node;
  return old.hostname === hostname && old.instanceId === nextInstanceId(old, node) && old.name === name;
}

/**
 * A node's record may lack its InstanceId, for example while the node terminates. The last one is kept. Otherwise the VM would be an unknown
 * instance, and would be told to take work again while it is deleted.
 */
function nextInstanceId(old: LedgerNode | undefined, { instanceId }: Node): string | undefined {
  return instanceId ?? old?.instanceId;
}

function nextBusyness(known: LedgerNode | undefined, node: Node, facts: NodeFacts, now: Instant): Busyness {
  const old = known?.busyness;
  const fact = factThatCounts(facts.get(node.nodeId), known);
  // A node that is not up is not idle. One whose record is unclear may be up.
  const mayBeIdle = node.phase === "ready" || node.phase === "unknown";
  const state =
    fact === undefined ? "unknown" : fact.jobs.length > 0 ? "busy" : mayBeIdle ? "idle" : "unknown";
  return old !== undefined && old.state === state ? old : { state, since: now };
}

/** When the first observation showed that the node left Ready. Undefined if it is Ready, never was, failed, or is no longer wanted. */
function nextLeftReady(
  old: LedgerNode | undefined,
  node: Node,
  firstReadyAt: Instant | undefined,
  now: Instant,
): Instant | undefined {
  if (firstReadyAt === undefined) return undefined;
  // An unclear record does not show whether the node left Ready or is back.
  if (node.phase === "unknown") return old?.leftReadyAt;
  return node.phase === "coming" ? (old?.leftReadyAt ?? now) : undefined;
}

/**
 * Since when observations have shown the node's record as unclear: it has no TargetState that we know, and its Status does not show whether
 * it is wanted. Undefined if it is clear.
 */
function nextUnclear(old: LedgerNode | undefined, { phase }: Node, now: Instant): Instant | undefined {
  return phase === "unknown" ? (old?.unclearSince ?? now) : undefined;
}

/**
 * The clock of nodes that were Ready, are wanted and are shown as shut down or failed (docs/protocol.md, Nodes that are down). It counts
 * from the first such observation and not from the moment at which the node left Ready: a node that restarts for five minutes may show Off
 * once (docs/decisions.md, "Nodes that are down have a clock of their own").
 */

/** CycleCloud's Status of a node without a running VM. */
const SHUT_DOWN = new Set(["off", "terminated"]);

/**
 * The ledger with the clocks after an observation. `isRestart`: the nodes were not observed for some time, so that all clocks begin again. A
 * slow status moves no clock, and neither does an early one: what it shows may be old.
 */
function followDown(
  ledger: Ledger,
  before: Snapshot | undefined,
  { snapshot, slow }: Pick<Observation, "snapshot" | "slow">,
  { isRestart }: { readonly isRestart: boolean },
  now: Instant,
): Ledger {
  const isVague = slow === true || snapshot.early === true;
  const wasUnwanted = unwantedIn(before);
  let changed: Map<NodeId, LedgerNode> | undefined;
  snapshot.nodes.forEach((node) => {
    // Most nodes are up. The ledger has forgotten their clock already.
    if (node.phase === "ready") return;
    const known = ledger.get(node.nodeId);
    if (known?.firstReadyAt === undefined) return;
    const before = isRestart ? undefined : known.down;
    const down = nextDown(before, howDown(node), isVague, now);
    const isStartedAgain = known.leftReadyAt === now && wasUnwanted(node.nodeId);
    if (down === known.down && !isStartedAgain) return;
    const { down: _before, ...rest } = known;
    (changed ??= new Map(ledger)).set(node.nodeId, {
      ...rest,
      ...(down === undefined ? {} : { down }),
      ...(isStartedAgain ? { startedAgainAt: now } : {}),
    });
  });
  return changed ?? ledger;
}

/** How a node that was Ready and is wanted is down. Undefined if it is not, or if the observation does not show it. */
function howDown({ phase, status, missing }: Node): Down["how"] | undefined {
  if (missing !== undefined) return undefined;
  if (phase === "failed") return "failed";
  return phase === "coming" && SHUT_DOWN.has(status.toLowerCase()) ? "off" : undefined;
}

function nextDown(
  old: Down | undefined,
  how: Down["how"] | undefined,
  isSlow: boolean,
  now: Instant,
): Down | undefined {
  if (how === undefined) return undefined;
  if (old?.how !== how) return { how, since: now, observations: isSlow ? 0 : 1 };
  if (isSlow || old.observations >= OBSERVATIONS_DOWN) return old;
  return { ...old, observations: old.observations + 1 };
}

/** Whether the last observation showed a node as stopped or being stopped. The nodes are searched only if one is asked for. */
function unwantedIn(before: Snapshot | undefined): (node: NodeId) => boolean {
  let unwanted: ReadonlySet<NodeId> | undefined;
  return (id) => {
    unwanted ??= new Set(
      (before?.nodes ?? []).flatMap(({ nodeId, phase }) =>
        phase === "going" || phase === "off" ? [nodeId] : [],
      ),
    );
    return unwanted.has(id);
  };
}
