import type { Node } from "./cluster.ts";
import type { Comparison } from "./comparison.ts";
import type { ArrayName, MachineType, NodeId } from "./ids.ts";
import type { GroupFill } from "./record.ts";
import type { LedgerNode } from "./ledger.ts";
import type { Instant, Seconds } from "./units.ts";

/**
 * The nodes that the observed node arrays would have if the autoscaler ran them. They exist in the record only. Plain data without Maps:
 * it is one stored body.
 */
export interface VirtualFleet {
  /** The last plan that moved the fleet. */
  readonly at: Instant;
  /** The arrays that are observed now. */
  readonly arrays: readonly ObservedArray[];
  readonly nodes: readonly VirtualNode[];
  /** By real node with a job, the virtual node that has its jobs, so that they stay where they are. */
  readonly moved: readonly MovedNode[];
  /** How long real nodes of each size took to boot: the last samples. */
  readonly boots: readonly SizeBoots[];
  /** Virtual nodes made so far. The next one takes this number. */
  readonly made: number;
  /** Placement groups of virtual nodes that lack nodes. Absent: none. */
  readonly groupFills?: readonly GroupFill[];
  /** The counts of the comparison. Kept when no array is observed any more. */
  readonly comparison: Comparison;
}

/** A node array that is only observed. */
interface ObservedArray {
  readonly name: ArrayName;
  readonly since: Instant;
  /** When virtual nodes of the array were last stopped. Absent: never. */
  readonly stoppedAt?: Instant;
}

/** A virtual node. A copy of a real node keeps its NodeId and its names. */
export interface VirtualNode {
  /** The node as it is once it is up. A deallocated node as it is before its start. */
  readonly node: Node;
  /** Its ledger entry. */
  readonly known: LedgerNode;
  /** When it is up. Absent: it was up from the beginning, or is deallocated. */
  readonly readyAt?: Instant;
  /** When it was terminated. Absent: it was not. */
  readonly stoppedAt?: Instant;
  /** When it was deallocated. Absent: it was not, or it was started since. */
  readonly deallocatedAt?: Instant;
}

/** A real node whose jobs are on a virtual node. */
export interface MovedNode {
  readonly real: NodeId;
  readonly to: NodeId;
}

/** How long nodes of one VM size took to boot. */
export interface SizeBoots {
  readonly machineType: MachineType;
  /** Seconds, the newest last. */
  readonly seconds: readonly number[];
}

/** Boot duration of a virtual node if no boot of a real one has been observed. */
export const DEFAULT_BOOT_SECONDS: Seconds = 300;

/** A stopped virtual node counts as present for this long, as the VM of a real node does. */
export const VIRTUAL_STOP_SECONDS: Seconds = 60;
