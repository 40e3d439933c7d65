import type { SetName } from "../../domain/ids.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import type { Instant } from "../../domain/units.ts";
import type { GroupDemand } from "../../domain/demand.ts";
import type { Bin } from "../bins/bin.ts";

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
