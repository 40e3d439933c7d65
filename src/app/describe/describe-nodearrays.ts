import { isLost } from "../../domain/cluster.ts";
import type { Plan, DemandOutcome, GroupedArray, GroupState } from "../../domain/plan.ts";
import type { Node, NodeArray } from "../../domain/cluster.ts";
import type { Dynamics } from "../../decide/world/dynamic-arrays.ts";
import { dynamicsOf } from "../../decide/world/dynamic-arrays.ts";
import { arrayOf, OldNodes } from "../../decide/world/old-nodes.ts";
import { isFlagged } from "../../decide/world/existing-dynamics.ts";
import { admitDemands } from "../../decide/senders/admit.ts";
import type { Bodies } from "../../domain/bodies.ts";
import { dynamicArrayOf, bucketText } from "../../domain/bucket.ts";
import type { RankedDemand } from "../../domain/demand.ts";
import type { ArrayName, SetName } from "../../domain/ids.ts";
import { modeOf } from "../../domain/mode.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Reason } from "../../domain/reason.ts";
import { renderReason } from "../../domain/reason-text.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { compareText } from "../../domain/text.ts";
import type { Timeouts } from "../../domain/timeouts.ts";
import { timeoutsOfArray } from "../../domain/timeouts.ts";
import type { Bytes, Instant } from "../../domain/units.ts";
import type {
  ArrayTimeoutsShown,
  ArrayUseShown,
  DynamicArrayShown,
  NodearrayShown,
  OwnArrayShown,
  GroupedArrayShown,
  GroupShown,
} from "../../wire/api/cluster-answer.ts";
import { managedArrays } from "../../domain/exclusive.ts";
import { quoteText } from "../../domain/secrets.ts";
import { stillInFlight } from "../../domain/record.ts";
import type { PhaseShown } from "../../wire/api/parts.ts";
import { firstBytes } from "./pages.ts";
import { arrayName } from "../../domain/ids.ts";
import { isoTime, plusSeconds } from "../../domain/units.ts";

/** Maximum number of sets named that ask for an array. `moreSets` counts the others. */
const NAMED_SETS = 20;
/** VM sizes of one array. */
const SHOWN_BUCKETS = 300;

/** The demand for an array. */
interface Asked {
  nodes: number;
  cores: number;
  readonly sets: Set<SetName>;
  readonly names: Set<string>;
}

/**
 * The node arrays of the cluster and the dynamic ones: the demand for each and its sets, its nodes, and the number that CycleCloud allowed
 * at the last observation.
 */
export function describeNodearrays(
  record: ClusterRecord,
  bodies: Bodies,
  policy: Policy,
  now: Instant,
): readonly NodearrayShown[] {
  const { seen } = bodies;
  if (seen === undefined) return [];
  const { demands } = admitDemands(record, bodies, policy, now, "all");
  const managed = managedArrays(seen, policy);
  const asked = countAsked(demands);
  const use = describeArrayUse(record, bodies);
  const dynamics = dynamicsOf(demands, record.dynamicArrays ?? [], seen);
  const oldNodesOf = describeOldNodes(new OldNodes(demands, dynamics), bodies);
  const describeUse = (name: ArrayName, parent?: ArrayName): ArrayUseShown => ({
    mode: modeOf(policy, parent ?? name),
    ...describeTimeouts(timeoutsOfArray(policy, name, parent)),
    ...describeAsked(asked.get(name)),
    ...(use.get(name) ?? finish(newTally())),
    ...oldNodesOf(name),
  });
  return [
    ...seen.arrays.map((array) =>
      describeArray(array, { managed: managed.has(array.name) }, describeUse(array.name)),
    ),
    ...describeDynamics(record, dynamics, managed, describeUse),
  ];
}

