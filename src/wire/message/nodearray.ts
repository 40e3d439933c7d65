import type { Demand, GroupDemand, NodeAttributes, TargetDemand } from "../../domain/demand.ts";
import type { MachineType } from "../../domain/ids.ts";
import { arrayName, machineType } from "../../domain/ids.ts";
import { isFields } from "../json/fields.ts";
import { TARGET_ID_PREFIX } from "./job.ts";
import { addSchemaProblems } from "../json/schema-problems.ts";
import type { Problems } from "../json/problems.ts";
import {
  targetProblems,
  dynamicProblems,
  findAttributeProblems,
  attributesOf,
} from "./nodearray-problems.ts";
import type { Definition } from "./nodearray-problems.ts";
import { nodearraySchema, KNOWN_KEYS } from "./nodearray-schema.ts";
import type { Nodearray } from "./nodearray-schema.ts";

/**
 * Translates the targets of a message, in order. Several entries may name one array: each is a separate lower bound, and the largest counts
 * (architecture.md, Merging demand). All problems are reported. Any of them rejects the message.
 */
export function readNodearrays(items: readonly unknown[], problems: Problems): readonly Demand[] {
  const demands: Demand[] = [];
  const ids = new Map<string, number>();
  const defined = new Map<unknown, Definition>();
  items.forEach((item, index) => {
    const found = problems.below(() => `nodearrays[${index}]`);
    const parsed = nodearraySchema.safeParse(item);
    if (!parsed.success) addSchemaProblems(found, parsed.error, item, () => KNOWN_KEYS);
    if (isFields(item)) {
      found.addBelow("", targetProblems(item));
      found.addBelow("", dynamicProblems(item, index, defined));
      findAttributeProblems(item, found);
    }
    if (parsed.success && isFields(item) && found.count === 0) {
      demands.push(lower(parsed.data, attributesOf(item), index, ids));
    }
  });
  return demands;
}

function lower(
  entry: Nodearray,
  others: NodeAttributes,
  position: number,
  ids: Map<string, number>,
): TargetDemand | GroupDemand {
  const array = arrayName(entry.Name);
  const common = { position, priority: 0 };
  const types = entry.MachineType === undefined ? {} : { machineTypes: machineTypesOf(entry.MachineType) };
  const attributes = Object.keys(others).length === 0 ? {} : { attributes: others };
  const parent = entry.Extends === undefined ? {} : { extends: arrayName(entry.Extends) };
  // Keys in alphabetical order: see digestOf.
  if (entry.TargetGroupCount === undefined) {
    const amount = amountOf(entry.TargetCount, entry.TargetCoreCount);
    const id = uniqueId(`${TARGET_ID_PREFIX}${entry.Name}`, ids);
    return { amount, array, ...attributes, ...parent, id, kind: "target", ...types, ...common };
  }
  const size = amountOf(entry.GroupInstanceCount, entry.GroupCoreCount);
  const key = `${entry.Name}:${size.count}${size.unit === "nodes" ? "n" : ""}`;
  const id = uniqueId(`${TARGET_ID_PREFIX}${key}`, ids);
  return {
    array,
    ...attributes,
    ...parent,
    groups: entry.TargetGroupCount,
    id,
    kind: "groups",
    ...types,
    ...common,
    size,
  };
}

/** The one that is present: the earlier checks ensure exactly one. */
function amountOf(nodes: number | undefined, cores: number | undefined): TargetDemand["amount"] {
  return cores === undefined ? { count: nodes ?? 0, unit: "nodes" } : { count: cores, unit: "cores" };
}

function machineTypesOf(value: string | readonly string[]): readonly MachineType[] {
  return typeof value === "string" ? [machineType(value)] : value.map(machineType);
}

/** `wanted`, or "wanted#2", "wanted#3", ...: the first free one, which is then taken. `taken` counts the uses of each id. */
function uniqueId(wanted: string, taken: Map<string, number>): string {
  let times = (taken.get(wanted) ?? 0) + 1;
  // Another array may have this name.
  while (times > 1 && taken.has(`${wanted}#${times}`)) times += 1;
  const id = times === 1 ? wanted : `${wanted}#${times}`;
  taken.set(id, 1);
  taken.set(wanted, times);
  return id;
}
