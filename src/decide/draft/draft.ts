import type { AllocationPolicy, BucketOffer, ScaleSet, World } from "../../domain/allocation.ts";
import { mergeAttributes, withoutPlacementGroup } from "../../domain/attributes.ts";
import type { JobDemand, NodeAttributes } from "../../domain/demand.ts";
import type { PlacementGroup } from "../../domain/ids.ts";
import { placementGroup } from "../../domain/ids.ts";
import type { Binding } from "../../domain/binding.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Purpose } from "../../domain/bucket.ts";
import { purposeInDynamic } from "../../domain/bucket.ts";
import type { CreateSet } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { canonicalText } from "../../domain/canonical.ts";
import type { Bin, Bins } from "../bins/bins.ts";
import { Caps } from "./caps.ts";
import { closedTo, groupClosedTo } from "./closed.ts";
import { Capacity } from "./capacity.ts";
import type { GroupTally } from "./group-tally.ts";
import type { OpenOffers } from "../place/offers.ts";
import type { JobClass, Takes } from "../bins/job-class.ts";
import type { Kind } from "../bins/node-kinds.ts";
import type { Opening } from "../place/opening.ts";
import { noteScaleSet } from "./scale-set.ts";
import type { Scope } from "../bins/scope.ts";
import type { Shape } from "../bins/shape.ts";
import { Telling } from "../why/reason-budget.ts";

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

/** Plans new nodes; the caller has made sure that there is room for them. */
export function createNodes(
  draft: Draft,
  offer: BucketOffer,
  group: PlacementGroup | undefined,
  count: number,
  purpose: Purpose,
  attributes?: NodeAttributes,
): Bin {
  const whole = attributesOn(offer, attributes);
  if (group !== undefined && draft.capacity.groupSize(offer, group) === 0)
    noteScaleSet(draft.scaleSets, offer, group, whole);
  draft.capacity.take(offer, group, count);
  const bucket = group === undefined ? offer.bucket : { ...offer.bucket, placementGroup: group };
  return draft.bins.plan(draft.bins.placeOf(bucket), count, offer, purpose, whole);
}

/** What new nodes are created with: what their dynamic array says, and over that what the demand does. */
export function attributesOn(
  offer: BucketOffer,
  attributes: NodeAttributes | undefined,
): NodeAttributes | undefined {
  const own = offer.parent === undefined ? attributes : withoutPlacementGroup(attributes);
  if (offer.attributes === undefined || own === undefined) return own ?? offer.attributes;
  return mergeAttributes(offer.attributes, own);
}

/** Whether a bin is a node without a VM: nothing may be put there before it is woken. */
export function isDeallocated(bins: Bins, bin: Bin): boolean {
  return bins.node(bin)?.deallocated === true;
}

/**
 * Makes sure that a bin can be used: a deallocated node is started, if all limits allow it; else it takes nothing in this plan.
 */
export function wake(draft: Draft, bin: Bin): boolean {
  const { bins } = draft;
  const node = bins.node(bin);
  if (node?.deallocated !== true || bins.woken.has(bin)) return true;
  const place = bins.placeOfBin(bin);
  const group = place.bucket.placementGroup;
  const offer = draft.world.buckets[place.offer];
  const open = offer !== undefined && closedTo(draft, offer) === undefined;
  if (!open || (group !== undefined && groupClosedTo(draft, offer, group) !== undefined)) {
    bins.shut(bin);
    return false;
  }
  if (draft.capacity.room(offer, group, node.charges) < 1) {
    bins.shut(bin);
    return false;
  }
  draft.capacity.take(offer, group, 1, node.charges);
  bins.woken.add(bin);
  return true;
}

/** A name for a new placement group: prefix, stem and the smallest number not in use, in letters, digits, "-" and "_". */
export function nameGroup(draft: Draft, key: string): PlacementGroup {
  const name = nextGroupName(draft, key);
  draft.groupNames.add(name.toLowerCase());
  return name;
}

