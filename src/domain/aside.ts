import type { SetName } from "./ids.ts";
import type { Held, SetEntry } from "./request-sets.ts";
import { partsOf } from "./request-sets.ts";

/**
 * Why a plan does not even read what a set asks for. "memory": with it the demand would need more memory than the process has. "deaths": processes died of
 * this record, and the content of this set came last.
 */
export type WhyAside = "memory" | "deaths";

export type Aside = ReadonlyMap<SetName, WhyAside>;

export const NONE_ASIDE: Aside = new Map();

/** The live sets of these that are still live. */
export function asideIn(record: Held, aside: Aside = NONE_ASIDE): Aside {
  if (aside.size === 0) return aside;
  return new Map([...aside].filter(([set]) => partsOf(record, set).some((entry) => entry?.live === true)));
}

/** The live entries of all sets that are read. */
export function entriesRead(
  { sets, separateReports, separatePools }: Held,
  aside: Aside,
): readonly SetEntry[] {
  const read: SetEntry[] = [];
  for (const entries of [sets, separateReports, separatePools])
    for (const [name, entry] of entries) if (entry.live && !aside.has(name)) read.push(entry);
  return read;
}

/** For users: why a set is not planned. `what`: "3000 jobs (12 MiB of memory)". */
export function asideText(why: WhyAside, what: string): string {
  const cause =
    why === "memory"
      ? `with ${what} there is more demand than this size of instance can plan. Send fewer jobs of different kinds, or set instanceMemoryMB higher`
      : `the app ended again and again while it planned this cluster, and what this set asks for came last: ${what}. Every ten minutes a plan tries with all request sets. Send fewer jobs of different kinds, or set instanceMemoryMB higher`;
  return `left out of this plan; ${cause}. No nodes are created for it, and no node is stopped for want of demand meanwhile`;
}
