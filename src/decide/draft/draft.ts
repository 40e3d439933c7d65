import type { ScaleSet, World } from "../../domain/world.ts";
import type { JobDemand } from "../../domain/demand.ts";
import type { Instant } from "../../domain/units.ts";
import type { Bins } from "../bins/bins.ts";
import { Caps } from "./caps.ts";
import { Capacity } from "./capacity.ts";
import type { GroupTally, GroupNames } from "./group-names.ts";
import type { Shape } from "../bins/shape.ts";
import { groupNamesOf } from "./group-names.ts";
import type { KnownOffers } from "./offered.ts";
import { noOffersKnown } from "./offered.ts";
import { UnknownPools } from "./pool-use.ts";
import type { Bin } from "../bins/bin-columns.ts";
import type { NameWhy } from "../../domain/allocation.ts";

/** How a plan is tried. */
export interface Way {
  /** Strictly by rank, or the hardest demands first. */
  readonly order: "rank" | "size";
  /**
   * `own`: new nodes are the best ones for the current job. `shared` (only if nodes are chosen by price): new nodes are the cheapest ones if
   * other jobs share them. At the end they are replaced by smaller ones that suffice.
   */
  readonly opening: "own" | "shared";
  /** Before anything else, jobs are placed where the last plan placed them. */
  readonly asBefore?: true;
}

/** A plan in the making: what is free on nodes, what is left of limits, and the new nodes. */
export interface Draft extends GroupNames {
  readonly world: World;
  readonly way: Way;
  readonly now: Instant;
  readonly bins: Bins;
  readonly capacity: Capacity;
  readonly caps: Caps;
  /** The state of groups, by array and size: "execute:16n". */
  readonly groups: Map<string, GroupTally>;
  /** Bins on which a job runs already, by its demand. The rest of a gang goes to other bins. */
  readonly bound: Map<JobDemand, Set<Bin>>;
  /** Placement groups whose nodes differ from the template of their array. */
  readonly scaleSets: Map<string, ScaleSet>;
  /** What is left of each pool that jobs share. */
  readonly pools: Map<string, number>;
  /** Planned nodes that may become smaller, with the shapes of the jobs on them. */
  readonly shared: Map<Bin, Set<Shape>>;
  /** The offers that are open to jobs, as this try found them. */
  readonly offers: KnownOffers;
  /** Nodes by their names, for targets that name them. */
  readonly named: NamedBins;
  readonly start: Start;
  /** Amounts of each resource still to be placed on nodes that jobs share, including the current demand. Only if `opening` is `shared`. */
  readonly toPlace: number[];
}

/** What all tries of a plan begin with. */
export interface Start {
  /** Names of placement groups in use, lower case. */
  readonly groupNames: ReadonlySet<string>;
  /** The offers that are open to jobs as long as a try has changed nothing that they depend on. */
  readonly offers: KnownOffers;
  readonly unknownPools: UnknownPools;
}

/** The start of the first try. The tries fill in the offers. */
export const startOf = (world: World): Start => ({
  groupNames: groupNamesOf(world),
  offers: noOffersKnown(),
  unknownPools: new UnknownPools(),
});

/** An empty draft for one try. */
export function beginDraft(
  bins: Bins,
  { policy, now, start }: Pick<Draft, "policy" | "now" | "start">,
  way: Way,
): Draft {
  const { world } = bins;
  return {
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
    offers: noOffersKnown(),
    named: new NamedBins(),
    toPlace: bins.resources.map(() => 0),
  };
}

/** The bins of one try by the names of their nodes, as far as targets name nodes. */
class NamedBins {
  /** Why a name has no node here, or has one that is not as it was asked for. */
  readonly why = new Map<string, NameWhy>();
  #byName: Map<string, Bin> | undefined;

  /** The bin of the node with this name: one that exists, else one that was requested or is planned. */
  of(bins: Bins, name: string): Bin | undefined {
    return (this.#byName ??= indexOf(bins)).get(name);
  }

  /** Notes a node that the plan creates. */
  add(bins: Bins, name: string, bin: Bin): void {
    (this.#byName ??= indexOf(bins)).set(name, bin);
  }
}

function indexOf(bins: Bins): Map<string, Bin> {
  const byName = new Map<string, Bin>();
  for (const bin of bins.inFlight) {
    const purpose = bins.purpose[bin];
    if (purpose?.kind === "named") byName.set(purpose.name, bin);
  }
  for (const bin of [...bins.inFlight, ...bins.deallocated, ...bins.existing]) {
    const name = bins.node(bin)?.name;
    if (name !== undefined) byName.set(name, bin);
  }
  return byName;
}
