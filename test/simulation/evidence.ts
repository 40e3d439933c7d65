import type { DemandHistory } from "./demand-history.ts";
import type { Tally, Violate } from "./verdict.ts";
import type { Stood } from "./standing.ts";
import type { WatchedNodes } from "./watched-nodes.ts";
import type { Lasting } from "./weather.ts";

/** What a run may have at most, and the rules that differ between runs. */
export interface Limits {
  readonly nodesPerArray: number;
  /** Maximum number of nodes in total, including those that are terminating. */
  readonly quotaNodes: number;
  /**
   * Jobs use the buckets of an array in turn, those in placement groups first. A new node of an earlier bucket is then preferred to an idle
   * node of a later one, as in scalelib (`bucket-order`).
   */
  readonly bucketOrder: boolean;
  /** Nodes are deallocated: for this long at most. */
  readonly deallocates?: { readonly timeoutSeconds: number };
  /** In weather that lasts, a node counts as present until CycleCloud has accepted its stop or the node is given up. */
  readonly lasting?: Lasting;
}

/** What the judges of creates and stops look at, and where they report. */
export interface Evidence {
  readonly limits: Limits;
  readonly now: () => number;
  readonly nodes: WatchedNodes;
  readonly demand: DemandHistory;
  /** By request id: when the shared store first held the intent. */
  readonly commits: ReadonlyMap<string, number>;
  /** When CycleCloud stood still, or still does, oldest first. */
  readonly stood: readonly Stood[];
  readonly counts: Tally;
  readonly violate: Violate;
}

/** Stops, creates and nodes in flight end 15 minutes after their commit, whatever becomes of them (docs/protocol.md, Standstills). */
export const GIVEN_UP_MS = 900_000;

/** What was held takes effect this long after CycleCloud has gone on, at most. */
const LATE_MS = 40_000;

/**
 * Whether CycleCloud stood still for so long at once in this time that what it held took effect over 15 minutes later: what docs/protocol.md names
 * as what remains.
 */
export function stoodTooLong({ stood }: Pick<Evidence, "stood">, from: number, until: number): boolean {
  return stood.some(
    (spell) => spell.until - spell.from > GIVEN_UP_MS - LATE_MS && spell.from < until && spell.until > from,
  );
}

/** A node is not given up before: the least boot timeout of the runs (configuration.ts). */
const BOOT_MS = 230_000;

/** Whether a node of this age had by then as long to boot as it may take. CycleCloud boots nothing while it stands still. */
export function hadTimeToBoot({ stood }: Pick<Evidence, "stood">, createdAt: number, at: number): boolean {
  const still = stood.reduce((sum, spell) => sum + overlap(spell, createdAt, at), 0);
  return at - createdAt - still >= BOOT_MS;
}

function overlap(spell: Stood, from: number, until: number): number {
  return Math.max(0, Math.min(spell.until, until) - Math.max(spell.from, from));
}
