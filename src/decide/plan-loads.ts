import type { Allocation, NodeLoad } from "../domain/allocation.ts";
import type { BucketKey } from "../domain/bucket.ts";
import type { LoadRun, PlanLoad, PlanLoads } from "../domain/plan.ts";
import { bucketId } from "./ground.ts";

/** So many nodes, or runs of nodes alike, are kept with a plan; and so many runs of jobs on them. More are counted as cut. */
const MOST_LOADS = 20_000;
const MOST_RUNS = 200_000;

/** What an allocation puts where, as a plan stores it: jobs by their position among the outcomes, in runs; buckets by theirs in a list. */
export function storeLoads({ loads, outcomes }: Pick<Allocation, "loads" | "outcomes">): PlanLoads {
  const positions = new Map(outcomes.map(({ set, id }, at) => [`${set}/${id}`, at]));
  const buckets = new Map<string, { readonly bucket: BucketKey; readonly at: number }>();
  const stored: PlanLoad[] = [];
  let runs = 0;
  let cut = 0;
  for (const load of loads) {
    const jobs = runsOf(load, positions);
    if (stored.length >= MOST_LOADS || runs + jobs.length > MOST_RUNS) {
      cut += load.count;
      continue;
    }
    runs += jobs.length;
    const id = bucketId(load.bucket, true);
    const bucket = buckets.get(id) ?? { bucket: load.bucket, at: buckets.size };
    buckets.set(id, bucket);
    stored.push({
      origin: load.origin,
      bucket: bucket.at,
      ...(load.nodeId === undefined ? {} : { nodeId: load.nodeId }),
      count: load.count,
      jobs,
    });
  }
  return { buckets: [...buckets.values()].map(({ bucket }) => bucket), loads: stored, cut };
}

/** Jobs that follow each other among the outcomes, with equally many slots each, are one run. */
function runsOf({ jobs }: NodeLoad, positions: ReadonlyMap<string, number>): readonly LoadRun[] {
  const sorted = jobs
    .flatMap(({ by, slots, bound }) => {
      const at = positions.get(by);
      return at === undefined ? [] : [{ at, slots, bound }];
    })
    .toSorted((a, b) => Number(b.bound) - Number(a.bound) || a.at - b.at);
  const runs: { first: number; last: number; readonly slots: number; readonly bound: boolean }[] = [];
  for (const { at, slots, bound } of sorted) {
    const run = runs.at(-1);
    if (run !== undefined && run.last + 1 === at && run.slots === slots && run.bound === bound) run.last = at;
    else runs.push({ first: at, last: at, slots, bound });
  }
  return runs.map(({ first, last, slots, bound }): LoadRun =>
    bound ? [first, last, slots, 1] : [first, last, slots],
  );
}
