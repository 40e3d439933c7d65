import type { SetName } from "../../domain/ids.ts";
import type { BucketKey } from "../../domain/bucket.ts";
import type { Instant } from "../../domain/units.ts";
import type { GroupDemand } from "../../domain/demand.ts";
import type { Bin } from "../bins/bin.ts";

/** A group that was to be filled and lacked nodes when its time was over. */
export interface GivenUpGroup {
  readonly bucket: BucketKey;
  /** How many nodes it has, and how many it should have. */
  readonly nodes: number;
  readonly size: number;
  /** When it began to be filled. */
  readonly since: Instant;
}

/** What a plan in the making has done for all groups of one array and size. Places are named by their index. */
export interface GroupTally {
  /** The demand that asks for most. */
  demand: GroupKind;
  readonly sets: Set<SetName>;
  /** The provider knows no placement groups. */
  ungrouped: boolean;
  /** Groups that some demand counts on, or waits for. */
  readonly counted: Set<number>;
  /** Nodes that groups without a placement group are made of. */
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

/** What groups are asked for, and how large. */
export type GroupKind = Pick<GroupDemand, "array" | "size" | "groups">;
