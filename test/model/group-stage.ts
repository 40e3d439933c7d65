import type { Fill } from "./group-memory.ts";
import type { TypeName } from "./shape.ts";

/** A group while a plan is made. */
export interface Group {
  readonly array: string;
  readonly type: TypeName;
  readonly key: string;
  /** Undefined if this plan creates it. */
  readonly name: string | undefined;
  readonly ready: number;
  nodes: number;
  readonly fill: Fill | undefined;
  /** A want counts on it or waits for it. */
  counted: boolean;
  completed: boolean;
  /** It has been waited for long enough. */
  givenUp: boolean;
  /** Nodes of a whole group. Undefined if no want has asked for it. */
  size: number | undefined;
}

/** The state of a group at the beginning of a plan. */
export const UNTOUCHED = { counted: false, completed: false, givenUp: false, size: undefined };

/** The number of nodes that a group lacks. */
export const lackOf = ({ size, nodes }: Group): number => Math.max(0, (size ?? 0) - nodes);

/** The stage of groups that were given up. */
export const ABANDONED = 4;

/** The stage of a group: wants count first on groups of a low stage. */
export function stageOf(group: Group): number {
  if (lackOf(group) === 0) return group.counted ? 0 : 1;
  if (group.fill === undefined) return 3;
  return group.fill.givenUpAt === undefined ? 2 : ABANDONED;
}
