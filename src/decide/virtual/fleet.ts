import { spotIn } from "../../domain/attributes.ts";
import type { Node, Snapshot } from "../../domain/cluster.ts";
import type { ArrayName } from "../../domain/ids.ts";
import { nodeId, requestId, type MachineType, sameMachineType } from "../../domain/ids.ts";
import { modeOf } from "../../domain/mode.ts";
import type { Policy } from "../../domain/policy.ts";
import type { InFlight, ClusterRecord } from "../../domain/record.ts";
import type { CreateSet } from "../../domain/intent.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import { stillInFlight } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";
import type { VirtualFleet, VirtualNode, SizeBoots } from "../../domain/virtual-fleet.ts";
import { VIRTUAL_STOP_SECONDS, DEFAULT_BOOT_SECONDS } from "../../domain/virtual-fleet.ts";
import { digestOfAttributes } from "../../domain/digest.ts";
import { bootingSince } from "../intents/node-starts.ts";
import { stoppingNodes } from "../intents/stops.ts";
import { managedArrays } from "../../domain/exclusive.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** The node arrays that are ours and only observed. Empty if the cluster is not started, because it has no fleet to compare then. */
export function observedArrays(snapshot: Snapshot, policy: Policy): ReadonlySet<ArrayName> {
  if (snapshot.state !== "Started" || snapshot.targetState !== "Started") return new Set();
  const managed = [...managedArrays(snapshot, policy)];
  return new Set(managed.filter((array) => modeOf(policy, array) === "observe"));
}

/** A fleet without arrays and nodes. */
const NO_FLEET: Omit<VirtualFleet, "at"> = {
  arrays: [],
  nodes: [],
  moved: [],
  boots: [],
  made: 0,
  comparison: { days: [] },
};

/** The real cluster in a plan. */
interface RealCluster {
  readonly record: ClusterRecord;
  readonly seen: Snapshot;
  readonly ledger: Ledger;
}

/** A virtual node at this moment. Undefined if it is gone. */
export function nodeNow(
  { node, readyAt, stoppedAt, deallocatedAt }: VirtualNode,
  now: Instant,
): Node | undefined {
  if (stoppedAt !== undefined) {
    const isThere = secondsBetween(stoppedAt, now) < VIRTUAL_STOP_SECONDS;
    return isThere ? { ...node, phase: "going", status: "Terminating" } : undefined;
  }
  if (deallocatedAt !== undefined && secondsBetween(deallocatedAt, now) < VIRTUAL_STOP_SECONDS)
    return { ...node, phase: "going", status: "Terminating" };
  if (readyAt === undefined) return node;
  return now < readyAt
    ? { ...node, phase: "coming", status: "Preparation" }
    : { ...node, phase: "ready", status: "Ready" };
}

/**
 * The fleet at the beginning of a plan. Nodes that are gone, and those of arrays that are no longer observed, are removed. The real nodes of
 * each newly observed array are copied.
 */
export function followArrays(
  before: VirtualFleet | undefined,
  observed: ReadonlySet<ArrayName>,
  real: RealCluster,
  now: Instant,
): VirtualFleet {
  const old = before ?? { ...NO_FLEET, at: now };
  const since = before === undefined ? undefined : before.at;
  const boots = noteBoots(old.boots, real.seen, real.ledger, since);
  const kept = old.nodes.filter((one) => observed.has(one.node.array) && nodeNow(one, now) !== undefined);
  const arrays = old.arrays.filter(({ name }) => observed.has(name));
  const known = new Set(arrays.map(({ name }) => name));
  const added = new Set([...observed].filter((name) => !known.has(name)));
  const fleet = {
    ...old,
    boots,
    nodes: kept,
    arrays: [...arrays, ...[...added].map((name) => ({ name, since: now }))],
  };
  return added.size === 0 ? fleet : copyArrays(fleet, added, real, now);
}

/** Copies the real nodes that are up, on their way up or deallocated, and those that were requested and that no observation shows yet. */
function copyArrays(
  fleet: VirtualFleet,
  added: ReadonlySet<ArrayName>,
  { record, seen, ledger }: RealCluster,
  now: Instant,
): VirtualFleet {
  const stopping = stoppingNodes(record.intents);
  const copies = seen.nodes.flatMap((node): readonly VirtualNode[] => {
    const known = ledger.get(node.nodeId);
    if (known === undefined || !added.has(node.array) || stopping.has(node.nodeId)) return [];
    return copyNode(node, known, bootSecondsFor(fleet.boots, node.machineType), now);
  });
  const asked = [
    ...record.inFlight.map((entry) => ({ ...setOf(entry), since: entry.since })),
    ...record.intents.flatMap(({ effect, committedAt: since }) =>
      effect.kind === "create" ? effect.sets.map((set) => ({ set, since })) : [],
    ),
  ].filter(({ set }) => added.has(set.bucket.array));
  const copied: VirtualFleet = { ...fleet, nodes: [...fleet.nodes, ...copies] };
  return asked.reduce((next, { set, since }) => addNodes(next, set, seen, since, now), copied);
}

