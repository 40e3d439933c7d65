import type { BucketAnswer, StateAnswer } from "../client/state.ts";
import { renderTable } from "./table.ts";

const NONE = "none known: no observation yet, or no node array is autoscaled";

interface Shown {
  readonly buckets: readonly BucketAnswer[];
  readonly choice?: StateAnswer["choice"];
}

/** Where nodes can be had, preferred first. */
export function renderBuckets({ buckets, choice }: Shown): string {
  const currency = choice?.prices?.currency;
  return renderTable(
    [
      ["NODEARRAY", ({ nodearray }) => nodearray],
      ["SIZE", ({ machineType }) => machineType],
      ["GROUP", ({ placementGroup }) => placementGroup],
      ["VCPUS", ({ vcpus }) => vcpus],
      ["GIB", ({ memoryGib }) => memoryGib],
      ["GPUS", ({ gpus }) => (gpus === 0 ? undefined : gpus)],
      ["SPOT", ({ spot }) => (spot === true ? "spot" : undefined)],
      [currency === undefined ? "PRICE" : `PRICE ${currency}/H`, ({ price }) => price],
      ["NODES", ({ active }) => active],
      ["ROOM", ({ available }) => available],
      ["BOUND BY", (bucket) => bucket.closed ?? boundBy(bucket)],
    ],
    buckets,
    NONE,
  );
}

/** The first limit that allows no more than there is room for; a node counts with its cores where the limit is in cores. */
function boundBy({ available, vcpus = 1, limits }: BucketAnswer): string | undefined {
  return limits.find(({ left = 0, unit }) => Math.floor(unit === "cores" ? left / vcpus : left) === available)
    ?.limit;
}

/** Every limit that some bucket counts against, once, in the order of the buckets: those of one name that differ in numbers are of different regions. */
export function renderLimits({ buckets }: { readonly buckets: readonly BucketAnswer[] }): string {
  const limits = new Map(buckets.flatMap((bucket) => bucket.limits.map((one) => [JSON.stringify(one), one])));
  return renderTable(
    [
      ["LIMIT", ({ limit }) => limit],
      ["USED", ({ used }) => used],
      ["OF", ({ max }) => max],
      ["LEFT", ({ left }) => left],
      ["IN", ({ unit }) => unit],
    ],
    [...limits.values()],
    NONE,
  );
}
