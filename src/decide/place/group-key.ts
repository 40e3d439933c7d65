import type { GroupDemand } from "../../domain/demand.ts";

/** What all groups of one array and size share: "execute:64" for 64 cores, "execute:16n" for 16 nodes (cyclecloud-wire.md C.2). */
export function groupKeyOf({ array, size }: Pick<GroupDemand, "array" | "size">): string {
  return `${array}:${size.count}${size.unit === "nodes" ? "n" : ""}`;
}

/** The group size in a key. 0 if it has none. */
export function sizeOfKey(key: string): GroupDemand["size"] {
  const [, count = "0", nodes] = /:(\d+)(n?)$/.exec(key) ?? [];
  return { unit: nodes === "n" ? "nodes" : "cores", count: Number(count) };
}

/** Number of nodes of a whole group, if each has this many cores. Infinite if no number of nodes is enough. */
export function sizeIn({ size }: Pick<GroupDemand, "size">, cores: number): number {
  if (size.unit === "nodes") return size.count;
  return cores > 0 ? Math.ceil(size.count / cores) : Number.POSITIVE_INFINITY;
}
