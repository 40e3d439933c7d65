import type { BucketKey } from "../../domain/bucket.ts";
import { bucketText, dynamicArrayOf } from "../../domain/bucket.ts";
import type { Demand } from "../../domain/demand.ts";
import type { ArrayName } from "../../domain/ids.ts";
import { sameMachineType } from "../../domain/ids.ts";
import { stillInFlight } from "../../domain/in-flight.ts";
import type { Charge } from "../../domain/world.ts";
import { lastedAt } from "../../domain/lasted.ts";
import type { Ceilings } from "./ceilings.ts";
import { sum } from "./cluster-usage.ts";
import type { WorldInput } from "./world-input.ts";

/**
 * What a new node takes of the probe of a bucket whose nodes went down soon after they were Ready: one node at a time is tried, until one has
 * lasted (docs/protocol.md, Nodes that are down). A job that needs several nodes together is tried whole. Nothing for other buckets.
 */
export function probeCharges(
  input: WorldInput,
  bucket: BucketKey,
  dynamic: ArrayName | undefined,
  ceilings: Ceilings,
): readonly Charge[] {
  const isProbed = input.backoffs.some(
    (one) => one.cause === "went-down" && one.dynamic === dynamic && isIn(one.bucket, bucket),
  );
  if (!isProbed) return [];
  const name = bucketText(dynamic === undefined ? bucket : { ...bucket, array: dynamic });
  let most = 1;
  for (const { demand } of input.demands ?? []) most = Math.max(most, nodesTogether(demand));
  return [ceilings.probe(name, countTried(input, bucket, dynamic), most)];
}

/** Nodes of the bucket of which it is not known yet whether they last: requested, booting, or Ready for a short time. */
function countTried(
  { snapshot, ledger, inFlight, pendingCreates, excluded, now }: WorldInput,
  bucket: BucketKey,
  dynamic: ArrayName | undefined,
): number {
  const shown = snapshot.nodes.filter((node) => {
    const known = ledger.get(node.nodeId);
    if (known === undefined || known.down !== undefined || excluded.has(node.nodeId)) return false;
    if (node.phase !== "ready" && node.phase !== "coming") return false;
    if (!isIn(node, bucket) || dynamicArrayOf(known.purpose) !== dynamic) return false;
    return lastedAt(node, known, now) === undefined;
  });
  const isHere = (one: WorldInput["inFlight"][number] | WorldInput["pendingCreates"][number]): boolean =>
    isIn(one.bucket, bucket) && dynamicArrayOf(one.purpose) === dynamic;
  return (
    shown.length +
    sum(inFlight.filter(isHere), stillInFlight) +
    sum(pendingCreates.filter(isHere), ({ count }) => count)
  );
}

const isIn = (one: Pick<BucketKey, "array" | "machineType">, bucket: BucketKey): boolean =>
  one.array === bucket.array && sameMachineType(one.machineType, bucket.machineType);

/** The largest number of nodes that the demand needs all at once. */
function nodesTogether(demand: Demand): number {
  switch (demand.kind) {
    case "groups":
      return demand.size.count;
    case "job":
      return demand.nodeCount ?? (demand.colocated ? demand.iterations : 1);
    case "target":
      return 1;
  }
}
