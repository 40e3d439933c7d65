import type { GroupDemand, RankedDemand, TargetDemand } from "../../src/domain/demand.ts";
import type { ArrayName, MachineType } from "../../src/domain/ids.ts";
import type { NaiveNode, Sheet } from "./naive-nodes.ts";
import { outcomeOf, nameOf, textOf } from "./naive-nodes.ts";

/** P2 and P4 for targets and groups: as many as were promised are there, needed or on their way. */
export function floorFaults(sheet: Sheet): readonly string[] {
  return sheet.demands.flatMap((ranked) => {
    const { demand } = ranked;
    if (demand.kind === "target")
      return demand.named === undefined ? targetFaults(sheet, ranked, demand) : [];
    return demand.kind === "groups" ? groupFaults(sheet, ranked, demand) : [];
  });
}

export const isListed = (types: readonly MachineType[] | undefined, type: MachineType): boolean =>
  types === undefined || types.some((one) => one.toLowerCase() === type.toLowerCase());

function targetFaults(sheet: Sheet, ranked: RankedDemand, demand: TargetDemand): readonly string[] {
  const held = sheet.nodes
    .filter((node) => node.isThere && arrayOf(node) === demand.array)
    .filter(({ bucket }) => isListed(demand.machineTypes, bucket.machineType))
    .reduce((total, { cores }) => total + (demand.amount.unit === "nodes" ? 1 : cores), 0);
  const placed = outcomeOf(sheet, ranked)?.placed ?? 0;
  return placed > held ? [`${nameOf(ranked)}: ${placed} promised, ${held} held`] : [];
}

/** Nodes of a dynamic node array are in the array that it extends. */
const arrayOf = ({ bucket, purpose }: NaiveNode): ArrayName =>
  purpose.kind === "dynamic" ? purpose.array : bucket.array;

/** Made for groups of this size, or, where our memory was lost, named like them. */
function isMember({ purpose, bucket }: NaiveNode, key: string): boolean {
  if (purpose.kind === "group") return purpose.key === key;
  const stem = `pg-${key}-`.replaceAll(/[^A-Za-z0-9_-]/g, "-");
  const group = bucket.placementGroup ?? "";
  return (
    key.startsWith(`${bucket.array}:`) && group.startsWith(stem) && /^\d+$/.test(group.slice(stem.length))
  );
}

const keyOf = ({ array, size }: GroupDemand): string =>
  `${array}:${size.count}${size.unit === "nodes" ? "n" : ""}`;

/** Nowhere that the demand may go are there placement groups. */
function isUngrouped({ world }: Sheet, { array, machineTypes }: GroupDemand): boolean {
  const offers = world.buckets.filter(
    ({ bucket }) => bucket.array === array && isListed(machineTypes, bucket.machineType),
  );
  return (
    offers.length > 0 &&
    offers.every((offer) => offer.maxPlacementGroupSize === undefined && offer.pinnedGroup === undefined)
  );
}

/** Existing groups among loose nodes: of each bucket, as many nodes as a group has count as one. */
function wholeOfOrdinary({ nodes }: Sheet, demand: GroupDemand, key: string): number {
  const counts = new Map<string, { nodes: number; size: number }>();
  for (const { isThere, bucket, purpose, cores } of nodes) {
    const isMade = purpose.kind === "group" ? purpose.key === key : bucket.array === demand.array;
    if (!isThere || !isMade || bucket.placementGroup !== undefined) continue;
    if (!isListed(demand.machineTypes, bucket.machineType)) continue;
    const size = demand.size.unit === "nodes" ? demand.size.count : Math.ceil(demand.size.count / cores);
    counts.set(textOf(bucket), { nodes: (counts.get(textOf(bucket))?.nodes ?? 0) + 1, size });
  }
  return [...counts.values()].reduce((total, one) => total + Math.floor(one.nodes / one.size), 0);
}

function groupFaults(sheet: Sheet, ranked: RankedDemand, demand: GroupDemand): readonly string[] {
  const faults: string[] = [];
  const key = keyOf(demand);
  const sizes = new Map<string, number>();
  const made = new Set<string>();
  const ungrouped = isUngrouped(sheet, demand);
  const mayBeUngrouped = sheet.demands.some(
    (other) =>
      other.demand.kind === "groups" && keyOf(other.demand) === key && isUngrouped(sheet, other.demand),
  );
  for (const node of sheet.nodes) {
    if (!node.isThere || !isMember(node, key)) continue;
    const { bucket, purpose } = node;
    const isElsewhere = purpose.kind === "group" && purpose.group !== bucket.placementGroup;
    if (isElsewhere && node.origin === "planned") faults.push(`a node of ${purpose.group} lies elsewhere`);
    if (node.origin === "planned" && bucket.placementGroup !== undefined) made.add(textOf(bucket));
    if (node.origin === "planned" && bucket.placementGroup === undefined && !mayBeUngrouped)
      faults.push(`a node of ${key} lies in no group`);
    if (!isListed(demand.machineTypes, bucket.machineType)) continue;
    sizes.set(
      textOf(bucket),
      (sizes.get(textOf(bucket)) ?? 0) + (demand.size.unit === "nodes" ? 1 : node.cores),
    );
  }
  for (const place of made) {
    const size = sizes.get(place);
    if (size !== undefined && size < demand.size.count) faults.push(`${place} is made and not whole`);
  }
  const whole = ungrouped
    ? wholeOfOrdinary(sheet, demand, key)
    : [...sizes.values()].filter((size) => size >= demand.size.count).length;
  const placed = outcomeOf(sheet, ranked)?.placed ?? 0;
  if (whole < placed) faults.push(`${nameOf(ranked)}: ${placed} groups promised, ${whole} whole`);
  return faults;
}
