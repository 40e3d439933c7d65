import type { Raise, Remedy } from "../../domain/remedy.ts";
import type { Reason } from "../../domain/reason.ts";
import type { BucketOffer } from "../../domain/world.ts";
import type { Capacity, Taken } from "../draft/capacity.ts";
import type { OwnCeiling } from "../draft/caps.ts";
import type { Draft } from "../draft/draft.ts";
import type { Lack } from "./lack.ts";
import type { Expansion, Raises, Search } from "./trial-limits.ts";
import { NO_RAISE, TrialLimits } from "./trial-limits.ts";

/** An expansion, and what prevents it whatever the limits are. */
export interface CheckedExpansion extends Expansion {
  readonly barrier: Reason | undefined;
  /** What is left of the limits after the deallocated nodes that it uses are started. Undefined: it starts none. */
  readonly capacity?: Capacity | undefined;
}

/** What a demand still needs, and how new nodes could serve it. */
export interface Shortage {
  readonly expansions: readonly CheckedExpansion[];
  /** What new nodes must serve, in the demand's own unit. */
  readonly missing: number;
  /** New nodes that the demand got in this plan from these expansions. */
  readonly given: readonly Taken[];
  readonly pools: readonly Raise[];
  readonly ceilings: readonly OwnCeiling[];
  /** What no bucket has, for a job. Worked out if no raise and no waiting helps. */
  readonly lack?: () => Lack | undefined;
}

/** The smallest change with which one or several expansions serve all that is missing. If there is none, what prevents it. */
export function remedyOf(draft: Draft, shortage: Shortage): Remedy | undefined {
  const { expansions, pools } = shortage;
  if (shortage.missing <= 0) return pools.length === 0 ? undefined : { kind: "raise", raises: pools };
  const open = expansions.filter(({ barrier }) => barrier === undefined);
  const startsNone = open.filter(({ capacity }) => capacity === undefined);
  const raises = fewest([
    raisesFor(draft, shortage, startsNone),
    ...open.map((one) => (one.capacity === undefined ? undefined : raisesFor(draft, shortage, [one]))),
  ]);
  // The limits suffice. What prevents it is one of the reasons.
  if (raises?.length === 0 && pools.length === 0) return undefined;
  if (raises !== undefined) return { kind: "raise", raises: [...pools, ...raises] };
  const wait = waitFor(draft, shortage);
  if (wait !== undefined) return wait;
  const lack = shortage.lack?.();
  return lack?.kind === "lacks" ? lack.remedy : firstBarrier(expansions, lack?.offer);
}

/** For outcomes, in which an unknown remedy is left out. The answers call it binding. */
export function presentRemedy(remedy: Remedy | undefined): { readonly binding?: Remedy } {
  return remedy === undefined ? {} : { binding: remedy };
}

/** The remedy of a demand for which no smallest change was found: a cap to raise, or the first reason that is not about a limit. */
export function remedyFromReasons(reasons: readonly Reason[]): Remedy | undefined {
  const [first] = reasons;
  if (first === undefined || first.code === "too-many-unmet" || first.code === "not-explained")
    return undefined;
  const cap = reasons.find(isCap);
  if (cap !== undefined)
    return { kind: "raise", raises: [{ of: "limit", limit: cap.limit, more: cap.asked - cap.left }] };
  return { kind: "no-raise", reason: reasons.find((reason) => !isRaisable(reason)) ?? first };
}

type LimitReason = Extract<Reason, { readonly code: "limit-reached" }>;

/** The nodes for a gang exist, but one of our own ceilings forbids it to use them. */
const isCap = (reason: Reason): reason is LimitReason =>
  reason.code === "limit-reached" &&
  (reason.limit.kind === "request-set-cap" || reason.limit.kind === "user-cap");

/** Limits and group sizes can be raised. Nothing else can. */
export function isRaisable(reason: Reason | undefined): boolean {
  return reason === undefined || reason.code === "limit-reached" || reason.code === "group-too-large";
}

/** The shortest list of raises; the first of several. */
function fewest(found: readonly (readonly Raise[] | undefined)[]): readonly Raise[] | undefined {
  const [least] = found.filter((raises) => raises !== undefined).toSorted((a, b) => a.length - b.length);
  return least;
}

function raisesFor(
  draft: Draft,
  shortage: Shortage,
  expansions: readonly CheckedExpansion[],
): readonly Raise[] | undefined {
  if (expansions.length === 0) return undefined;
  const { missing, given, ceilings } = shortage;
  const counted = given.flatMap((taken) => {
    const taker = expansions.find((one) => mayHaveTaken(one, taken));
    return taker === undefined ? [] : [{ taken, taker }];
  });
  const served = counted.reduce((sum, { taken, taker }) => sum + (taken.nodes / taker.lot) * taker.serves, 0);
  return smallestRaise({
    budget: draft.bins.budget,
    capacity: expansions[0]?.capacity ?? draft.capacity,
    limits: draft.world.limits,
    ceilings,
    expansions,
    wanted: missing + served,
    given: counted.map(({ taken }) => taken),
  });
}

