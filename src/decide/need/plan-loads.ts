import type { Allocation, NodeLoad } from "../../domain/allocation.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import type { LoadRun, PlanLoad, PlanLoads } from "../../domain/plan.ts";
import { bucketId } from "../../domain/bucket.ts";

/** Maximum number of nodes, or runs of identical nodes, that a plan stores, and of runs of jobs on them. The nodes of others are counted in `cut`. */
const MOST_LOADS = 20_000;
const MOST_RUNS = 200_000;

/** The placements of an allocation in the stored form: jobs by their position among the outcomes, in runs, and buckets by their position in a list. */
export function storeLoads({ loads, outcomes }: Pick<Allocation, "loads" | "outcomes">): PlanLoads {
  const positions = new Map<string, number>();
  // Nothing of the others is on a node, and a long queue has 100,000 of them.
  outcomes.forEach(({ set, id, placed }, at) => {
    if (placed > 0) positions.set(`${set}/${id}`, at);
  });
  const places = new Map<string, { readonly bucket: BucketKey; readonly at: number }>();
  // Most nodes share the object of their bucket.
  const known = new Map<BucketKey, number>();
  const placeOf = (bucket: BucketKey): number => {
    const id = bucketId(bucket);
    const place = places.get(id) ?? { bucket, at: places.size };
    places.set(id, place);
    known.set(bucket, place.at);
    return place.at;
  };
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
    const { origin, nodeId, count } = load;
    const bucket = known.get(load.bucket) ?? placeOf(load.bucket);
    stored.push(
      nodeId === undefined ? { origin, bucket, count, jobs } : { origin, bucket, nodeId, count, jobs },
    );
  }
  return { buckets: [...places.values()].map(({ bucket }) => bucket), loads: stored, cut };
}

/** Consecutive jobs among the outcomes with the same number of slots are one run. */
function runsOf({ jobs }: NodeLoad, positions: ReadonlyMap<string, number>): readonly LoadRun[] {
  const [only] = jobs;
  if (only !== undefined && jobs.length === 1) {
    const at = positions.get(only.by);
    return at === undefined ? [] : [runOf(at, at, only.slots, only.bound)];
  }
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
  return runs.map(({ first, last, slots, bound }) => runOf(first, last, slots, bound));
}

const runOf = (first: number, last: number, slots: number, bound: boolean): LoadRun =>
  bound ? [first, last, slots, 1] : [first, last, slots];
