import type { Bodies } from "../../domain/bodies.ts";
import type { NodeArray, Snapshot } from "../../domain/cluster.ts";
import type {
  Demand,
  GroupDemand,
  RequestSetUpdate,
  SetDemand,
  TargetDemand,
  WholeUpdate,
} from "../../domain/demand.ts";
import { renderReason } from "../../domain/reason-text.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { SizeNames } from "../../domain/size-names.ts";
import { compareText, someOf } from "../../domain/text.ts";
import type { AcknowledgementShown } from "../../wire/api/request-set-answers.ts";
import { dynamicsOf } from "../../decide/world/dynamic-arrays.ts";
import { arrayOf, OldNodes } from "../../decide/world/old-nodes.ts";
import { definitionText } from "../../decide/senders/admit.ts";
import { digestOf } from "../../domain/digest.ts";
import { ruleOf } from "../../decide/senders/sender-rule.ts";
import type { SetName } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import { poolsOf } from "../../domain/request-sets.ts";
import { NO_SENDER_RULES } from "../../domain/sender-rules.ts";
import { noteMoreRejected } from "../../domain/more-rejected.ts";
import { noteNoAmounts } from "../../domain/no-amount.ts";
import type { LoadedRecord } from "../ports/record-store.ts";
import type { Ports } from "../ports/ports.ts";
import { PortError } from "../ports/port-error.ts";
import { readBodiesOf, type RecordedDemand } from "./record-demand.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** What the sender of an accepted update should know, one sentence each. Never throws: the demand is durable, so a failure only costs notes. */
export async function noteAccepted(
  ports: Ports,
  { changed, record, update, before }: RecordedDemand,
): Promise<readonly string[]> {
  try {
    // A renewal stays cheap: what can be said of its demand was said when it came.
    const bodies =
      changed && before !== undefined ? await readKnown(ports, before, new Set([update.set])) : undefined;
    const held = before?.record.sets.get(update.set);
    const demand = held?.live === true ? bodies?.demands.get(held.digest) : undefined;
    const policy = await ports.policyOf(update.cluster);
    return [
      ...noteMoreRejected(update.demand),
      ...noteNoAmounts(update.demand?.demands ?? []),
      ...noteDemand(update, {
        record,
        ...withoutAbsent({ bodies, before: demand }),
      }),
      ...noteSenders(update, record, policy),
      ...(changed ? noteOpenToOthers(update, policy) : []),
    ];
  } catch (error) {
    ports.log("notes-left-out", { cluster: update.cluster, set: update.set, message: String(error) });
    return [];
  }
}

/** What is known of the cluster and of these sets. Without it there are fewer notes. */
async function readKnown(
  { store }: Ports,
  before: LoadedRecord,
  sets: ReadonlySet<SetName>,
): Promise<Bodies | undefined> {
  try {
    return await readBodiesOf(store, before, sets);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    return undefined;
  }
}

/** The amounts that a request set asks for, for comparison with its sender's intention. */
export function countAsked({ demands }: SetDemand): NonNullable<AcknowledgementShown["asks"]> {
  const jobs = demands.filter((demand) => demand.kind === "job");
  return {
    nodearrays: demands.length - jobs.length,
    jobs: jobs.length,
    slots: jobs.reduce((sum, { iterations, nodeCount = 1 }) => sum + iterations * nodeCount, 0),
  };
}

/** The facts when the update was accepted. */
interface Circumstances {
  /** The record with the update, and the bodies of the previous record. Absent: they were not read, because nothing changed. */
  readonly record: ClusterRecord;
  readonly bodies?: Bodies;
  /** The set's previous demand. */
  readonly before?: SetDemand;
}

/** Notes on accepted demand that may not be what its sender intended, one sentence each. Limits are those of the last observation. */
export function noteDemand(update: RequestSetUpdate, known: Circumstances): readonly string[] {
  // A message without demand leaves the set's demand unchanged.
  if (update.demand === undefined) return noteCut(update);
  const entries = update.demand.demands.filter(isArrayDemand);
  const { seen } = known.bodies ?? {};
  return [
    ...noteCut(update),
    ...noteReplaced(update),
    ...(seen === undefined ? [] : noteUnknown(entries, seen, known.record)),
    ...(seen === undefined ? [] : noteSizes(update.demand.demands, seen)),
    ...(seen === undefined ? [] : entries.flatMap((entry) => noteHuge(entry, seen))),
    ...noteDropped(entries, update, known.before),
    ...noteOld(update, known),
  ];
}

