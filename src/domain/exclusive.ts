import type { ArrayName } from "./ids.ts";
import type { LedgerNode } from "./ledger.ts";
import type { Snapshot } from "./cluster.ts";

/** Which node arrays no other tool manages. */
export interface ExclusiveRules {
  /** `true`: all of them. Absent: none. A dynamic node array follows the array that it extends. */
  readonly exclusiveArrays?: true | readonly ArrayName[];
}

/** Why a node is ours, or that it is not. */
type Ownership = "our request made it" | "it carries our stop URL" | "exclusive array" | "not ours";

/** The facts that decide ownership. */
type Owned = Pick<LedgerNode, "array" | "requestId" | "keyId">;

/** Whether a node is ours, and why. Nodes that are not ours are never stopped or started by us. */
function ownershipOf(known: Owned, rules: ExclusiveRules): Ownership {
  if (known.requestId !== undefined) return "our request made it";
  // The record of the request may be lost. Other tools do not know the key that signs the URL.
  if (known.keyId !== undefined) return "it carries our stop URL";
  const { exclusiveArrays = [] } = rules;
  return exclusiveArrays === true || exclusiveArrays.includes(known.array) ? "exclusive array" : "not ours";
}

/** Whether the autoscaler may stop and start a node. */
export function isOurs(known: Owned, rules: ExclusiveRules): boolean {
  return ownershipOf(known, rules) !== "not ours";
}

/** The ownership and its reason, as a text for users. */
export function ownershipText(known: Owned, rules: ExclusiveRules): string {
  const ownership = ownershipOf(known, rules);
  switch (ownership) {
    case "our request made it":
    case "it carries our stop URL":
      return `ours: ${ownership}`;
    case "exclusive array":
      return `ours: exclusiveNodearrays covers ${known.array}`;
    case "not ours":
      return `not ours: another tool made it, and exclusiveNodearrays does not cover ${known.array}`;
  }
}

/** Which arrays are ours: autoscaled by their own configuration, and named by ours if it names any. */
export function managedArrays(
  { arrays }: Snapshot,
  { nodearrays }: { readonly nodearrays?: readonly ArrayName[] },
): ReadonlySet<ArrayName> {
  const named = nodearrays === undefined ? undefined : new Set(nodearrays);
  return new Set(
    arrays
      .filter((array) => array.autoscaled && (named === undefined || named.has(array.name)))
      .map((array) => array.name),
  );
}