function countAsked(demands: readonly RankedDemand[]): ReadonlyMap<ArrayName, Asked> {
  const all = new Map<ArrayName, Asked>();
  for (const { set, demand } of demands) {
    if (demand.kind === "job") continue;
    const asked = all.get(demand.array) ?? {
      nodes: 0,
      cores: 0,
      sets: new Set<SetName>(),
      names: new Set<string>(),
    };
    all.set(demand.array, asked);
    asked.sets.add(set);
    if (demand.kind !== "target") continue;
    const { unit, count } = demand.amount;
    for (const name of demand.named?.names ?? []) asked.names.add(name);
    asked[unit] = Math.max(asked[unit], count, unit === "nodes" ? asked.names.size : 0);
  }
  return all;
}

/** The timeouts of an array's nodes, in seconds, under the names of the configuration's keys. */
function describeTimeouts({ idleSeconds, bootSeconds }: Timeouts): ArrayTimeoutsShown {
  return { idleTimeout: idleSeconds, bootTimeout: bootSeconds };
}

/** Targets in nodes and in cores are two lower bounds: the larger one counts. */
function describeAsked(asked: Asked | undefined): Pick<ArrayUseShown, "target" | "askedBy" | "moreSets"> {
  const sets = [...(asked?.sets ?? [])].sort(compareText);
  return {
    target: { nodes: asked?.nodes ?? 0, cores: asked?.cores ?? 0 },
    askedBy: sets.slice(0, NAMED_SETS),
    moreSets: sets.length > NAMED_SETS ? sets.length - NAMED_SETS : undefined,
  };
}

function describeArray(
  array: NodeArray,
  { managed }: { readonly managed: boolean },
  use: ArrayUseShown,
): OwnArrayShown {
  return {
    name: array.name,
    managed,
    ...use,
    spot: array.spot,
    limit: { count: array.limit.count, cores: array.limit.cores },
    // Details of each are in the answer's own buckets, page by page.
    buckets: array.buckets.slice(0, SHOWN_BUCKETS).map((bucket) => ({
      machineType: bucket.machineType,
      vcpus: bucket.machine.vcpus,
      active: bucket.activeCount,
      available: bucket.availableCount,
      max: bucket.maxCount,
      invalid: bucket.valid ? undefined : quoteText(bucket.invalidReason ?? "no reason given"),
    })),
  };
}

/** Existing ones, and requested ones that cannot be created, with the reason. */
function describeDynamics(
  record: ClusterRecord,
  dynamics: Dynamics,
  managed: ReadonlySet<ArrayName>,
  describeUse: (name: ArrayName, parent?: ArrayName) => ArrayUseShown,
): readonly DynamicArrayShown[] {
  const existing = new Map((record.dynamicArrays ?? []).map((array) => [array.name, array]));
  return [...dynamics.values()].flatMap(({ name, definition, parent, refusal }) => {
    const array = existing.get(name);
    const problem =
      refusal?.code === "dynamic-not-asked-for" ? undefined : (refusal ?? unmanaged(parent, managed));
    if (array === undefined && problem === undefined) return [];
    return {
      name,
      dynamic: true,
      exists: array !== undefined,
      extends: (definition ?? array)?.extends,
      flaggedForRemoval: array !== undefined && isFlagged(array),
      ...describeUse(name, (definition ?? array)?.extends),
      problem: problem === undefined ? undefined : renderReason(problem),
    };
  });
}

/** Maximum number of nodes named that have the attributes of before. */
const NAMED_OLD = 20;

/** What changes of the attributes of node arrays left behind: they count for new nodes only. */
function describeOldNodes(old: OldNodes, { seen, ledger }: Bodies): (name: ArrayName) => OldNodesShown {
  const names = new Map<ArrayName, string[]>();
  for (const node of seen?.nodes ?? []) {
    const known = ledger.get(node.nodeId);
    if (known === undefined || !old.isOld(node, known)) continue;
    names.set(arrayOf(known), [...(names.get(arrayOf(known)) ?? []), node.name]);
  }
  return (name) => {
    const all = names.get(name)?.sort(compareText) ?? [];
    return {
      oldNodes: all.length === 0 ? undefined : all.slice(0, NAMED_OLD),
      moreOldNodes: all.length > NAMED_OLD ? all.length - NAMED_OLD : undefined,
    };
  };
}

type OldNodesShown = Pick<ArrayUseShown, "oldNodes" | "moreOldNodes">;

