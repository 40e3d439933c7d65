import type { BucketAnswer, LimitAnswer } from "../client/state.ts";
import { renderTable } from "./table.ts";

const NO_LOOK = "none known: the cluster has not been looked at yet";

/** Where nodes can be had, preferred first. */
export function renderBuckets({ buckets }: { readonly buckets: readonly BucketAnswer[] }): string {
  return renderTable(
    [
      ["NODEARRAY", ({ nodearray }) => nodearray],
      ["SIZE", ({ machineType }) => machineType],
      ["VCPUS", ({ vcpus }) => vcpus],
      ["GIB", ({ memoryGib }) => memoryGib],
      ["GPUS", ({ gpus }) => (gpus === 0 ? undefined : gpus)],
      ["SPOT", ({ spot }) => (spot === true ? "spot" : undefined)],
      ["PRICE", ({ price }) => price],
      ["ACTIVE", ({ active }) => active],
      ["ROOM", ({ room }) => room],
      ["BOUND BY", ({ closed, boundBy }) => closed ?? boundBy],
    ],
    buckets,
    NO_LOOK,
  );
}

export function renderLimits({ limits }: { readonly limits: readonly LimitAnswer[] }): string {
  return renderTable(
    [
      ["LIMIT", ({ limit }) => limit],
      ["USED", ({ used }) => used],
      ["OF", ({ max }) => max],
      ["LEFT", ({ left }) => left],
      ["IN", ({ unit }) => unit],
    ],
    limits,
    NO_LOOK,
  );
}
