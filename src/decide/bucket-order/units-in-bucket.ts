import type { Bin } from "../bins/bin-columns.ts";
import type { Ask } from "../bins/job-ask.ts";
import { unitsOnEmpty } from "../bins/job-ask.ts";
import { roomIntricate, roomOnNew, slotsAtOnce } from "../bins/slot-by-slot.ts";
import type { Draft } from "../draft/draft.ts";
import { drains } from "./pools.ts";
import type { ListedBucket } from "./bucket-list.ts";
import type { ShortPool } from "../draft/pool-use.ts";
import { mostPoolNeeds, unitsInPools as unitsInAllPools } from "../draft/pool-use.ts";

/** Units of the job that fit on a node of the bin. */
export function unitsOn(draft: Draft, ask: Ask, bin: Bin, filling: Filling): number {
  const { bins } = draft;
  // Each unit of a node task has a node of its own.
  if (ask.isGang && bins.holds(bin, ask.by)) return 0;
  const units = unitsThere(draft, ask, bin);
  return filling === "whole" || units < 1 ? units : Math.min(units, slotsAtOnce(bins, bin, ask));
}

/** A job that does not share nodes may add slots of one alternative to its slots of another one on the same node. */
export function unitsThere(draft: Draft, ask: Ask, bin: Bin): number {
  const { bins } = draft;
  return hasAlternatives(ask) && bins.isOnlyOf(bin, ask)
    ? roomIntricate(bins, bin, ask)
    : bins.unitsOn(bin, ask);
}

/** Units of the job that fit on a new node of the bucket. */
export function unitsOnNew(draft: Draft, ask: Ask, { made, place }: ListedBucket, filling: Filling): number {
  const { bins } = draft;
  const units = unitsOnEmpty(ask, made, bins.resources);
  // All slots of a node task go on the node, or none.
  if (!hasAlternatives(ask) || ask.unitsPerNode === 1) return units;
  if (filling === "first alternative" && !drains(ask)) return units;
  const room = roomOnNew(bins, made, bins.ground.kindOfNew(made, place).capacity, ask);
  return filling === "whole" ? room : Math.min(units, room);
}

/** Units that fit on the nodes of a bucket, without those that must be started first. */
export function unitsUp(draft: Draft, ask: Ask, bucket: ListedBucket): number {
  const { bins } = draft;
  const up = bucket.bins.filter((bin) => !isToStart(draft, bin));
  return up.reduce((sum, bin) => sum + bins.unitsOn(bin, ask) * (bins.count[bin] ?? 0), 0);
}

/** Units that fit on the nodes of a bucket. */
export function unitsHad(draft: Draft, ask: Ask, bucket: ListedBucket): number {
  const { bins } = draft;
  return bucket.bins.reduce((sum, bin) => sum + bins.unitsOn(bin, ask) * (bins.count[bin] ?? 0), 0);
}

/** Whether the node is deallocated and this plan does not start it yet. Its start counts against limits. */
export function isToStart(draft: Draft, bin: Bin): boolean {
  const { bins } = draft;
  return bins.node(bin)?.deallocated === true && !bins.isClaimed(bin);
}

/** What a slot takes depends on what is free on its node. */
const hasAlternatives = ({ jobClass }: Ask): boolean => jobClass.takes === undefined;

/** How a node is filled: with slots of the alternative that holds first there, or with slots of any alternative. */
export type Filling = "first alternative" | "whole";

const WHOLE: readonly Filling[] = ["whole"];

const BY_ALTERNATIVE: readonly Filling[] = ["first alternative", "whole"];

/** The fillings to try, in this order. A node task puts all its slots on a node at once, so it has only one. */
export const fillingsOf = (ask: Ask): readonly Filling[] =>
  hasAlternatives(ask) && ask.unitsPerNode !== 1 ? BY_ALTERNATIVE : WHOLE;

/** Whether the job may use new nodes of the bucket. Only a job that names a dynamic node array makes it grow. */
export function opensFor({ requirements }: Ask, { offer }: ListedBucket): boolean {
  return offer.parent === undefined || requirements.arrays?.includes(offer.bucket.array) === true;
}

/** Whether the job is placed whole or not at all: colocated jobs, and gangs for which all nodes are needed. */
export function isWhole({ demand: job }: Ask): boolean {
  return job.colocated || (job.nodeCount !== undefined && job.partial !== true);
}

/** The pools that alternatives take from and that have too little if every unit takes the most that it can. */
export function drainedPools({ pools }: Draft, ask: Ask): readonly ShortPool[] {
  return drains(ask) ? unitsInAllPools(pools, ask, mostPoolNeeds(ask)).short : [];
}
