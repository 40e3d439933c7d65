import type { ScaleSet, World } from "../../domain/world.ts";
import type { JobDemand } from "../../domain/demand.ts";
import type { Instant } from "../../domain/units.ts";
import type { Bins } from "../bins/bins.ts";
import { Caps } from "./caps.ts";
import { Capacity } from "./capacity.ts";
import type { GroupTally } from "./group-tally.ts";
import type { JobClass } from "../bins/job-class.ts";
import type { Scope } from "../bins/scope.ts";
import type { Shape } from "../bins/shape.ts";
import type { GroupNames } from "./group-names.ts";
import { groupNamesOf } from "./group-names.ts";
import type { KnownOffers, Opening } from "./offered.ts";
import { noOffersKnown } from "./offered.ts";
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
export interface Draft extends GroupNames {
  readonly world: World;
  readonly way: Way;
  readonly now: Instant;
  readonly bins: Bins;
  readonly capacity: Capacity;
  readonly caps: Caps;
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
  /** The offers that are open to jobs, as this try found them. */
  readonly offers: KnownOffers;
  readonly start: Start;
  /** What slots that may share nodes are still to take of each resource, this demand's included. Only kept where nodes are chosen to be shared. */
  readonly toPlace: number[];
  /** By what a slot takes, what was opened last for so many units. */
  readonly openings: Map<Takes, Opening & { readonly left: number }>;
  /** By the places that targets accept, the existing nodes there that nobody needs yet; those needed since are left out at the next observation. */
  readonly unclaimed: Map<Scope["accepts"], Map<readonly Bin[], readonly Bin[]>>;
  /** Where the demand settled last ended, if another job of its class may go on there. */
  readonly latest: Latest;
}

/** What all tries of a plan begin with. */
export interface Start {
  /** Names of placement groups in use, lower case. */
  readonly groupNames: ReadonlySet<string>;
  /** The offers that are open to jobs as long as a try has changed nothing that they depend on. */
  readonly offers: KnownOffers;
}

/** The start of the first try. The tries fill in the offers. */
export const startOf = (world: World): Start => ({
  groupNames: groupNamesOf(world),
  offers: noOffersKnown(),
});

/** Of the job packed last: the bin that was filled last, and its class if that is all that matters. */
export interface Latest {
  jobClass: JobClass | undefined;
  bin: Bin;
}

/** Begins a try; bound tasks are in their bins already. */
export function beginDraft(
  bins: Bins,
  { policy, now, start }: Pick<Draft, "policy" | "now" | "start">,
  way: Way,
): Draft {
  const { world } = bins;
  const draft = {
    world,
    policy,
    way,
    now,
    bins,
    capacity: new Capacity(world.limits),
    caps: new Caps(world.caps ?? []),
    start,
    namesInUse: start.groupNames,
    namesGiven: new Set<string>(),
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
    offers: noOffersKnown(),
    openings: new Map(),
    unclaimed: new Map(),
    toPlace: bins.resources.map(() => 0),
  };
}
