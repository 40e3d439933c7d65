import type { Revision } from "../../domain/demand.ts";
import { compareRevisions } from "../../domain/demand.ts";
import type { SetName } from "../../domain/ids.ts";
import { setName } from "../../domain/ids.ts";
import type { Held, SetEntries, SetEntry } from "../../domain/request-sets.ts";

/**
 * Reports and pools that came without demand are stored among the sets, under names of their own. The release before this one treats them
 * as sets: it keeps their bodies, counts their hosts and pools, and lets them lapse. So the stored form keeps its version.
 */
export type StoredEntry = readonly [SetName, SetEntry];

/** No sender can use such a name: names in messages have no control character. */
const REPORT_OF = "\u0000report";
const POOLS_OF = "\u0000pools";

/** All entries that a record holds of its senders, as the manifest lists them. */
export function storedEntries({ sets, separateReports, separatePools }: Held): readonly StoredEntry[] {
  const under = (suffix: string, entries: SetEntries) =>
    [...entries].map(([set, entry]): StoredEntry => [setName(set + suffix), entry]);
  return [...sets, ...under(REPORT_OF, separateReports), ...under(POOLS_OF, separatePools)];
}

export function readEntries(stored: readonly StoredEntry[]): Held {
  const isSeparate = ([name]: StoredEntry): boolean => name.endsWith(REPORT_OF) || name.endsWith(POOLS_OF);
  const sets = new Map(stored.filter((entry) => !isSeparate(entry)));
  const under = (suffix: string): SetEntries =>
    new Map(
      stored
        .filter(([name]) => name.endsWith(suffix))
        .map(([name, entry]): StoredEntry => [setName(name.slice(0, -suffix.length)), entry])
        .filter(([set, { revision }]) => !isOlder(revision, sets.get(set)?.revision)),
    );
  return { sets, separateReports: under(REPORT_OF), separatePools: under(POOLS_OF) };
}

/** The release before this one accepts a newer demand, and leaves what it replaces. */
function isOlder(revision: Revision, stated: Revision | undefined): boolean {
  return stated !== undefined && compareRevisions(revision, stated) < 0;
}