function setOf(entry: InFlight): { readonly set: CreateSet } {
  const { bucket, purpose, spot } = entry;
  const attributes = spot === undefined ? {} : { attributes: { Interruptible: spot } };
  return { set: { bucket, purpose, count: stillInFlight(entry), ...attributes } };
}

/** The copy of a real node. Marks, doubts, the VM and its token belong to the real node only. */
function copyNode(node: Node, known: LedgerNode, bootSeconds: Seconds, now: Instant): readonly VirtualNode[] {
  const { missing: _missing, instanceId: _vm, ...shown } = node;
  const {
    draining: _mark,
    leftReadyAt: _left,
    unclearSince: _unclear,
    instanceId: _itsVm,
    bound: _token,
    ...remembered
  } = known;
  const ready: Node = { ...shown, phase: "ready" };
  switch (node.phase) {
    case "ready":
    case "unknown":
      return [{ node: ready, known: remembered }];
    case "deallocated":
      return [{ node: shown, known: remembered }];
    case "coming": {
      const due = plusSeconds(bootingSince(known), bootSeconds);
      return [{ node: ready, known: remembered, readyAt: due < now ? now : due }];
    }
    default:
      return [];
  }
}

/** The fleet with the nodes of one create, which was requested at `since`. */
export function addNodes(
  fleet: VirtualFleet,
  { bucket, count, purpose, attributes }: CreateSet,
  { arrays }: Pick<Snapshot, "arrays">,
  since: Instant,
  now: Instant,
): VirtualFleet {
  const { array, machineType, placementGroup } = bucket;
  const spot = spotIn(attributes) ?? arrays.find(({ name }) => name === array)?.spot ?? false;
  const due = plusSeconds(since, bootSecondsFor(fleet.boots, machineType));
  const attributesDigest = digestOfAttributes(attributes);
  const nodes = Array.from({ length: count }, (_, at): VirtualNode => {
    const id = nodeId(`virtual-${fleet.made + at}`);
    const name = purpose.kind === "named" ? purpose.name : `${array}-virtual-${fleet.made + at}`;
    const names = { nodeId: id, name, array, hostname: id };
    return {
      node: {
        ...names,
        machineType,
        phase: "ready",
        status: "Ready",
        spot,
        keepAlive: false,
        ...withoutAbsent({ placementGroup }),
      },
      known: {
        ...names,
        requestId: VIRTUAL_REQUEST,
        purpose,
        ...withoutAbsent({ look: attributesDigest }),
        firstSeenAt: now,
        busyness: { state: "unknown", since: now },
      },
      readyAt: due < now ? now : due,
    };
  });
  return { ...fleet, nodes: [...fleet.nodes, ...nodes], made: fleet.made + count };
}

const VIRTUAL_REQUEST = requestId("virtual");

/** Maximum number of samples of each VM size, and of sizes. The newest are kept. */
const MOST_SAMPLES = 31;
const MOST_SIZES = 200;

/**
 * Adds the boots that ended after `since`, of nodes that were observed before they were Ready. Undefined: all boots of the ledger.
 */
function noteBoots(
  boots: readonly SizeBoots[],
  { nodes }: Pick<Snapshot, "nodes">,
  ledger: Ledger,
  since: Instant | undefined,
): readonly SizeBoots[] {
  let next = boots;
  for (const { nodeId, machineType } of nodes) {
    const seconds = bootSecondsOf(ledger.get(nodeId), since);
    if (seconds !== undefined) next = addSample(next, machineType, seconds);
  }
  return next;
}

function bootSecondsOf(known: LedgerNode | undefined, since: Instant | undefined): number | undefined {
  if (known?.firstReadyAt === undefined) return undefined;
  if (since !== undefined && known.firstReadyAt <= since) return undefined;
  const seconds = secondsBetween(bootingSince(known), known.firstReadyAt);
  // The first observation showed it Ready, so its boot time is not known.
  return seconds > 0 ? seconds : undefined;
}

function addSample(boots: readonly SizeBoots[], size: MachineType, seconds: Seconds): readonly SizeBoots[] {
  const isSame = ({ machineType }: SizeBoots): boolean => sameMachineType(machineType, size);
  const samples = boots.find(isSame)?.seconds ?? [];
  const others = boots.filter((one) => !isSame(one));
  const grown = { machineType: size, seconds: [...samples, seconds].slice(-MOST_SAMPLES) };
  return [...others, grown].slice(-MOST_SIZES);
}

/** How long a new node of the size takes to boot: the median of its boots, else of all boots seen, else the default. */
export function bootSecondsFor(boots: readonly SizeBoots[], size: MachineType): number {
  const own = boots.find(({ machineType }) => sameMachineType(machineType, size))?.seconds;
  return medianOf(own ?? []) ?? medianOf(boots.flatMap(({ seconds }) => seconds)) ?? DEFAULT_BOOT_SECONDS;
}

/** The lower one of the middle two if their number is even. Undefined if there are none. */
function medianOf(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[Math.ceil(values.length / 2) - 1];
}