function unmanaged(parent: NodeArray | undefined, managed: ReadonlySet<ArrayName>): Reason | undefined {
  if (parent === undefined || managed.has(parent.name)) return undefined;
  return { code: "array-not-managed", array: parent.name };
}

/**
 * The part of an array's answer about its nodes and the sets that need them. `neededBy`: several sets may need a node, and a verdict names
 * the first few.
 */
type ArrayUse = Omit<
  ArrayUseShown,
  keyof ArrayTimeoutsShown | keyof OldNodesShown | "mode" | "target" | "askedBy" | "moreSets"
>;

type DescribedTarget = ArrayUse["targets"][number];

/** Limits of a state page for the targets and sets of each array, in number and bytes. */
const SHOWN = 200;
const SHOWN_BYTES: Bytes = 16_000;

interface Tally {
  readonly targets: DescribedTarget[];
  readonly nodes: Partial<Record<PhaseShown, number>>;
  count: number;
  inFlight: number;
  readonly neededBy: Map<SetName, number>;
  notNeeded: number;
}

/** The use of every array, including dynamic ones, that has demand or nodes. */
function describeArrayUse(record: ClusterRecord, bodies: Bodies): ReadonlyMap<ArrayName, ArrayUse> {
  const tallies = new Map<ArrayName, Tally>();
  const tallyOf = (array: ArrayName): Tally => {
    const tally = tallies.get(array) ?? newTally();
    tallies.set(array, tally);
    return tally;
  };
  const sets = setsByDemand(bodies);
  for (const { array, target } of targetsOf(record, bodies)) tallyOf(array).targets.push(target);
  for (const entry of record.inFlight)
    tallyOf(dynamicArrayOf(entry.purpose) ?? entry.bucket.array).inFlight += stillInFlight(entry);
  for (const node of bodies.seen?.nodes ?? []) {
    const known = bodies.ledger.get(node.nodeId);
    if (known === undefined) continue;
    const tally = tallyOf(dynamicArrayOf(known.purpose) ?? node.array);
    if (node.phase !== "off") tally.count += 1;
    const phase = phaseShown(node, bodies.plan);
    tally.nodes[phase] = (tally.nodes[phase] ?? 0) + 1;
    const verdict = bodies.plan?.nodes.get(node.nodeId);
    if (verdict?.kind !== "needed" && verdict?.kind !== "starting") {
      tally.notNeeded += 1;
      continue;
    }
    const needing = new Set(verdict.by.flatMap((demand) => sets.get(demand) ?? []));
    for (const set of needing) tally.neededBy.set(set, (tally.neededBy.get(set) ?? 0) + 1);
  }
  return new Map([...tallies].map(([array, tally]) => [array, finish(tally)]));
}

function newTally(): Tally {
  return { targets: [], nodes: {}, count: 0, inFlight: 0, neededBy: new Map(), notNeeded: 0 };
}

function finish(tally: Tally): ArrayUse {
  const sets = [...tally.neededBy].toSorted(([, a], [, b]) => b - a).slice(0, SHOWN);
  const neededBy = sets.map(([requestSet, nodes]) => ({ requestSet, nodes }));
  return {
    ...tally,
    targets: firstBytes(tally.targets.slice(0, SHOWN), SHOWN_BYTES),
    neededBy: firstBytes(neededBy, SHOWN_BYTES),
  };
}

/** Targets of live sets with their results in the last plan. Targets that no plan has seen yet are missing. */
function* targetsOf(
  { sets }: ClusterRecord,
  { demands, plan }: Bodies,
): Generator<{ readonly array: ArrayName; readonly target: DescribedTarget }> {
  const outcomes = new Map<SetName, Map<string, DemandOutcome>>();
  for (const outcome of plan?.demands ?? []) {
    if (outcome.kind === "job") continue;
    const ofSet = outcomes.get(outcome.set) ?? new Map<string, DemandOutcome>();
    outcomes.set(outcome.set, ofSet.set(outcome.id, outcome));
  }
  for (const [set, entry] of sets) {
    for (const demand of demands.get(entry.digest)?.demands ?? []) {
      const outcome = demand.kind === "job" ? undefined : outcomes.get(set)?.get(demand.id);
      if (demand.kind === "job" || outcome === undefined) continue;
      const { id, unit, asked, placed } = outcome;
      yield { array: demand.array, target: { requestSet: set, id, unit, asked, placed } };
    }
  }
}

