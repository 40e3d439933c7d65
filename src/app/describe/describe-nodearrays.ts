import type { Dynamics } from "../../decide/world/dynamic-arrays.ts";
import { dynamicsOf } from "../../decide/world/dynamic-arrays.ts";
import { isFlagged } from "../../decide/world/existing-dynamics.ts";
import { admitDemands } from "../../decide/senders/admit.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { Purpose } from "../../domain/bucket.ts";
import { dynamicArrayOf } from "../../domain/bucket.ts";
import type { NodeArray } from "../../domain/cluster.ts";
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
import type { Instant } from "../../domain/units.ts";
import type {
  ArrayTimeoutsShown,
  ArrayUseShown,
  DynamicArrayShown,
  NodearrayShown,
  OwnArrayShown,
} from "../../wire/api/cluster-arrays.ts";
import { describeArrayUse, NO_USE } from "./describe-array-use.ts";
import { managedArrays } from "../../domain/managed-arrays.ts";
import { quoteText } from "../../domain/secrets.ts";

/** Maximum number of sets named that ask for an array. `moreSets` counts the others. */
const NAMED_SETS = 20;
/** VM sizes of one array. */
const SHOWN_BUCKETS = 300;

/** The demand for an array. */
interface Asked {
  nodes: number;
  cores: number;
  readonly sets: Set<SetName>;
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
  const { demands } = admitDemands(record, bodies, policy, { now });
  const managed = managedArrays(seen, policy);
  const asked = countAsked(demands);
  const use = describeArrayUse(record, bodies);
  const describeUse = (name: ArrayName, parent?: ArrayName): ArrayUseShown => ({
    mode: modeOf(policy, parent ?? name),
    ...describeTimeouts(timeoutsOfArray(policy, name, parent)),
    ...describeAsked(asked.get(name)),
    ...(use.get(name) ?? NO_USE),
  });
  const dynamics = dynamicsOf(demands, record.dynamicArrays ?? [], seen);
  return [
    ...seen.arrays.map((array) =>
      describeArray(array, { managed: managed.has(array.name) }, describeUse(array.name)),
    ),
    ...describeDynamics(record, dynamics, managed, describeUse),
  ];
}

/** The array that a node counts for, under its usual name: "execute", a dynamic one, or the grouped "execute:64". */
export function arrayShown(purpose: Purpose, array: ArrayName): string {
  return purpose.kind === "group" ? purpose.key : (dynamicArrayOf(purpose) ?? array);
}

function countAsked(demands: readonly RankedDemand[]): ReadonlyMap<ArrayName, Asked> {
  const all = new Map<ArrayName, Asked>();
  for (const { set, demand } of demands) {
    if (demand.kind === "job") continue;
    const asked = all.get(demand.array) ?? { nodes: 0, cores: 0, sets: new Set<SetName>() };
    all.set(demand.array, asked);
    asked.sets.add(set);
    if (demand.kind !== "target") continue;
    const { unit, count } = demand.amount;
    asked[unit] = Math.max(asked[unit], count);
  }
  return all;
}

/** The timeouts of an array's nodes, in seconds, under the names of the configuration's keys. */
export function describeTimeouts({ idleSeconds, bootSeconds }: Timeouts): ArrayTimeoutsShown {
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

function unmanaged(parent: NodeArray | undefined, managed: ReadonlySet<ArrayName>): Reason | undefined {
  if (parent === undefined || managed.has(parent.name)) return undefined;
  return { code: "array-not-managed", array: parent.name };
}