/** The name that the next new group would have. */
export function nextGroupName(draft: Draft, key: string): PlacementGroup {
  const stem = groupStem(draft.policy, key);
  let ordinal = draft.nextGroup.get(stem) ?? 1;
  while (draft.groupNames.has(`${stem}${ordinal}`.toLowerCase())) ordinal += 1;
  draft.nextGroup.set(stem, ordinal);
  return placementGroup(`${stem}${ordinal}`);
}

/** Groups that jobs need are named after their bucket. */
export function groupKey({ bucket }: BucketOffer): string {
  return `${bucket.array}-${bucket.machineType}`;
}

/** What the names of all generated groups of a key begin with. */
export function groupStem(policy: AllocationPolicy, key: string): string {
  return `${policy.groupPrefix}${key}-`.replaceAll(/[^A-Za-z0-9_-]/g, "-");
}

function groupNamesOf(world: World): Set<string> {
  const names = new Set<string>([...(world.formerGroups ?? [])].map((name) => name.toLowerCase()));
  const add = (group: PlacementGroup | undefined): void => {
    if (group !== undefined) names.add(group.toLowerCase());
  };
  for (const node of world.nodes) add(node.bucket.placementGroup);
  for (const entry of world.inFlight) add(entry.bucket.placementGroup);
  for (const offer of world.buckets) {
    add(offer.pinnedGroup);
    for (const group of offer.groupSizes.keys()) add(group);
    for (const group of offer.configuredGroups ?? []) add(group);
    for (const group of offer.groupRefusals?.keys() ?? []) add(group);
  }
  return names;
}

/** Creates are kept apart in the order in which their nodes were opened, as long as they are so few. */
const MOST_APART = 24;

/**
 * The creates of the plan, in the order in which it opened them. Nodes that need not differ share one (cyclecloud-wire.md A.6); where it
 * costs few requests more, only those that were opened one after the other do: then the next plan meets them in this order, and puts
 * everything where this one did.
 */
export function createsOf(bins: Bins): readonly CreateSet[] {
  const runs: { key: string; create: CreateSet }[] = [];
  const keys = new Map<Kind, string>();
  for (const bin of bins.planned) {
    // It was planned as the steps of a set ran out, and nothing was put there.
    if (!bins.isClaimed(bin)) continue;
    const create = createOf(bins, bin);
    const isPlain = create.attributes === undefined && create.purpose.kind === "array";
    const kind = bins.kindOf(bin);
    const key =
      (isPlain ? keys.get(kind) : undefined) ??
      canonicalText([create.bucket, create.purpose, create.attributes]);
    if (isPlain) keys.set(kind, key);
    const last = runs.at(-1);
    if (last?.key === key) last.create = addNodes(last.create, create.count);
    else runs.push({ key, create });
  }
  if (runs.length <= MOST_APART) return runs.map(({ create }) => create);
  const creates = new Map<string, CreateSet>();
  for (const { key, create } of runs) {
    const known = creates.get(key);
    creates.set(key, known === undefined ? create : addNodes(known, create.count));
  }
  return [...creates.values()];
}

/** CycleCloud is asked for nodes of an array that it has: what they are for besides, a dynamic array, is only ours to know. */
function createOf(bins: Bins, bin: Bin): CreateSet {
  const attributes = bins.attributes.get(bin);
  const { bucket, offer } = bins.placeOfBin(bin);
  const parent = bins.world.buckets[offer]?.parent;
  const purpose = bins.purpose[bin] ?? { kind: "array" };
  return {
    bucket: parent === undefined ? bucket : { ...bucket, array: parent.bucket.array },
    count: bins.count[bin] ?? 0,
    purpose: parent === undefined ? purpose : purposeInDynamic(purpose, bucket.array),
    ...(attributes === undefined ? {} : { attributes }),
  };
}

function addNodes(create: CreateSet, count: number): CreateSet {
  return { ...create, count: create.count + count };
}