/** The sets of "set/demand", from the plan's own demands: a set's name may contain any character. */
function setsByDemand({ plan }: Bodies): ReadonlyMap<string, SetName> {
  return new Map((plan?.demands ?? []).map(({ set, id }) => [`${set}/${id}`, set]));
}

/** The groups of an array and size are shown up to this many bytes. Counts always cover all of them. */
const GROUPS_BYTES: Bytes = 40_000;
/** The same for the sets that ask for them. */
const SETS_BYTES: Bytes = 8000;
/** A group takes at least 100 bytes. */
const MOST_SHOWN = 400;

/**
 * The generated arrays of grouped requests ("execute:64", "execute:16n") after the last plan: their groups, the buckets and sizes of these,
 * and why the nodes of a group that was given up may be stopped.
 */
export function describeGroups({ plan }: Bodies, policy: Policy): readonly GroupedArrayShown[] {
  return (plan?.groups ?? []).map((array) => describeGrouped(array, policy));
}

function describeGrouped(array: GroupedArray, policy: Policy): GroupedArrayShown {
  const { name, wanted, sets, ungrouped, groups } = array;
  const counted = groups.filter(({ state }) => state === "whole" || state === "filling");
  const sum = (of: (group: GroupState) => number): number => groups.reduce((all, one) => all + of(one), 0);
  return {
    name,
    extends: array.array,
    ...describeTimeouts(timeoutsOfArray(policy, arrayName(name), array.array)),
    requestSets: firstBytes(sets, SETS_BYTES),
    groupsWanted: wanted,
    groupsWhole: counted.filter(({ nodes, size }) => nodes >= size).length,
    nodes: sum(({ existing }) => existing),
    nodesReady: sum(({ ready }) => ready),
    ungrouped:
      ungrouped === true
        ? "CycleCloud shows no placement groups for these VM sizes: ordinary nodes, as many as the groups have"
        : undefined,
    groups: firstBytes(
      groups.slice(0, MOST_SHOWN).map((group) => describeGroup(group, policy)),
      GROUPS_BYTES,
    ),
  };
}

function describeGroup(group: GroupState, policy: Policy): GroupShown {
  const { bucket, state, size, nodes, existing, ready, since, givenUpAt } = group;
  return {
    id: bucket.placementGroup,
    bucket: bucketText(bucket),
    machineType: bucket.machineType,
    state,
    nodesWanted: size,
    nodesAskedFor: nodes,
    nodes: existing,
    nodesReady: ready,
    since: isoTime(since),
    givenUpAt: isoTime(givenUpAt),
    why: whyOf(group, policy),
  };
}

function whyOf({ state, size, nodes, ready, since }: GroupState, policy: Policy): string {
  switch (state) {
    case "whole":
      return ready >= size ? "all of its nodes are up" : "all of its nodes are there or on their way";
    case "filling": {
      if (nodes >= size) return "all of its nodes are there or on their way";
      const until = since === undefined ? undefined : plusSeconds(since, policy.groupFillTimeoutSeconds);
      const then = until === undefined ? "" : ` until ${isoTime(until)}; then its nodes are released`;
      return `lacks ${size - nodes} of ${size} nodes and is filled${then}`;
    }
    case "given-up":
      return "was not complete in time: its nodes may be removed, except those with jobs";
    case "spare":
      return "no request asks for it any more: its nodes may be removed, except those with jobs";
  }
}

/** A node's phase as shown to users. `down`: it was Ready and is no longer up. `missing`: the last observation lacked it. */
export function phaseShown(node: Node, plan: Plan | undefined): PhaseShown {
  if (isLost(node)) return "missing";
  return plan?.nodes.get(node.nodeId)?.kind === "down" ? "down" : node.phase;
}
