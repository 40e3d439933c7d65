import type { LastPlan } from "../../domain/world.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { Entry } from "../bins/entry.ts";
import type { Ask } from "../bins/job-ask.ts";
import type { Bins } from "../bins/bins.ts";
import { holderOf } from "../draft/caps.ts";
import type { Draft } from "../draft/draft.ts";
import type { Place } from "../bins/node-kinds.ts";
import type { Progress } from "../place/pack.ts";
import { poolNeeds, takeFromPools, unitsInPools } from "../draft/pool-use.ts";
import { splitBin } from "../draft/new-nodes.ts";
import type { Bin } from "../bins/bin-columns.ts";
import { bucketId } from "../../domain/bucket.ts";

/** Where the last plan placed a job: this many slots on each node of a bin. */
interface Spot {
  readonly bin: Bin;
  readonly slots: number;
}

/**
 * Places jobs where the last plan placed them, as far as that is still possible. Returns the progress of the jobs that were placed in this
 * way. Otherwise a less demanding job could take the nodes that were created for another one, and these would be created again (P6 of
 * architecture.md, Properties). Nodes that the last plan created are recognised by their bucket only: they are the nodes that it had not
 * observed, in the order of use.
 */
export function putAsBefore(
  draft: Draft,
  entries: readonly Entry[],
  homes: ReadonlyMap<Ask, Place>,
  last: LastPlan,
): ReadonlyMap<Entry, Progress> {
  const spots = spotsOf(draft, last);
  const put = new Map<Entry, Progress>();
  const jobs = entries.filter((entry) => entry.kind === "job");
  // What a job with alternatives takes depends on what the others have left. So the others come first: then they take at least what they
  // took when the last plan placed that job.
  const plain = jobs.filter(({ jobClass }) => jobClass.takes !== undefined);
  const byWhatIsLeft = jobs.filter(({ jobClass }) => jobClass.takes === undefined);
  for (const entry of [...plain, ...byWhatIsLeft]) {
    if (entry.slotsPerUnit === 0) continue;
    const progress = putOne(draft, entry, spots.get(entry.by) ?? [], homes.get(entry));
    if (progress.left < entry.units) put.set(entry, progress);
  }
  return put;
}

/** By "set/demand". */
function spotsOf(draft: Draft, { demands, nodes, loads }: LastPlan): ReadonlyMap<string, readonly Spot[]> {
  const { seen, coming } = sortBins(draft.bins, nodes);
  const queues = loads.buckets.map((bucket) => coming.get(bucketId(bucket)) ?? []);
  const spots = new Map<string, Spot[]>();
  for (const { nodeId, bucket, count, jobs } of loads.loads) {
    const bins =
      nodeId === undefined ? takeNodes(draft, queues[bucket] ?? [], count) : (seen.get(nodeId) ?? []);
    for (const [first, end, slots, bound] of jobs) {
      if (bound === 1) continue;
      for (const { set, id } of demands.slice(first, end + 1))
        listAt(spots, `${set}/${id}`).push(...bins.map((bin) => ({ bin, slots })));
    }
  }
  return spots;
}

/** The nodes that the last plan had observed, and by bucket the others. The nodes that it created are among these. */
function sortBins(bins: Bins, nodes: LastPlan["nodes"]) {
  const seen = new Map<NodeId, readonly Bin[]>();
  const coming = new Map<string, Bin[]>();
  for (const bin of [...bins.existing, ...bins.inFlight]) {
    const nodeId = bins.node(bin)?.nodeId;
    if (nodeId !== undefined && nodes.has(nodeId)) seen.set(nodeId, [bin]);
    else listAt(coming, bucketId(bins.placeOfBin(bin).bucket)).push(bin);
  }
  for (const bin of [...bins.hosts.values()].flat()) {
    const nodeId = bins.node(bin)?.nodeId;
    if (nodeId !== undefined) seen.set(nodeId, [bin]);
  }
  return { seen, coming };
}

function listAt<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

/** Takes the first `count` nodes from a queue of bins. The rest of the last bin stays in the queue. */
export function takeNodes(draft: Draft, queue: Bin[], count: number): readonly Bin[] {
  const taken: Bin[] = [];
  for (let left = count; left > 0;) {
    const bin = queue.shift();
    if (bin === undefined) break;
    const rest = splitBin(draft, bin, Math.min(left, draft.bins.count[bin] ?? 0));
    if (rest !== undefined) queue.unshift(rest);
    taken.push(bin);
    left -= draft.bins.count[bin] ?? 0;
  }
  return taken;
}

function putOne(draft: Draft, ask: Ask, spots: readonly Spot[], home: Place | undefined): Progress {
  const { bins } = draft;
  const progress = { left: ask.units, pending: 0 };
  const nodes = ({ bin }: Spot): number => bins.count[bin] ?? 0;
  const unitsAt = ({ slots }: Spot): number => Math.floor(slots / ask.slotsPerUnit);
  if (ask.together !== "anywhere") {
    // All or nothing: pools and caps are checked for all of it before any of it is placed.
    const all = spots.reduce((units, spot) => units + unitsAt(spot) * nodes(spot), 0);
    const used = spots.map((spot) => ({ bin: spot.bin, nodes: nodes(spot) }));
    const isWhole =
      all === ask.units &&
      spots.every((spot) => isFree(draft, ask, spot.bin, unitsAt(spot), home)) &&
      unitsInPools(draft.pools, ask, poolNeeds(ask)).units === all &&
      draft.caps.useRefusal(holderOf(ask), bins, used, []) === undefined;
    if (!isWhole) return progress;
  }
  for (const spot of spots) {
    const { bin } = spot;
    const units = Math.min(unitsAt(spot), Math.floor(progress.left / nodes(spot)));
    const all = units * nodes(spot);
    if (units < 1 || !isFree(draft, ask, bin, units, home)) continue;
    if (unitsInPools(draft.pools, ask.with(all), poolNeeds(ask)).units < all) continue;
    takeFromPools(draft.pools, ask, all);
    bins.occupy(bin, ask, units * ask.slotsPerUnit);
    draft.caps.hold(holderOf(ask), bins, bin);
    progress.left -= all;
    if (!bins.isReady(bin)) progress.pending += all;
  }
  return progress;
}

/** Whether each node of a bin has room for this many units, and the job may be there. A gang has at most one unit on a node. */
function isFree(draft: Draft, ask: Ask, bin: Bin, units: number, home: Place | undefined): boolean {
  const { bins, caps } = draft;
  const count = bins.count[bin] ?? 0;
  if (home !== undefined && bins.placeOfBin(bin) !== home) return false;
  if (ask.isGang && bins.holds(bin, ask.by)) return false;
  // What depends on what is left, also in pools, must be checked for each node.
  if (ask.jobClass.takes === undefined && count > 1) return false;
  if (!caps.none && caps.roomOn(holderOf(ask), bins, bin) < count) return false;
  return bins.unitsOn(bin, ask) >= units;
}
