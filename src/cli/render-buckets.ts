import type { BucketAnswer, StateAnswer } from "../client/state.ts";
import { modeTexts } from "./mode-texts.ts";
import { renderTable } from "./table.ts";

const NONE = "none known: no observation yet, or no node array is autoscaled";

interface Shown {
  readonly buckets: readonly BucketAnswer[];
  readonly choice?: StateAnswer["choice"];
  readonly nodearrays?: StateAnswer["nodearrays"];
}

/** The buckets, the preferred ones first, and below them the mode of each node array if one is only observed. */
export function renderBuckets({ buckets, choice, nodearrays = [] }: Shown): string {
  const currency = choice?.prices?.currency;
  const table = renderTable(
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
  return [table, ...modeTexts({ nodearrays })].join("\n");
}

/** The first limit that allows no more nodes than there is room for. If the limit is in cores, a node counts with its cores. */
function boundBy({ available, vcpus = 1, limits }: BucketAnswer): string | undefined {
  return limits.find(({ left = 0, unit }) => Math.floor(unit === "cores" ? left / vcpus : left) === available)
    ?.limit;
}

/** Every limit of a bucket, once, in the order of the buckets. Limits with the same name and different numbers belong to different regions. */
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
