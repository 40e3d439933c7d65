import type { PlacementGroup, SetName } from "../../domain/ids.ts";
import { placementGroup } from "../../domain/ids.ts";
import type { AllocationPolicy } from "../../domain/allocation.ts";
import type { BucketOffer, World } from "../../domain/world.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import type { Instant } from "../../domain/units.ts";
import type { GroupDemand } from "../../domain/demand.ts";
import type { Bin } from "../bins/bin-columns.ts";

/** The names of placement groups in a plan. */
export interface GroupNames {
  readonly policy: AllocationPolicy;
  /** Names in use before the plan, in lower case. No name becomes free while the plan is made. */
  readonly namesInUse: ReadonlySet<string>;
  /** Names that this try has given to new groups, in lower case. */
  readonly namesGiven: Set<string>;
  /** The next number to try, by stem. */
  readonly nextGroup: Map<string, number>;
}

/** Names a new placement group: the stem and the smallest number not in use, in letters, digits, "-" and "_". */
export function nameGroup(draft: GroupNames, key: string): PlacementGroup {
  const name = nextGroupName(draft, key);
  draft.namesGiven.add(name.toLowerCase());
  return name;
}

/** The name of the next new group, without using it. */
export function nextGroupName(draft: GroupNames, key: string): PlacementGroup {
  const stem = groupStem(draft.policy, key);
  let ordinal = draft.nextGroup.get(stem) ?? 1;
  while (isInUse(draft, `${stem}${ordinal}`.toLowerCase())) ordinal += 1;
  draft.nextGroup.set(stem, ordinal);
  return placementGroup(`${stem}${ordinal}`);
}

function isInUse({ namesInUse, namesGiven }: GroupNames, name: string): boolean {
  return namesInUse.has(name) || namesGiven.has(name);
}

/** The key of groups that are made for jobs: their bucket. */
export function groupKey({ bucket }: BucketOffer): string {
  return `${bucket.array}-${bucket.machineType}`;
}

/** The first part of the names of all generated groups of a key. */
export function groupStem(policy: AllocationPolicy, key: string): string {
  return `${policy.groupPrefix}${key}-`.replaceAll(/[^A-Za-z0-9_-]/g, "-");
}

/** All names of placement groups in use, in lower case. */
export function groupNamesOf(world: World): ReadonlySet<string> {
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

/** A group that still lacked nodes when its time to be filled ended. */
export interface GivenUpGroup {
  readonly bucket: BucketKey;
  /** Number of nodes that it has, and of a whole group. */
  readonly nodes: number;
  readonly size: number;
  /** When filling it began. */
  readonly since: Instant;
}

/** What a draft has done for all groups of one array and size. Numbers are indices of places. */
export interface GroupTally {
  /** The demand that asks for the most groups. */
  demand: GroupKind;
  readonly sets: Set<SetName>;
  /** The provider has no placement groups. */
  ungrouped: boolean;
  /** Groups that a demand counts on or waits for. */
  readonly counted: Set<number>;
  /** Nodes of groups that have no placement group. */
  readonly bins: Set<Bin>;
  /** Groups that were completed in this plan. */
  readonly begun: Set<number>;
  /** Groups that this plan has given up. */
  readonly givenUp: Map<number, GivenUpGroup>;
}

export function emptyTally(demand: GroupKind): GroupTally {
  return {
    demand,
    sets: new Set(),
    ungrouped: false,
    counted: new Set(),
    bins: new Set(),
    begun: new Set(),
    givenUp: new Map(),
  };
}

/** The array, the size and the number of groups that a demand asks for. */
export type GroupKind = Pick<GroupDemand, "array" | "size" | "groups">;
