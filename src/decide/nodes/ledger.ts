import type { Node } from "../../domain/cluster.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { InFlight } from "../../domain/in-flight.ts";
import type { Busyness, Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { InTurn } from "../../domain/in-turn.ts";
import { nextLeftReady } from "./down.ts";
import { entryOfNode } from "../../domain/hosts.ts";
import type { Origin } from "../intents/in-flight.ts";
import { originsOf } from "../intents/in-flight.ts";
import { nextStart } from "../intents/node-starts.ts";
import { factOfNode } from "./planned-beside.ts";
import { nextUnclear } from "./unclear.ts";
import type { Observation } from "../../domain/observation.ts";
import type { HostFact, HostFacts } from "../senders/host-facts.ts";

/** A node that has gone is remembered so long, so that one which asks again is told yes. */
const REMEMBER_GONE_SECONDS: Seconds = 3600;

/** Brings the ledger up to date with a believed observation; the very same where that changes nothing. */
export function updateLedger(
  ledger: Ledger,
  observation: Observation,
  inFlight: readonly InFlight[],
  facts: ReadonlyMap<string, HostFact>,
  now: Instant,
): Ledger {
  const arrays = new Set(observation.snapshot.arrays.map((array) => array.name));
  const origins = originsOf(observation, inFlight);
  const before = new InTurn(ledger);
  const present: LedgerNode[] = [];
  let touched = 0;
  // Here and wherever each node has its turn: a callback, as a loop makes an object for each step until the compiler has seen it often.
  observation.snapshot.nodes.forEach((node) => {
    const old = before.get(node.nodeId);
    // Head nodes and other single nodes are no node array's: never ours to judge. A node that we know is one's, whatever this status lists.
    if (!arrays.has(node.array) && (old === undefined || old.goneAt !== undefined)) return;
    const known = updateNode(old, node, origins.get(node.nodeId), facts, now);
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

/** Gone, but not for long; or its host is still reported with resources, and must not be taken for one that was never ours. */
function isRemembered(node: LedgerNode, facts: HostFacts, now: Instant): boolean {
  if (node.goneAt === undefined) return false;
  if (secondsBetween(node.goneAt, now) < REMEMBER_GONE_SECONDS) return true;
  return entryOfNode(facts, node)?.hasAmounts === true;
}

function countRemembered(ledger: Ledger, facts: HostFacts, now: Instant): number {
  let count = 0;
  ledger.forEach((node) => {
    if (isRemembered(node, facts, now)) count += 1;
  });
  return count;
}

function updateNode(
  old: LedgerNode | undefined,
  node: Node,
  origin: Origin | undefined,
  facts: ReadonlyMap<string, HostFact>,
  now: Instant,
): LedgerNode {
  const busyness = nextBusyness(old, node, facts, now);
  const start = nextStart(old, node, now);
  const deallocated = node.phase === "deallocated";
  // A deallocated node has no VM: what it is once started has never been Ready, and has its boot timeout before it.
  const firstReadyAt = deallocated
    ? undefined
    : (old?.firstReadyAt ?? (node.phase === "ready" ? now : undefined));
  const leftReadyAt = nextLeftReady(old, node, firstReadyAt, now);
  const unclearSince = nextUnclear(old, node, now);
  const isSame =
    old?.goneAt === undefined &&
    old?.busyness === busyness &&
    old.firstReadyAt === firstReadyAt &&
    old.leftReadyAt === leftReadyAt &&
    old.unclearSince === unclearSince &&
    old.start === start &&
    (old.deallocated === true) === deallocated &&
    (origin === undefined || old.requestId === origin.requestId) &&
    (origin?.keyId === undefined || old.keyId === origin.keyId) &&
    (node.stopKey === undefined || old.keyId !== undefined);
  // Keeping the same object for an unchanged node spares the store and a large cluster's memory.
  if (isSame && hasSameNames(old, node)) return old;
  const requestId = origin?.requestId ?? old?.requestId;
  const keyId = origin?.keyId ?? old?.keyId ?? node.stopKey;
  const look = origin === undefined ? old?.look : origin.look;
  const askedAfter = old?.requestId === undefined ? (origin?.askedAfter ?? 0) : (old.askedAfter ?? 0);
  const instanceId = nextInstanceId(old, node);
  return {
    nodeId: node.nodeId,
    name: node.name,
    array: node.array,
    ...(node.hostname === undefined ? {} : { hostname: node.hostname }),
    ...(instanceId === undefined ? {} : { instanceId }),
    ...(requestId === undefined ? {} : { requestId }),
    purpose: origin?.purpose ?? old?.purpose ?? { kind: "array" },
    ...(look === undefined ? {} : { look }),
    firstSeenAt: old?.firstSeenAt ?? now,
    ...(askedAfter === 0 ? {} : { askedAfter }),
    ...(firstReadyAt === undefined ? {} : { firstReadyAt }),
    ...(leftReadyAt === undefined ? {} : { leftReadyAt }),
    ...(unclearSince === undefined ? {} : { unclearSince }),
    ...(old?.lastNeededAt === undefined ? {} : { lastNeededAt: old.lastNeededAt }),
    busyness,
    ...(old?.draining === undefined ? {} : { draining: old.draining }),
    ...(keyId === undefined ? {} : { keyId }),
    ...(old?.bound === undefined ? {} : { bound: old.bound }),
    ...(old?.plannedBeside === undefined ? {} : { plannedBeside: old.plannedBeside }),
    ...(deallocated ? { deallocated } : {}),
    ...(start === undefined ? {} : { start }),
  };
}

function hasSameNames(old: LedgerNode, node: Node): boolean {
  const { hostname, name } = node;
  return old.hostname === hostname && old.instanceId === nextInstanceId(old, node) && old.name === name;
}

/**
 * A record may lack its InstanceId, for instance while the node terminates. The last one stays: else the VM's question is that of an
 * unknown instance, and it is told to open while it is being deleted.
 */
function nextInstanceId(old: LedgerNode | undefined, { instanceId }: Node): string | undefined {
  return instanceId ?? old?.instanceId;
}

function nextBusyness(
  known: LedgerNode | undefined,
  node: Node,
  facts: ReadonlyMap<string, HostFact>,
  now: Instant,
): Busyness {
  const old = known?.busyness;
  const fact = factOfNode(facts, node, known);
  // A node that is not up is not idle either; one whose record is unclear may be up.
  const mayBeIdle = node.phase === "ready" || node.phase === "unknown";
  const state =
    fact === undefined ? "unknown" : fact.jobs.length > 0 ? "busy" : mayBeIdle ? "idle" : "unknown";
  return old !== undefined && old.state === state ? old : { state, since: now };
}
