import type { SetName } from "../../domain/ids.ts";
import type { Reason } from "../../domain/reason.ts";
import type { GroupDemand } from "../../domain/demand.ts";
import type { Bin } from "../bins/bin.ts";

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
  /** Groups that this plan has given up, and what they lacked. */
  readonly givenUp: Map<number, Reason>;
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
