import type { NodeAttributes } from "./demand.ts";
import type { ArrayName, MachineType, SetName } from "./ids.ts";

/** What a dynamic node array is, apart from how much of it is wanted: two that differ in any of this are defined differently. */
export interface DynamicDefinition {
  /** The array that it extends: its nodes are created there, as CycleCloud's API creates nodes only in an array that it has. */
  readonly extends: ArrayName;
  /** VM sizes that may be created, preferred first; absent: those of the array that it extends. */
  readonly machineTypes?: readonly MachineType[];
  /** Merged deep over the attributes of the array that it extends. */
  readonly attributes?: NodeAttributes;
}

/**
 * A dynamic node array that exists: in our record only, CycleCloud knows none of it. It comes into being when a request names it first,
 * and is gone when nobody asks for it and its last node has stopped, or the cluster was terminated (cyclecloud-wire.md C.2).
 */
export interface DynamicArray extends DynamicDefinition {
  readonly name: ArrayName;
  /** Sets that ask for it, and those that did until they lapsed. None: every one of them has left it out since, so it is flagged for removal. */
  readonly sets: readonly SetName[];
  /** The set that defined it first: as that one defines it, it is. Absent: an older release wrote it. */
  readonly by?: SetName;
}

/** A host's name has at most 63 characters, and the number is still to come. */
const LONGEST_STEM = 40;

/**
 * What the nodes of a dynamic array are called, up to their number: its name in letters, digits and dashes, and never the name of the
 * array that it extends, whose own nodes are called after that.
 */
export function nodeNameStem(array: ArrayName, parent: ArrayName): string {
  const letters = array.replaceAll(/[^A-Za-z0-9]+/g, "-").replace(/^-/, "");
  const stem = letters.slice(0, LONGEST_STEM).replace(/-$/, "");
  return stem === "" || stem.toLowerCase() === parent.toLowerCase() ? `${parent}-dynamic` : stem;
}

/** How many dynamic node arrays may extend each other in a row. */
export const DEEPEST = 8;
