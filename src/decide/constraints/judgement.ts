import type { Size } from "../../domain/size.ts";
import type { Refusal } from "../../domain/refusal.ts";
import type { NodeView, SharedState } from "../../domain/node-view.ts";

/**
 * The result of a constraint for one node. `space`: the number of slots that it allows on the node. Absent: it does not limit them. A refusal
 * has it too, because a constraint that fails may still limit the number (scalelib.md 9).
 */
export type Judgement =
  | Met
  | { readonly kind: "refused"; readonly refusal: Refusal; readonly space?: number };

export interface Met {
  readonly kind: "met";
  /** How good a choice the node is. Of n values or alternatives, the first gives n and the last 1. */
  readonly score: number;
  readonly space?: number;
  /** What one slot takes from the node (`takes`) and from pools (`drains`). */
  readonly takes: ReadonlyMap<string, number | Size>;
  readonly drains: ReadonlyMap<string, number>;
  /** The node is reserved for the job from then on. Absent: it stays open for other jobs. */
  readonly closes?: "job" | "task";
}

/** A compiled constraint. `job` is the name of the job that asks, if the jobs on the node matter. */
export type Matcher = (node: NodeView, shared: Shared, job?: string) => Judgement;

/** What jobs share, for the judgement of one node. Pools are read one at a time. */
export type Shared = Pick<SharedState, "values"> & { readonly left: Pick<SharedState["left"], "get"> };

export const NOTHING: ReadonlyMap<string, never> = new Map<string, never>();

export const PLAIN_MET: Met = { kind: "met", score: 1, takes: NOTHING, drains: NOTHING };

export function refused(refusal: Refusal, space?: number): Judgement {
  return space === undefined ? { kind: "refused", refusal } : { kind: "refused", refusal, space };
}
