import type { ArrayName, Digest, MachineType, PlacementGroup } from "../../domain/ids.ts";
import type { BucketKey, Purpose } from "../../domain/bucket.ts";
import { bucketOf, dynamicArrayOf } from "../../domain/bucket.ts";
import { digestOfAttributes } from "../../domain/digest.ts";
import type { ScaleSet } from "../../domain/world.ts";
import type { WorldInput } from "./world-input.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** The key of one placement group of CycleCloud, shared by its node array and all dynamic node arrays that create their nodes there. */
export function scaleSetKey(array: ArrayName, machineType: MachineType, group: PlacementGroup): string {
  return `${array}/${machineType.toLowerCase()}/${group}`;
}

/** By {@link scaleSetKey}. */
export type ScaleSets = ReadonlyMap<string, ScaleSet>;

/**
 * What the nodes of each placement group were created with, from the ledger, the nodes in flight and the pending creates. Other nodes are
 * assumed to be as the template makes them. If a group has nodes of several kinds, the first kind in the order of text counts.
 */
export function scaleSetsOf({ snapshot, ledger, inFlight, pendingCreates }: WorldInput): ScaleSets {
  const sets = new Map<string, { readonly text: string; readonly set: ScaleSet }>();
  const note = (
    bucket: BucketKey,
    purpose: Purpose | undefined,
    attributesDigest: Digest | undefined,
  ): void => {
    if (bucket.placementGroup === undefined) return;
    const dynamic = dynamicArrayOf(purpose);
    if (dynamic === undefined && attributesDigest === undefined) return;
    const key = scaleSetKey(bucket.array, bucket.machineType, bucket.placementGroup);
    const text = [dynamic, attributesDigest].join("/");
    const known = sets.get(key);
    if (known !== undefined && known.text <= text) return;
    const set = withoutAbsent({ dynamic, attributesDigest });
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
