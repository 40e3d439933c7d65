import type { Instant } from "../../domain/units.ts";
import type { Backoff } from "../../domain/backoff.ts";
import type { GroupFill } from "../../domain/group-fill.ts";
import type { InFlight } from "../../domain/in-flight.ts";
import type { CreateSet } from "../../domain/intent.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { Policy } from "../../domain/policy.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { Pool, RankedDemand } from "../../domain/demand.ts";
import type { Node, Snapshot } from "../../domain/cluster.ts";
import type { Reports } from "./scheduler-only.ts";
import type { Dynamics } from "./dynamic-arrays.ts";

export interface WorldInput {
  readonly snapshot: Snapshot;
  readonly ledger: Ledger;
  readonly inFlight: readonly InFlight[];
  /** Creates that are committed and not settled: they count as in flight. */
  readonly pendingCreates: readonly CreateSet[];
  readonly backoffs: readonly Backoff[];
  /** Groups that earlier plans found lacking; absent: none. */
  readonly groupFills?: readonly GroupFill[];
  readonly policy: Policy;
  /** Licences and quotas that the cluster's jobs share. */
  readonly pools?: readonly Pool[];
  /** Who asks for something: the configuration's caps are theirs. Absent: nobody. */
  readonly demands?: readonly RankedDemand[];
  /** Dynamic node arrays by name; absent: none. */
  readonly dynamics?: Dynamics;
  /** What schedulers say of their hosts; absent: nothing of amounts. */
  readonly reports?: Reports;
  /** Nodes that are being stopped or are down: not capacity, though they still count against limits. */
  readonly excluded: ReadonlySet<NodeId>;
  /**
   * Nodes in doubt, whatever their phase: capacity that is not up, so that nothing is created for them and they stand in for nobody.
   * Absent: none.
   */
  readonly doubted?: ReadonlySet<NodeId>;
  /** Nodes that keep the jobs that are on them, and take no others; absent: none. */
  readonly full?: ReadonlySet<NodeId>;
  /** Which existing nodes are used first: see `SupplyNode.order`. Nodes seen later should come after those seen earlier. */
  readonly order: (node: Node, known?: LedgerNode) => number;
  readonly now: Instant;
}
