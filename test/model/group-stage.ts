import type { Fill } from "./group-memory.ts";
import type { TypeName } from "./shape.ts";

/** A group on its way through a plan. */
export interface Group {
  readonly array: string;
  readonly type: TypeName;
  readonly key: string;
  /** undefined: made by this plan. */
  readonly name: string | undefined;
  readonly ready: number;
  nodes: number;
  readonly fill: Fill | undefined;
  /** Some want counts upon it or waits for it already. */
  counted: boolean;
  completed: boolean;
  /** It has been waited for long enough. */
  givenUp: boolean;
  /** Nodes of a whole one; undefined: no want has asked. */
  size: number | undefined;
}

/** As a plan finds it. */
export const UNTOUCHED = { counted: false, completed: false, givenUp: false, size: undefined };

/** Nodes that a group lacks. */
export const lackOf = ({ size, nodes }: Group): number => Math.max(0, (size ?? 0) - nodes);

/** The stage of those that were given up. */
export const ABANDONED = 4;

/** Where a group stands in the order in which they are counted upon, the first lowest. */
export function stageOf(group: Group): number {
  if (lackOf(group) === 0) return group.counted ? 0 : 1;
  if (group.fill === undefined) return 3;
  return group.fill.givenUpAt === undefined ? 2 : ABANDONED;
}
