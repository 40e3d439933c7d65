import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { SetEntries, SetEntry } from "../../domain/request-sets.ts";
import { holdSame } from "../../domain/request-sets.ts";
import type { SetName } from "../../domain/ids.ts";
import type { RequestSetUpdate } from "../../domain/demand.ts";
import { REVISION_LEEWAY_SECONDS } from "../../domain/demand.ts";

/** The message with an expiry that the cluster's configuration allows. */
export function limitExpiry(update: RequestSetUpdate, longestSeconds: Seconds): RequestSetUpdate {
  if (update.intervalSeconds <= longestSeconds) return update;
  return {
    ...update,
    askedIntervalSeconds: update.askedIntervalSeconds ?? update.intervalSeconds,
    intervalSeconds: longestSeconds,
    expiresAt: plusSeconds(update.sentAt, longestSeconds),
  };
}

/** Marks all parts that have expired as lapsed, each separately. The same record if none has. */
export function lapseParts(record: ClusterRecord, now: Instant, keepRevisionSeconds: Seconds): ClusterRecord {
  const parts = {
    sets: lapseSets(record.sets, now, keepRevisionSeconds),
    separateReports: lapseSets(record.separateReports, now, keepRevisionSeconds),
    separatePools: lapseSets(record.separatePools, now, keepRevisionSeconds),
  };
  return holdSame(parts, record) ? record : { ...record, ...parts };
}

/**
 * Marks expired entries as no longer in force. An entry is forgotten when every older revision is refused as stale: `keepRevisionSeconds`
 * after its expiry, plus the time by which its revision may have been ahead of our clock.
 */
function lapseSets(sets: SetEntries, now: Instant, keepRevisionSeconds: Seconds): SetEntries {
  let changed: Map<SetName, SetEntry> | undefined;
  for (const [name, entry] of sets) {
    if (entry.expiresAt > now) continue;
    if (plusSeconds(entry.expiresAt, keepRevisionSeconds + REVISION_LEEWAY_SECONDS) <= now) {
      changed ??= new Map(sets);
      changed.delete(name);
    } else if (entry.live) {
      changed ??= new Map(sets);
      const { report: _gone, size: _size, ...kept } = entry;
      changed.set(name, { ...kept, live: false });
    }
  }
  return changed ?? sets;
}
