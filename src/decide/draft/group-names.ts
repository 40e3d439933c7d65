import type { PlacementGroup } from "../../domain/ids.ts";
import { placementGroup } from "../../domain/ids.ts";
import type { AllocationPolicy } from "../../domain/allocation.ts";
import type { BucketOffer, World } from "../../domain/world.ts";

/** The names of placement groups in a plan. */
export interface GroupNames {
  readonly policy: AllocationPolicy;
  /** Names in use before the plan, lower case. None is free again before the plan is made. */
  readonly namesInUse: ReadonlySet<string>;
  /** Names that this try has given to new groups, lower case. */
  readonly namesGiven: Set<string>;
  /** By stem, the next number to try. */
  readonly nextGroup: Map<string, number>;
}

/** A name for a new placement group: prefix, stem and the smallest number not in use, in letters, digits, "-" and "_". */
export function nameGroup(draft: GroupNames, key: string): PlacementGroup {
  const name = nextGroupName(draft, key);
  draft.namesGiven.add(name.toLowerCase());
  return name;
}

/** The name that the next new group would have. */
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

/** Groups that jobs need are named after their bucket. */
export function groupKey({ bucket }: BucketOffer): string {
  return `${bucket.array}-${bucket.machineType}`;
}

/** What the names of all generated groups of a key begin with. */
export function groupStem(policy: AllocationPolicy, key: string): string {
  return `${policy.groupPrefix}${key}-`.replaceAll(/[^A-Za-z0-9_-]/g, "-");
}

/** The names of all placement groups that a plan finds, lower case. */
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
