import type { Remedy } from "../../domain/remedy.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { Ask } from "../bins/job-ask.ts";
import { unitsOnEmpty } from "../bins/job-ask.ts";
import { holderOf } from "../draft/caps.ts";
import { closedTo, groupClosedTo } from "../draft/closed.ts";
import type { Draft } from "../draft/draft.ts";
import { misfit, refusalReason, tooSmall } from "../draft/refusals.ts";
import { jobRefusal } from "../draft/scale-set.ts";
import { lackOf } from "../why/lack.ts";
import type { CheckedExpansion } from "../why/remedy.ts";
import { remedyOf } from "../why/remedy.ts";
import type { Candidates } from "./candidates.ts";
import { poolRaises } from "./pools.ts";
import { poolReason } from "../draft/pool-use.ts";
import { drainedPools, isWhole, opensFor, unitsHad, unitsOnNew, unitsUp } from "./units-in-bucket.ts";
import type { ListedBucket } from "./bucket-list.ts";

/** What would place the rest of a job, or why no raise would. `left`: the unmet units. The placed ones are already charged to pools and limits. */
export function remedyInOrder(
  draft: Draft,
  ask: Ask,
  usable: readonly ListedBucket[],
  { refused: all }: Candidates,
  left: number,
): Remedy | undefined {
  const { pooled, refused } = poolsApart(ask, all);
  const buckets = [...usable, ...pooled];
  const { caps, capacity, pools } = draft;
  const whole = isWhole(ask);
  const had = new Map(buckets.map((bucket) => [bucket, unitsUp(draft, ask, bucket)]));
  const most = Math.max(0, ...had.values());
  const [short] = drainedPools(draft, ask.with(left));
  const { pools: reported = [] } = draft.world;
  const drained = short === undefined ? undefined : poolReason(draft, short, { reported });
  const expansions = buckets
    .filter((bucket) => opensFor(ask, bucket) && bucket.offer.onlyFor === undefined)
    .map((bucket): CheckedExpansion => {
      const { offer, group } = bucket;
      const units = unitsOnNew(draft, ask, bucket, "whole");
      const barrier =
        whyClosed(draft, bucket) ?? misfit(draft, ask, offer, group) ?? (units < 1 ? drained : undefined);
      if (!whole) return { offer, group, lot: 1, serves: units, most: Number.POSITIVE_INFINITY, barrier };
      const lot = Math.ceil((left - (had.get(bucket) ?? 0)) / units);
      return { offer, group, lot, serves: 1, most: 1, barrier };
    });
  const others = refused
    .filter(({ bucket }) => bucket.offer.onlyFor === undefined)
    .map(({ bucket: { offer, made }, refusal }): CheckedExpansion => {
      const barrier = refusalReason(made, refusal);
      return { offer, group: undefined, lot: 1, serves: 0, most: Number.POSITIVE_INFINITY, barrier };
    });
  const raises = poolRaises(pools, ask, left);
  const room = raises.length === 0 ? 0 : [...had.values()].reduce((sum, units) => sum + units, 0);
  return remedyOf(draft, {
    expansions: [...expansions, ...others],
    missing: whole ? Number(most < left) : Math.max(0, left - room),
    given: whole ? [] : capacity.takenSinceMark(),
    pools: raises,
    ceilings: caps.ceilings(holderOf(ask)),
    lack: () => lackOf(draft, ask),
  });
}

/**
 * `pooled`: the buckets that refuse the job only for a pool. With a larger pool it could use them. `refused`: the others, each with what
 * refuses the job there apart from pools.
 */
function poolsApart(
  ask: Ask,
  all: Candidates["refused"],
): { readonly pooled: readonly ListedBucket[]; readonly refused: Candidates["refused"] } {
  const judged = all.map(({ bucket, refusal }) => ({
    bucket,
    refusal: isOfPool(refusal) ? ask.jobClass.fit.on(bucket.made).refusal : refusal,
  }));
  return {
    pooled: judged.flatMap(({ bucket, refusal }) => (refusal === undefined ? [bucket] : [])),
    refused: judged.flatMap(({ bucket, refusal }) => (refusal === undefined ? [] : [{ bucket, refusal }])),
  };
}

/** The first obstacle in each bucket. */
export function reasonsInOrder(
  draft: Draft,
  ask: Ask,
  buckets: readonly ListedBucket[],
  all: readonly ListedBucket[],
  { refused }: Candidates,
  left: number,
): readonly Reason[] {
  return [
    ...buckets.map((bucket) => whyNotMore(draft, ask, bucket, left)).filter((reason) => reason !== undefined),
    ...refused
      .filter(({ bucket, refusal }) => bucket.offer.onlyFor === undefined && !isOfPool(refusal))
      .map(({ bucket, refusal }) => whyRefused(bucket, refusal)),
    ...(all.length > 0 ? [] : [noBuckets(draft)]),
  ];
}

/** The whole job lacks it, in every bucket. What it lacks of the pool is a reason of its own. */
const isOfPool = ({ code }: Refusal): boolean => code === "unknown-pool" || code === "pool-short";

function noBuckets(draft: Draft): Reason {
  const { arrays, closed } = draft.world;
  return closed ?? { code: "unknown-array", array: "any", known: [...arrays.keys()] };
}

function whyNotMore(draft: Draft, ask: Ask, bucket: ListedBucket, left: number): Reason | undefined {
  const { offer, group, made } = bucket;
  if (!opensFor(ask, bucket) || offer.onlyFor !== undefined) return undefined;
  const closed = whyClosed(draft, bucket);
  if (closed !== undefined) return closed;
  const units = Math.min(ask.units, unitsOnEmpty(ask, made, draft.bins.resources));
  const { refusal } = ask.jobClass.fit.on(made);
  if (units < 1) return refusal === undefined ? tooSmall(draft, ask, made) : refusalReason(made, refusal);
  const asked = isWhole(ask) ? ask.units - unitsHad(draft, ask, bucket) : left;
  const nodes = Math.ceil(asked / units);
  return draft.caps.refusal(holderOf(ask), nodes, made.cores) ?? draft.capacity.refusal(offer, group, nodes);
}

/** Why a bucket or its placement group takes no new nodes, apart from limits. */
function whyClosed(draft: Draft, { offer, group }: ListedBucket): Reason | undefined {
  const closed = closedTo(draft, offer);
  if (closed !== undefined || group === undefined) return closed;
  return groupClosedTo(draft, offer, group) ?? jobRefusal(draft, offer, group);
}

/** An array that is not for HPC has no placement groups by configuration. The reason says that, and not that a constraint failed. */
function whyRefused({ offer, made: { bucket } }: ListedBucket, refusal: Refusal): Reason {
  return refusal.code === "not-in-a-placement-group" && offer.notHpc === true
    ? { code: "no-new-group", bucket }
    : { code: "requirement", bucket, refusal };
}