function mayHaveTaken(one: Expansion, { offer, group }: Taken): boolean {
  return one.offer === offer && (one.group === group || one.group === "new");
}

/** Of the suitable buckets that are pausing, the one whose pause ends first. */
function waitFor(draft: Draft, shortage: Shortage): Remedy | undefined {
  const pausing = shortage.expansions
    .flatMap((one) => (one.barrier?.code === "backing-off" ? [{ one, pause: one.barrier }] : []))
    .filter(({ one }) => one.serves >= 1 && Number.isFinite(one.lot))
    .toSorted((a, b) => a.pause.until - b.pause.until);
  const [first] = pausing;
  if (first === undefined) return undefined;
  const raises = raisesFor(draft, shortage, [first.one]) ?? [];
  const { bucket, until } = first.pause;
  return { kind: "wait", bucket, until, raises: [...shortage.pools, ...raises] };
}

/** What prevents the demand in the bucket that has all it asks for; else in the first bucket. */
function firstBarrier(
  expansions: readonly CheckedExpansion[],
  has: BucketOffer | undefined,
): Remedy | undefined {
  const barred = expansions.filter(({ barrier }) => barrier !== undefined);
  const reason = (barred.find(({ offer }) => offer === has) ?? barred[0])?.barrier;
  return reason === undefined ? undefined : { kind: "no-raise", reason };
}

/** Maximum number of halvings in a search for one raise: enough for every whole number. */
const HALVINGS = 64;

/** Maximum number of expansions for which the raise is worked out in full. By a first estimate the others lack more. */
const EXPANSIONS_TRIED = 8;

/** Other buckets that share a limit use part of its raise. The limit is raised again for this at most this many times. */
const ROUNDS = 12;

/**
 * The smallest raises with which the expansions serve all that is wanted. Undefined if none was found. Each candidate is tried in the
 * order that the allocator uses, because other buckets may use up a raise first. Of several that serve, the one with the fewest limits
 * wins, then the one whose largest raise is smallest in proportion to its limit, then the first in the order of the expansions. None of
 * its raises can be smaller while the others stay as they are.
 */
function smallestRaise(search: Search): readonly Raise[] | undefined {
  const limits = new TrialLimits(search);
  const rest = limits.serve(NO_RAISE);
  if (rest <= 0) return [];
  const estimates = search.expansions
    .map((expansion) => ({ expansion, raises: limits.lacking(expansion, rest) }))
    .filter(({ raises }) => isFinite(raises))
    .toSorted((a, b) => limits.compare(a.raises, b.raises));
  let best: Raises | undefined;
  for (const { expansion } of estimates.slice(0, EXPANSIONS_TRIED)) {
    const raises = enough(limits, expansion);
    if (raises !== undefined && (best === undefined || limits.compare(raises, best) < 0)) best = raises;
  }
  return best === undefined ? undefined : limits.describe(shrink(limits, best));
}

const isFinite = (raises: Raises): boolean => [...raises.values()].every(Number.isFinite);

/** Raises what one expansion lacks until everything is served. */
function enough(limits: TrialLimits, expansion: Expansion): Raises | undefined {
  const raises = new Map<number, number>();
  for (let round = 0; round < ROUNDS; round += 1) {
    const rest = limits.serve(raises);
    if (rest <= 0) return raises;
    const lacking = limits.lacking(expansion, rest, raises);
    if (lacking.size === 0 || !isFinite(lacking)) return undefined;
    for (const [at, more] of lacking) raises.set(at, (raises.get(at) ?? 0) + more);
  }
  return undefined;
}

/** Makes each raise as small as the others allow, until none can be smaller. */
function shrink(limits: TrialLimits, raises: Raises): Raises {
  let least = raises;
  for (let round = 0; round < ROUNDS; round += 1) {
    let next = least;
    for (const at of least.keys()) next = shrinkOne(limits, next, at);
    if (total(next) === total(least)) return next;
    least = next;
  }
  return least;
}

const total = (raises: Raises): number => [...raises.values()].reduce((sum, more) => sum + more, 0);

/** Makes one raise as small as possible, the others as they are. */
function shrinkOne(limits: TrialLimits, raises: Raises, at: number): Raises {
  let low = 0;
  let high = raises.get(at) ?? 0;
  // The number of rounds is bounded: beyond 2^53 a number plus one is the number itself, and the two would never meet. What is found then
  // serves, but may not be the smallest.
  for (let round = 0; round < HALVINGS && low < high && !limits.isSpent; round += 1) {
    const middle = Math.floor((low + high) / 2);
    if (limits.serve(new Map(raises).set(at, middle)) <= 0) high = middle;
    else low = middle + 1;
  }
  const least = new Map(raises).set(at, high);
  if (high === 0) least.delete(at);
  return least;
}
