import type { AllocationPolicy, ScaleSet, World } from "../../domain/allocation.ts";
import type { JobDemand } from "../../domain/demand.ts";
import type { Binding } from "../../domain/binding.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Instant } from "../../domain/units.ts";
import type { Bins } from "../bins/bins.ts";
import { Caps } from "./caps.ts";
import { Capacity } from "./capacity.ts";
import type { GroupTally } from "./group-tally.ts";
import type { OpenOffers } from "../place/offers.ts";
import type { JobClass } from "../bins/job-class.ts";
import type { Scope } from "../bins/scope.ts";
import type { Shape } from "../bins/shape.ts";
import { Telling } from "../why/reason-budget.ts";
import { groupNamesOf } from "./group-names.ts";
import type { Opening } from "./offered.ts";
import type { Takes } from "../bins/takes.ts";
import type { Bin } from "../bins/bin.ts";

/** One of the ways in which a plan is tried. */
export interface Way {
  /** Strictly by rank, or what is hardest to place first. */
  readonly order: "rank" | "size";
  /**
   * New nodes are what serves the job at hand best; or, where nodes are chosen by price, what is cheapest once others share it, and is cut
   * down at the end to what was put there.
   */
  readonly opening: "own" | "shared";
  /** Jobs are put where the last plan had them before anything is settled. */
  readonly asBefore?: true;
}

/** A plan in the making: what is still free, what is still allowed, and what has been asked for. */
export interface Draft {
  readonly world: World;
  readonly policy: AllocationPolicy;
  readonly way: Way;
  /** Whether reasons are made for what is unmet: only of a try that is taken. */
  readonly tells: boolean;
  readonly telling: Telling;
  readonly now: Instant;
  readonly bins: Bins;
  readonly capacity: Capacity;
  readonly caps: Caps;
  /** Placement-group names in use, lower case, for as long as this plan is made; and by stem the next number to try. */
  readonly groupNames: Set<string>;
  readonly nextGroup: Map<string, number>;
  /** What became of groups, by array and size: "execute:16n". */
  readonly groups: Map<string, GroupTally>;
  /** Bins on which a job runs already, by its demand: what is left of a gang goes elsewhere. */
  readonly bound: Map<JobDemand, Set<Bin>>;
  /** Placement groups whose nodes are not as their array's template has them. */
  readonly scaleSets: Map<string, ScaleSet>;
  /** What is left of each pool that jobs share. */
  readonly pools: Map<string, number>;
  /** Planned nodes that may become smaller, with the shapes of the jobs on them. */
  readonly shared: Map<Bin, Set<Shape>>;
  readonly offers: OpenOffers;
  /** What slots that may share nodes are still to take of each resource, this demand's included. Only kept where nodes are chosen to be shared. */
  readonly toPlace: number[];
  /** By what a slot takes, what was opened last for so many units. */
  readonly openings: Map<Takes, Opening & { readonly left: number }>;
  /** By the places that targets accept, the existing nodes there that nobody needs yet; those needed since are left out at the next look. */
  readonly unclaimed: Map<Scope["accepts"], Map<readonly Bin[], readonly Bin[]>>;
  /** Where the demand settled last ended, if another job of its class may go on there. */
  readonly latest: Latest;
}

/** Of the job packed last: the bin that was filled last, and its class if that is all that matters. */
export interface Latest {
  jobClass: JobClass | undefined;
  bin: Bin;
}

/** What became of a demand, in its own unit; reasons for what is missing. */
export interface Settled {
  readonly placed: number;
  readonly pending: number;
  readonly reasons: readonly Reason[];
  readonly binding?: Binding;
}

/** Begins a try; bound tasks are in their bins already. */
export function beginDraft(
  bins: Bins,
  { policy, now, offers }: Pick<Draft, "policy" | "now" | "offers">,
  way: Way,
  tells: boolean,
): Draft {
  const { world } = bins;
  const draft = {
    world,
    policy,
    way,
    tells,
    telling: new Telling(policy.preference === "existing-first"),
    now,
    bins,
    capacity: new Capacity(world.limits),
    caps: new Caps(world.caps ?? []),
    groupNames: groupNamesOf(world),
    nextGroup: new Map<string, number>(),
    groups: new Map<string, GroupTally>(),
    bound: new Map(),
    scaleSets: new Map(world.scaleSets),
    pools: bins.pools,
    shared: new Map<Bin, Set<Shape>>(),
    latest: { jobClass: undefined, bin: 0 },
  };
  return {
    ...draft,
    offers,
    openings: new Map(),
    unclaimed: new Map(),
    toPlace: bins.resources.map(() => 0),
  };
}
