import type { Json } from "../conformance/compare.ts";
import { isList, isObject, textOf } from "../conformance/compare.ts";

/** What a status says of a quota, and where the others must say the same. */
const SHARED_FIGURES = [
  { keys: ["regionalConsumedCoreCount", "regionalQuotaCoreCount"], spot: true },
  { keys: ["familyConsumedCoreCount", "familyQuotaCoreCount"], spot: false },
] as const;

/**
 * The status of a case as a cluster could give it. Those of the vectors were written by hand and at random, and contradict themselves in
 * two ways that a real one does not (cyclecloud-wire.md A.3); the product takes what leaves least, so the contradiction is resolved
 * here, as the library does, before the product reads it:
 * - two buckets tell different figures of the quota of one region (or of one family there): the first one is right;
 * - a bucket has nodes that its activeCount leaves out, and its availableCount with it: as many more may be in it.
 * `familyOf` names the family of a VM size in a region.
 */
export function agreeingStatus(
  status: Json | undefined,
  nodes: Json | undefined,
  familyOf: (machineType: string, region: string | undefined) => string,
): Json {
  if (!isObject(status) || !isList(status["nodearrays"])) return status ?? null;
  const first = new Map<string, Readonly<Record<string, Json>>>();
  const records = isList(nodes) ? nodes.filter(isObject) : [];
  const nodearrays = status["nodearrays"].map((array): Json => {
    if (!isObject(array) || !isList(array["buckets"]) || !isObject(array["nodearray"])) return array;
    const { Region: region, Interruptible: spot } = array["nodearray"];
    const buckets = array["buckets"].map((bucket): Json => {
      if (!isObject(bucket)) return bucket;
      const size = sizeOf(bucket);
      if (bucket["valid"] !== true) return bucket;
      let agreed: Readonly<Record<string, Json>> = bucket;
      for (const figures of SHARED_FIGURES) {
        if (spot === true && !figures.spot) continue;
        const family = figures.spot
          ? ""
          : `${familyOf(size, typeof region === "string" ? region : undefined)} ${textOf(bucket[figures.keys[1]])}`;
        const quota = JSON.stringify([figures.keys, region, spot === true, family]);
        const said =
          first.get(quota) ?? Object.fromEntries(figures.keys.map((key) => [key, bucket[key] ?? null]));
        first.set(quota, said);
        agreed = { ...agreed, ...said };
      }
      const inside = records.filter(
        (node) => node["Template"] === array["name"] && node["MachineType"] === size,
      );
      return withRoomFor(agreed, inside.length);
    });
    return { ...array, buckets };
  });
  return { ...status, nodearrays };
}

function sizeOf(bucket: Readonly<Record<string, Json>>): string {
  const { definition } = bucket;
  return isObject(definition) && typeof definition["machineType"] === "string"
    ? definition["machineType"]
    : "";
}

/** The bucket's maximum is at least what it has and what it says is available. */
function withRoomFor(bucket: Readonly<Record<string, Json>>, nodes: number): Json {
  const { availableCount, maxCount, maxCoreCount, virtualMachine } = bucket;
  const cores = isObject(virtualMachine) ? virtualMachine["vcpuCount"] : undefined;
  if (typeof availableCount !== "number" || typeof maxCount !== "number") return bucket;
  const room = Math.max(maxCount, availableCount + nodes);
  const known = typeof maxCoreCount === "number" && typeof cores === "number";
  return {
    ...bucket,
    maxCount: room,
    ...(known ? { maxCoreCount: Math.max(maxCoreCount, room * cores) } : {}),
  };
}
