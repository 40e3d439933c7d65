import type { Size } from "../../domain/size.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { NodeView, SharedState } from "../../domain/node-view.ts";

/**
 * What a constraint says of one node. `space`: how many slots it lets onto the node; absent: it has no opinion. It is told also where the
 * constraint fails, as a constraint that fails may still bound (scalelib.md 9).
 */
export type Judgement =
  | Met
  | { readonly kind: "refused"; readonly refusal: Refusal; readonly space?: number };

export interface Met {
  readonly kind: "met";
  /** How good a choice: of n values or alternatives the first gives n, the last 1. */
  readonly score: number;
  readonly space?: number;
  /** What one slot takes from the node, and from pools. */
  readonly takes: ReadonlyMap<string, number | Size>;
  readonly drains: ReadonlyMap<string, number>;
  /** Nobody but the job may be on the node from then on; absent: the node stays open. */
  readonly closes?: "job" | "task";
}

/** A compiled constraint. `job` is the name of the job that asks, where it matters who is on the node already. */
export type Matcher = (node: NodeView, shared: Shared, job?: string) => Judgement;

/** What jobs share, as far as one node is judged by it: one pool at a time is asked for. */
export type Shared = Pick<SharedState, "values"> & { readonly left: Pick<SharedState["left"], "get"> };

export const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

export const PLAIN_MET: Met = { kind: "met", score: 1, takes: NOTHING, drains: NOTHING };

export function refused(refusal: Refusal, space?: number): Judgement {
  return space === undefined ? { kind: "refused", refusal } : { kind: "refused", refusal, space };
}