/** Nodes that a change of attributes left behind. */
function noteOld(
  { set, demand, others }: WholeUpdate,
  { record, bodies, before }: Circumstances,
): readonly string[] {
  const { seen, ledger } = bodies ?? {};
  if (seen === undefined || ledger === undefined || before === undefined || others === "stay") return [];
  const oldBy = ({ demands }: SetDemand): OldNodes => {
    const ranked = demands.map((one) => ({ set, demand: one }));
    return new OldNodes(ranked, dynamicsOf(ranked, record.dynamicArrays ?? [], seen));
  };
  const [now, then] = [oldBy(demand), oldBy(before)];
  const old = seen.nodes.flatMap((node) => {
    const known = ledger.get(node.nodeId);
    if (known === undefined || !now.isOld(node, known) || then.isOld(node, known)) return [];
    return [{ name: node.name, array: arrayOf(known), replaced: now.isReplaced(node, known) }];
  });
  return [...Map.groupBy(old, ({ array }) => array)].map(([array, nodes]) => {
    const names = someOf(nodes.map(({ name }) => name).sort(compareText), NAMED);
    const then = nodes.some(({ replaced }) => replaced)
      ? "they are replaced when they are idle"
      : 'they stay until they are stopped; "replace-when-idle": true replaces them when they are idle';
    return `node array ${array}: the change of its attributes counts for new nodes; with the old ones: ${names}; ${then}`;
  });
}

/** Arrays of named nodes in which other demand makes nodes, too. */
function noteOpenToOthers(
  { demand }: RequestSetUpdate,
  { namedArrays = [] }: Pick<Policy, "namedArrays">,
): readonly string[] {
  const named = (demand?.demands ?? []).filter((one) => one.kind === "target" && one.named !== undefined);
  const arrays = named.filter(isArrayDemand).map(({ array }) => array);
  const open = new Set(arrays.filter((array) => !namedArrays.includes(array)));
  return [...open].map(
    (array) =>
      `node array ${array} is not in "named" of the configuration: numbered nodes of other demand may take names that are asked for here`,
  );
}

/** An entry of `nodearrays`. */
type ArrayDemand = TargetDemand | GroupDemand;

function isArrayDemand(demand: Demand): demand is ArrayDemand {
  return demand.kind !== "job";
}

function noteCut({ askedIntervalSeconds, intervalSeconds }: RequestSetUpdate): readonly string[] {
  if (askedIntervalSeconds === undefined) return [];
  return [
    `expirationInterval ${askedIntervalSeconds} s is cut to ${intervalSeconds} s, this cluster's maxExpirationInterval`,
  ];
}

/** Bytes that are not UTF-8 were read as the sign of replacement. One such name must not cost all others their demand. */
function noteReplaced({ demand }: WholeUpdate): readonly string[] {
  const names = demand.demands
    .flatMap((one) => (one.kind === "job" ? [one.name, one.user ?? ""] : [one.array]))
    .filter((name) => name.includes("\uFFFD"));
  if (names.length === 0) return [];
  return [
    `${someOf([...new Set(names)], MOST_NAMED)}: "\uFFFD" stands for bytes that are not UTF-8: names that differ only there are the same, and caps and senders know others; send UTF-8`,
  ];
}

function noteUnknown(
  entries: readonly ArrayDemand[],
  seen: Snapshot,
  record: ClusterRecord,
): readonly string[] {
  const names = seen.arrays.map(({ name }) => name);
  const dynamic = entries.filter((entry) => entry.extends !== undefined).map(({ array }) => array);
  const known = new Set([...names, ...dynamic, ...(record.dynamicArrays ?? []).map(({ name }) => name)]);
  const unknown = new Set(entries.map(({ array }) => array).filter((array) => !known.has(array)));
  return [...unknown].map((array) => renderReason({ code: "unknown-array", array, known: names }));
}

/** VM sizes that are taken for those that the cluster offers, and those that it does not offer. */
function noteSizes(demands: readonly Demand[], { arrays }: Snapshot): readonly string[] {
  const names = new SizeNames(arrays.flatMap(({ buckets }) => buckets.map((bucket) => bucket.machineType)));
  for (const demand of demands) names.inDemand(demand);
  const pairs = [...names.taken].map(([written, meant]) => `${written} for ${meant}`);
  return [
    ...(pairs.length === 0
      ? []
      : [`VM sizes are taken for those that the cluster offers: ${someOf(pairs, NAMED)}`]),
    ...(names.unknown.size === 0
      ? []
      : [`no node array of the cluster offers these VM sizes: ${someOf([...names.unknown], NAMED)}`]),
  ];
}

