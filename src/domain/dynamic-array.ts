import type { NodeAttributes } from "./demand.ts";
import type { ArrayName, MachineType, SetName } from "./ids.ts";

/**
 * The definition of a dynamic node array, without the requested amount. Two arrays that differ in any of these fields have different
 * definitions.
 */
export interface DynamicDefinition {
  /** The array that it extends. Its nodes are created there, because CycleCloud's API creates nodes only in its own arrays. */
  readonly extends: ArrayName;
  /** VM sizes that may be created, preferred first. Absent: those of the array that it extends. */
  readonly machineTypes?: readonly MachineType[];
  /** Merged deep over the attributes of the array that it extends. */
  readonly attributes?: NodeAttributes;
}

/**
 * A dynamic node array that exists. Only our record knows it; CycleCloud does not. It is created when a request first names it. It is
 * removed when no request asks for it and its last node has stopped, or when the cluster was terminated (cyclecloud-wire.md C.2).
 */
export interface DynamicArray extends DynamicDefinition {
  readonly name: ArrayName;
  /** Sets that ask for it, and sets that did until they lapsed. Empty: every set has since left it out, so it is flagged for removal. */
  readonly sets: readonly SetName[];
  /** The set that defined it first. Its definition counts. Absent: not known, as after a loss of the table. */
  readonly by?: SetName;
}

/** A host name has at most 63 characters, and the number must still fit. */
const LONGEST_STEM = 40;

/**
 * The name of a dynamic array's nodes, without their number: the array's name in letters, digits and dashes. Never the name of the array
 * that it extends, because that array's own nodes use it.
 */
export function nodeNameStem(array: ArrayName, parent: ArrayName): string {
  const letters = array.replaceAll(/[^A-Za-z0-9]+/g, "-").replace(/^-/, "");
  const stem = letters.slice(0, LONGEST_STEM).replace(/-$/, "");
  return stem === "" || stem.toLowerCase() === parent.toLowerCase() ? `${parent}-dynamic` : stem;
}

/** Maximum number of dynamic node arrays that extend each other in a row. */
export const DEEPEST = 8;

/** An array and the arrays that it extends, nearest first. Longer chains are refused anyway, and are cut. */
export function lineageOf(
  array: ArrayName,
  parentOf: (array: ArrayName) => ArrayName | undefined,
): readonly ArrayName[] {
  const lineage = [array];
  for (let at = parentOf(array); at !== undefined && lineage.length <= DEEPEST; at = parentOf(at))
    lineage.push(at);
  return lineage;
}
