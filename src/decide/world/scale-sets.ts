import type { ArrayName, Digest, MachineType, PlacementGroup } from "../../domain/ids.ts";
import type { BucketKey, Purpose } from "../../domain/bucket.ts";
import { bucketOf, dynamicArrayOf } from "../../domain/bucket.ts";
import { digestOfAttributes } from "../../domain/attributes-digest.ts";
import type { ScaleSet } from "../../domain/allocation.ts";
import type { WorldInput } from "./world-input.ts";

/** Which placement group of CycleCloud's, whichever of its arrays or dynamic ones its nodes count for. */
export function scaleSetKey(array: ArrayName, machineType: MachineType, group: PlacementGroup): string {
  return `${array}/${machineType.toLowerCase()}/${group}`;
}

export type ScaleSets = ReadonlyMap<string, ScaleSet>;

/**
 * What the nodes of placement groups were created with, from the ledger and from what is on its way; nodes that we know nothing of are
 * taken for what the template makes. Where a group has nodes of several kinds, whichever of them comes first as text.
 */
export function scaleSetsOf({ snapshot, ledger, inFlight, pendingCreates }: WorldInput): ScaleSets {
  const sets = new Map<string, { readonly text: string; readonly set: ScaleSet }>();
  const note = (bucket: BucketKey, purpose: Purpose | undefined, look: Digest | undefined): void => {
    if (bucket.placementGroup === undefined) return;
    const dynamic = dynamicArrayOf(purpose);
    if (dynamic === undefined && look === undefined) return;
    const key = scaleSetKey(bucket.array, bucket.machineType, bucket.placementGroup);
    const text = `${dynamic ?? ""}/${look ?? ""}`;
    const known = sets.get(key);
    if (known !== undefined && known.text <= text) return;
    const set = { ...(dynamic === undefined ? {} : { dynamic }), ...(look === undefined ? {} : { look }) };
    sets.set(key, { text, set });
  };
  for (const node of snapshot.nodes) {
    if (node.placementGroup === undefined || node.phase === "off") continue;
    const known = ledger.get(node.nodeId);
    note(bucketOf(node), known?.purpose, known?.look);
  }
  for (const { bucket, purpose, look } of inFlight) note(bucket, purpose, look);
  for (const { bucket, purpose, attributes } of pendingCreates)
    note(bucket, purpose, digestOfAttributes(attributes));
  return new Map([...sets].map(([key, { set }]) => [key, set]));
}
