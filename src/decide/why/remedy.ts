import type { Raise, Remedy } from "../../domain/remedy.ts";
import type { Reason } from "../../domain/reason.ts";
import type { BucketOffer } from "../../domain/world.ts";
import type { Capacity, Taken } from "../draft/capacity.ts";
import type { OwnCeiling } from "../draft/caps.ts";
import type { Draft } from "../draft/draft.ts";
import type { Lack } from "./lack.ts";
import { smallestRaise } from "./smallest-raise.ts";
import type { Expansion } from "./trial-limits.ts";

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
