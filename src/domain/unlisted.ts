import { plusSeconds } from "./units.ts";
import type { Ledger } from "./ledger.ts";
import type { ArrayName, MachineType } from "./ids.ts";
import { sameMachineType } from "./ids.ts";
import type { Snapshot } from "./cluster.ts";
import type { Seconds } from "./units.ts";

/** For this long a node counts as present that its bucket names in `activeNodes` and the node list lacks: the two halves of the status differ. */
export const NAMED_SECONDS: Seconds = 180;

/** Nodes that their bucket names and that have neither a record nor a ledger entry. */
interface UnknownNodes {
  readonly array: ArrayName;
  readonly machineType: MachineType;
  readonly count: number;
}

/** The nodes that buckets name, that the list lacks and that the ledger does not know. They count as present for three minutes. */
export function unknownNodes({ at, unlisted = [] }: Snapshot, ledger: Ledger): readonly UnknownNodes[] {
  if (unlisted.length === 0) return [];
  const names = new Set([...ledger.values()].map(keyOf));
  const found: { readonly array: ArrayName; readonly machineType: MachineType; count: number }[] = [];
  for (const node of unlisted) {
    if (names.has(keyOf(node)) || at >= plusSeconds(node.since, NAMED_SECONDS)) continue;
    const { array, machineType } = node;
    const same = found.find((one) => one.array === array && sameMachineType(one.machineType, machineType));
    if (same === undefined) found.push({ array, machineType, count: 1 });
    else same.count += 1;
  }
  return found;
}

/** A key for the name of a node in its array. */
export const keyOf = ({ array, name }: { readonly array: ArrayName; readonly name: string }): string =>
  `${array}\n${name}`;
