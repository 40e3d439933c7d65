import type { BucketOffer, SharedLimit, SupplyNode, World } from "../../src/domain/world.ts";
import type { BucketKey } from "../../src/domain/bucket.ts";
import { arrayName, machineType, nodeId } from "../../src/domain/ids.ts";
import type { LimitKind } from "../../src/domain/limit.ts";
import type { Resources, ResourceValue } from "../../src/domain/resources.ts";
import { isSize, looksLikeSize, parseSize } from "../../src/domain/size.ts";
import type { BucketText, ClusterText } from "./load.ts";

/** More cores, and more nodes of a bucket, than any load needs: the ceilings are counted, none of them binds. */
const PLENTY = 100_000_000;

/**
 * The world of a load. As in the product, nodes of a bucket share one key and one `resources`, and each new node is charged to five
 * ceilings at once: cluster, node array, family and region in cores, the bucket in nodes.
 */
export function openCluster(cluster: ClusterText): World {
  const limits: SharedLimit[] = [];
  const known = new Map<string, number>();
  const limitOf = (kind: LimitKind, name: string, unit: "nodes" | "cores"): number => {
    const key = `${kind}/${name}`;
    const index = known.get(key) ?? limits.length;
    if (index === limits.length)
      limits.push({ id: { kind, name, unit }, used: 0, max: PLENTY, left: PLENTY });
    known.set(key, index);
    return index;
  };
  const kinds = cluster.buckets.map((bucket) => ({
    key: keyOf(bucket),
    resources: readResources(bucket.resources),
    bucket,
  }));
  const buckets = kinds.map(({ key, resources, bucket }): BucketOffer => {
    const { cores, family, price, maxPlacementGroupSize } = bucket;
    return {
      bucket: key,
      resources,
      cores,
      price,
      charges: [
        { limit: limitOf("cluster", "", "cores"), amount: cores },
        { limit: limitOf("nodearray", bucket.array, "cores"), amount: cores },
        { limit: limitOf("family-quota", family, "cores"), amount: cores },
        { limit: limitOf("regional-quota", "westeurope", "cores"), amount: cores },
        { limit: limitOf("bucket", `${bucket.array}/${bucket.machineType}`, "nodes"), amount: 1 },
      ],
      groupSizes: new Map(),
      ...(maxPlacementGroupSize === undefined ? {} : { maxPlacementGroupSize }),
    };
  });
  const nodes = cluster.nodes.map(({ id, hostname, bucket }): SupplyNode => {
    const kind = kinds[bucket];
    if (kind === undefined)
      throw new Error(`node ${id} is of bucket ${bucket}, which the load does not have`);
    return {
      nodeId: nodeId(id),
      hostname,
      bucket: kind.key,
      purpose: { kind: "array" },
      resources: kind.resources,
      cores: kind.bucket.cores,
      order: 0,
      ready: true,
    };
  });
  const arrays = new Map(buckets.map(({ bucket }) => [bucket.array, "managed" as const]));
  return { nodes, inFlight: [], buckets, limits, arrays };
}

const keyOf = (bucket: BucketText): BucketKey => ({
  array: arrayName(bucket.array),
  machineType: machineType(bucket.machineType),
});

function readResources(texts: BucketText["resources"]): Resources {
  return Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, readResource(value)]));
}

function readResource(value: number | string): ResourceValue {
  if (typeof value === "number" || !looksLikeSize(value)) return value;
  const size = parseSize(value);
  if (!isSize(size)) throw new Error(`no size: ${value}`);
  return size;
}
