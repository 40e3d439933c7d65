import type { Dynamics } from "../decide/dynamic-arrays.ts";
import { dynamicsOf, isFlagged } from "../decide/dynamic-arrays.ts";
import { managedArrays } from "../decide/observe.ts";
import { demandsInForce } from "../decide/reconcile.ts";
import type { Bodies } from "../domain/bodies.ts";
import type { Purpose } from "../domain/bucket.ts";
import { dynamicArrayOf } from "../domain/bucket.ts";
import type { NodeArray, Snapshot } from "../domain/cluster.ts";
import type { RankedDemand } from "../domain/demand.ts";
import type { ArrayName, SetName } from "../domain/ids.ts";
import type { Policy } from "../domain/policy.ts";
import type { Reason } from "../domain/reason.ts";
import { renderReason } from "../domain/reason.ts";
import type { ClusterRecord } from "../domain/record.ts";
import { stillInFlight } from "../domain/record.ts";
import { compareText } from "../domain/text.ts";
import type { Instant } from "../domain/units.ts";

/** Of those who ask for an array so many are named; `moreSets` counts the others. */
const NAMED_SETS = 20;

type Described = Readonly<Record<string, unknown>>;

/** What is counted of an array. */
interface Tally {
  nodes: number;
  inFlight: number;
  targetNodes: number;
  targetCores: number;
  readonly sets: Set<SetName>;
}

/**
 * The node arrays of the cluster and the dynamic ones: what is asked of each and by whom, what it has, and what CycleCloud said at the
 * last look that it could still get.
 */
export function describeNodearrays(
  record: ClusterRecord,
  bodies: Bodies,
  policy: Policy,
  now: Instant,
): readonly Described[] {
  const { seen } = bodies;
  if (seen === undefined) return [];
  const demands = demandsInForce(record, bodies, now);
  const managed = managedArrays(seen, policy);
  const tallies = countAll(record, bodies, seen, demands);
  const dynamics = dynamicsOf(demands, record.dynamicArrays ?? [], seen);
  return [
    ...seen.arrays.map((array) => describeArray(array, managed.has(array.name), tallies.get(array.name))),
    ...describeDynamics(record, dynamics, managed, tallies),
  ];
}

/** The array that a node counts for, as users call it: "execute", a dynamic one, or the grouped "execute:64". */
export function arrayShown(purpose: Purpose, array: ArrayName): string {
  return purpose.kind === "group" ? purpose.key : (dynamicArrayOf(purpose) ?? array);
}

function countAll(
  record: ClusterRecord,
  { ledger }: Bodies,
  seen: Snapshot,
  demands: readonly RankedDemand[],
): ReadonlyMap<string, Tally> {
  const tallies = new Map<string, Tally>();
  const of = (name: string): Tally => {
    const known = tallies.get(name);
    if (known !== undefined) return known;
    const tally: Tally = { nodes: 0, inFlight: 0, targetNodes: 0, targetCores: 0, sets: new Set() };
    tallies.set(name, tally);
    return tally;
  };
  for (const node of seen.nodes) {
    const known = ledger.get(node.nodeId);
    if (known !== undefined && node.phase !== "off")
      of(dynamicArrayOf(known.purpose) ?? node.array).nodes += 1;
  }
  for (const entry of record.inFlight)
    of(dynamicArrayOf(entry.purpose) ?? entry.bucket.array).inFlight += stillInFlight(entry);
  for (const { set, demand } of demands) {
    if (demand.kind === "job") continue;
    const tally = of(demand.array);
    tally.sets.add(set);
    if (demand.kind !== "target") continue;
    const { unit, count } = demand.amount;
    if (unit === "nodes") tally.targetNodes = Math.max(tally.targetNodes, count);
    else tally.targetCores = Math.max(tally.targetCores, count);
  }
  return tallies;
}

/** Targets in nodes and in cores are two floors: the one that asks for more counts. */
function describeTally(tally: Tally | undefined): Described {
  const sets = [...(tally?.sets ?? [])].sort(compareText);
  return {
    target: { nodes: tally?.targetNodes ?? 0, cores: tally?.targetCores ?? 0 },
    nodes: tally?.nodes ?? 0,
    inFlight: tally?.inFlight ?? 0,
    askedBy: sets.slice(0, NAMED_SETS),
    ...(sets.length > NAMED_SETS ? { moreSets: sets.length - NAMED_SETS } : {}),
  };
}

function describeArray(array: NodeArray, managed: boolean, tally: Tally | undefined): Described {
  return {
    name: array.name,
    managed,
    ...describeTally(tally),
    spot: array.spot,
    limit: array.limit,
    buckets: array.buckets.map((bucket) => ({
      machineType: bucket.machineType,
      vcpus: bucket.machine.vcpus,
      active: bucket.activeCount,
      available: bucket.availableCount,
      max: bucket.maxCount,
      invalid: bucket.valid ? undefined : (bucket.invalidReason ?? "no reason given"),
    })),
  };
}

/** Those that exist, and those that are asked for and cannot come to be, with the reason. */
function describeDynamics(
  record: ClusterRecord,
  dynamics: Dynamics,
  managed: ReadonlySet<ArrayName>,
  tallies: ReadonlyMap<string, Tally>,
): readonly Described[] {
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
      ...describeTally(tallies.get(name)),
      ...(problem === undefined ? {} : { problem: renderReason(problem) }),
    };
  });
}

function unmanaged(parent: NodeArray | undefined, managed: ReadonlySet<ArrayName>): Reason | undefined {
  if (parent === undefined || managed.has(parent.name)) return undefined;
  return { code: "array-not-managed", array: parent.name };
}
