import type { Stock, Usable } from "./floors.ts";
import { settleWants } from "./floors.ts";
import type { ClusterShape } from "./shape.ts";
import type { Want } from "./wants.ts";

/** A node that may serve, with its name. */
export type Server = Usable & { readonly id: string };

/**
 * Whether all these nodes may go at once: no want has less then, neither counting all that is there or coming, nor counting only what is
 * Ready (design.md section 3, Stopping: only Ready nodes count as substitutes for a Ready node).
 */
export function mayAllGo(
  shape: ClusterShape,
  wants: readonly Want[],
  servers: readonly Server[],
  keyOfGroup: Stock["keyOfGroup"],
  going: ReadonlySet<string>,
): boolean {
  const placedBy = (usable: readonly Server[]): readonly number[] => {
    const stock: Stock = { usable, holding: usable, keyOfGroup, isShut: () => true };
    const { placed } = settleWants(shape, wants, stock);
    return wants.map((want) => placed.get(want) ?? 0);
  };
  return [servers, servers.filter(({ ready }) => ready)].every((view) => {
    const now = placedBy(view);
    const then = placedBy(view.filter(({ id }) => !going.has(id)));
    return now.every((count, index) => (then[index] ?? 0) >= count);
  });
}