/** More than the maximum of the node array or of the cluster. */
function noteHuge(entry: ArrayDemand, seen: Snapshot): readonly string[] {
  const home = entry.extends ?? entry.array;
  const array = seen.arrays.find(({ name }) => name === home);
  if (array === undefined) return [];
  const asked = leastOf(entry, array);
  const bounds = [
    { name: `node array ${home}`, limit: array.limit },
    { name: "the cluster", limit: seen.limit },
  ];
  for (const { name, limit } of bounds) {
    const over = OVER.find(({ unit, max }) => asked[unit] > (max(limit) ?? Infinity));
    if (over === undefined) continue;
    return [
      `node array ${entry.array}: ${asked[over.unit]} ${over.unit} asked for, ${name} has at most ${over.max(limit) ?? 0} (${over.key})`,
    ];
  }
  return [];
}

const OVER = [
  { unit: "nodes", key: "maxCount", max: ({ count }: NodeArray["limit"]) => count },
  { unit: "cores", key: "maxCoreCount", max: ({ cores }: NodeArray["limit"]) => cores },
] as const;

/** The minimum number of nodes and cores for an entry, in the largest or the smallest VM sizes of its node array. */
function leastOf(entry: ArrayDemand, { buckets }: NodeArray): Readonly<Record<"nodes" | "cores", number>> {
  const { unit, count } = entry.kind === "target" ? entry.amount : entry.size;
  const asked = count * (entry.kind === "target" ? 1 : entry.groups);
  const vcpus = buckets.map(({ machine }) => machine.vcpus).filter((cores) => cores > 0);
  if (unit === "cores")
    return { cores: asked, nodes: vcpus.length === 0 ? 0 : Math.ceil(asked / Math.max(...vcpus)) };
  return { nodes: asked, cores: vcpus.length === 0 ? 0 : asked * Math.min(...vcpus) };
}

/** A message replaces its set: demand that it does not name ends. An empty message ends all demand. */
function noteDropped(
  entries: readonly ArrayDemand[],
  { set, demand, others }: WholeUpdate,
  before: SetDemand | undefined,
): readonly string[] {
  if (before === undefined || others === "stay" || demand.demands.length === 0) return [];
  const now = new Set(entries.map(({ array }) => array));
  const dropped = new Set(
    before.demands
      .filter(isArrayDemand)
      .map(({ array }) => array)
      .filter((array) => !now.has(array)),
  );
  if (dropped.size === 0) return [];
  const names = someOf([...dropped], MOST_NAMED);
  return [`request set ${set} no longer asks for ${names}: a message replaces all of its request set`];
}

const MOST_NAMED = 10;

/** Maximum number of items of one kind in a note. */
const NAMED = 10;

/**
 * Parts of an accepted update that have less effect than stated, one sentence each: because of its sender's rule, or because another set
 * was first. `record` includes the update.
 */
function noteSenders(
  update: RequestSetUpdate,
  record: ClusterRecord,
  { senders = NO_SENDER_RULES }: Pick<Policy, "senders">,
): readonly string[] {
  const { set, demand } = update;
  const pools = (demand === undefined ? update.pools : demand.pools) ?? [];
  const demands = demand?.demands ?? [];
  return [
    ...noteLowered(demands, ruleOf(senders, set)?.maxPriority),
    ...noteOwnedPools(
      pools.map(({ name }) => name),
      set,
      record,
    ),
    ...noteDefined(demands, set, record),
  ];
}

function noteLowered(demands: readonly Demand[], most: number | undefined): readonly string[] {
  const lowered = most === undefined ? [] : demands.filter(({ priority }) => priority > most);
  if (most === undefined || lowered.length === 0) return [];
  return [
    `the priority of ${lowered.length} of its demands is lowered to ${most}, as the configuration (senders) says`,
  ];
}

function noteOwnedPools(names: readonly string[], set: SetName, record: ClusterRecord): readonly string[] {
  const live = poolsOf(record);
  return (record.poolOwners ?? []).flatMap(({ set: owner, pools }) => {
    if (owner === set || live.get(owner)?.live !== true) return [];
    const keys = new Set(pools);
    const owned = names.filter((name) => keys.has(digestOf(name)));
    if (owned.length === 0) return [];
    return [
      `what it says of the pools ${someOf(owned, NAMED)} does not count: they belong to request set ${owner}, which named them first`,
    ];
  });
}

function noteDefined(demands: readonly Demand[], set: SetName, record: ClusterRecord): readonly string[] {
  const known = new Map((record.dynamicArrays ?? []).map((array) => [array.name, array]));
  return demands.flatMap((demand) => {
    if (demand.kind === "job" || demand.extends === undefined) return [];
    const first = known.get(demand.array);
    if (first?.by === undefined || first.by === set || record.sets.get(first.by)?.live !== true) return [];
    if (definitionText(first) === definitionText(demand)) return [];
    return [
      `dynamic node array ${demand.array} stays unmet: request set ${first.by} defined it first, and otherwise`,
    ];
  });
}
