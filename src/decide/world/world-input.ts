import type { Instant } from "../../domain/units.ts";
import type { Backoff, GroupFill, InFlight, DearDemand } from "../../domain/record.ts";
import type { CreateSet } from "../../domain/intent.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { Policy } from "../../domain/policy.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { Pool, RankedDemand } from "../../domain/demand.ts";
import type { Node, Snapshot } from "../../domain/cluster.ts";
import type { Standings } from "../../domain/node-standing.ts";
import type { Reason } from "../../domain/reason.ts";
import type { Reports } from "./scheduler-only.ts";
import type { Dynamics } from "./dynamic-arrays.ts";

/** The inputs of {@link buildWorld}. */
export interface WorldInput {
  readonly snapshot: Snapshot;
  readonly ledger: Ledger;
  readonly inFlight: readonly InFlight[];
  /** Creates that are committed and not settled. They count as in flight. */
  readonly pendingCreates: readonly CreateSet[];
  readonly backoffs: readonly Backoff[];
  /** Groups that lacked nodes in earlier plans. Absent: none. */
  readonly groupFills?: readonly GroupFill[];
  readonly policy: Policy;
  /** Licences and quotas that the cluster's jobs share. */
  readonly pools?: readonly Pool[];
  /** The demands, to which the configuration's caps apply. Absent: none. */
  readonly demands?: readonly RankedDemand[];
  /** Names for which no node is made now, and why. Absent: none. */
  readonly blockedNames?: ReadonlyMap<string, Reason>;
  /** Dynamic node arrays by name. Absent: none. */
  readonly dynamics?: Dynamics;
  /** The reports of schedulers. Absent: none has amounts. */
  readonly reports?: Reports;
  readonly standings: Standings;
  /** More nodes that are no capacity, but count against limits. */
  readonly excluded: ReadonlySet<NodeId>;
  /** Absent: no set rests. */
  readonly resting?: DearDemand;
  /** The order in which existing nodes are used: see `SupplyNode.order`. Nodes that were observed later come later. */
  readonly order: (node: Node, known?: LedgerNode) => number;
  readonly now: Instant;
}
