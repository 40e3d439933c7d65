import { autoscaleSettingsOf, spotIn } from "../../domain/attributes.ts";
import { dynamicArrayOf } from "../../domain/bucket.ts";
import type { NodeArray } from "../../domain/cluster.ts";
import type { DynamicDefinition } from "../../domain/dynamic-array.ts";
import type { ArrayName, PlacementGroup } from "../../domain/ids.ts";
import { placementGroup, sameMachineType } from "../../domain/ids.ts";
import { InTurn } from "../../domain/in-turn.ts";
import type { Reason } from "../../domain/reason.ts";
import type { World } from "../../domain/world.ts";
import type { WorldInput } from "./world-input.ts";

/**
 * Dynamic node arrays as the allocator sees them: arrays with buckets of their own. Their nodes count for their own targets, and not for
 * those of the array that they extend. They share its limits and pauses. They share its quotas too, unless only one of the two is spot.
 */
export interface DynamicSupply {
  /** Whether each array is ours, including dynamic ones. */
  readonly arrays: World["arrays"];
  /** Each dynamic array as a copy of the array that it extends, with its own name and definition. */
  readonly copies: readonly NodeArray[];
  /** Dynamic arrays that get no new nodes, and why. */
  readonly refused: ReadonlyMap<ArrayName, Reason>;
}

/** Makes the arrays of all dynamic arrays that exist or are defined. */
export function dynamicSupply(input: WorldInput, managed: World["arrays"]): DynamicSupply {
  const arrays = new Map(managed);
  const copies: NodeArray[] = [];
  const refused = new Map<ArrayName, Reason>();
  for (const { name, definition, parent, refusal } of input.dynamics?.values() ?? []) {
    if (refusal !== undefined) refused.set(name, refusal);
    if (refusal?.code === "dynamic-name-taken") continue;
    arrays.set(name, "managed");
    if (parent === undefined || definition === undefined) continue;
    copies.push(copyOf(name, parent, definition));
    if (managed.get(parent.name) !== "managed" && refusal === undefined)
      refused.set(name, { code: "array-not-managed", array: parent.name });
  }
  const copied = new Set(copies.map(({ name }) => name));
  for (const [name, parent] of homesOf(input)) {
    const array = input.snapshot.arrays.find((one) => one.name === parent);
    if (copied.has(name) || array === undefined || managed.has(name)) continue;
    arrays.set(name, "managed");
    copies.push({ ...array, name });
  }
  return { arrays, copies, refused };
}

/** By dynamic array with nodes, the array in which they are created, even if no set defines it any more. */
function homesOf({
  snapshot,
  ledger,
  inFlight,
  pendingCreates,
}: WorldInput): ReadonlyMap<ArrayName, ArrayName> {
  const homes = new Map<ArrayName, ArrayName>();
  const entries = new InTurn(ledger);
  snapshot.nodes.forEach(({ nodeId, array }) => {
    const name = dynamicArrayOf(entries.get(nodeId)?.purpose);
    if (name !== undefined) homes.set(name, array);
  });
  for (const { purpose, bucket } of [...inFlight, ...pendingCreates]) {
    const name = dynamicArrayOf(purpose);
    if (name !== undefined) homes.set(name, bucket.array);
  }
  return homes;
}

function copyOf(name: ArrayName, parent: NodeArray, definition: DynamicDefinition): NodeArray {
  const { attributes = {}, machineTypes } = definition;
  const { resources, configuration, isHpc } = autoscaleSettingsOf(attributes["Configuration"]);
  const { notHpc, ...rest } = parent;
  const spot = spotIn(attributes);
  const group = pinnedGroupOf(definition);
  const buckets = parent.buckets.filter(
    ({ machineType }) => machineTypes?.some((type) => sameMachineType(type, machineType)) ?? true,
  );
  return {
    ...rest,
    name,
    ...((isHpc ?? notHpc !== true) ? {} : { notHpc: true }),
    resources: { ...parent.resources, ...resources },
    ...(configuration === undefined ? {} : { configuration: { ...parent.configuration, ...configuration } }),
    ...(spot === undefined ? {} : { spot }),
    ...(group === undefined ? {} : { placementGroup: group }),
    buckets,
  };
}

/** The placement group that the definition names. It is the array's only one, as in a template (cyclecloud-wire.md A.3, semantics 11). */
export function pinnedGroupOf({ attributes = {} }: DynamicDefinition): PlacementGroup | undefined {
  const group = attributes["PlacementGroupId"];
  return typeof group === "string" && group !== "" ? placementGroup(group) : undefined;
}
