import type { RequestSetUpdate, Revision, SchedulerNode, SetDemand } from "../domain/demand.ts";
import type { Digest, SetName } from "../domain/ids.ts";
import type { ClusterRecord, SetEntry } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import { plusSeconds } from "../domain/units.ts";
import { digestOf } from "./hash.ts";

/** What became of a demand message. */
export type Acceptance =
  | {
      readonly kind: "accepted";
      readonly record: ClusterRecord;
      readonly demands: ReadonlyMap<Digest, SetDemand>;
      readonly reports: ReadonlyMap<Digest, readonly SchedulerNode[]>;
      /** The demand in force changed, so a plan is due; false for a mere renewal. */
      readonly changed: boolean;
    }
  /** A newer revision is held already. */
  | { readonly kind: "older"; readonly held: Revision }
  /** Its expiry has passed. */
  | { readonly kind: "stale"; readonly expiredAt: Instant };

/** Orders revisions: by value, then by tie-break. Negative if `a` is older. */
export function compareRevisions(a: Revision, b: Revision): number {
  return a.value - b.value || (a.tieBreak < b.tieBreak ? -1 : a.tieBreak > b.tieBreak ? 1 : 0);
}

/**
 * Replaces one request set if the message is not older than what is held: the join of the two, so that neither the order nor the
 * number of deliveries matters (design.md section 3). Of two demands with one revision the larger digest wins.
 */
export function accept(record: ClusterRecord, update: RequestSetUpdate, now: Instant): Acceptance {
  if (update.expiresAt <= now) return { kind: "stale", expiredAt: update.expiresAt };
  const held = record.sets.get(update.set);
  if (held !== undefined && isOlder(update, held)) return { kind: "older", held: held.revision };

  const sameRevision = held !== undefined && compareRevisions(update.revision, held.revision) === 0;
  if (sameRevision && held.digest === update.digest && held.live && held.expiresAt >= update.expiresAt) {
    return { kind: "accepted", record, demands: new Map(), reports: new Map(), changed: false };
  }
  const report = update.schedulerNodes === undefined ? undefined : digestOf(update.schedulerNodes);
  const entry: SetEntry = {
    revision: update.revision,
    intervalSeconds: update.intervalSeconds,
    sentAt: sameRevision ? later(held.sentAt, update.sentAt) : update.sentAt,
    acceptedAt: now,
    expiresAt: sameRevision ? later(held.expiresAt, update.expiresAt) : update.expiresAt,
    digest: update.digest,
    live: true,
    ...(report === undefined ? {} : { report }),
  };
  const changed = held === undefined || !held.live || held.digest !== update.digest;
  return {
    kind: "accepted",
    record: {
      ...record,
      sets: new Map(record.sets).set(update.set, entry),
      generation: record.generation + (changed ? 1 : 0),
    },
    demands: new Map([[update.digest, update.demand]]),
    reports:
      report === undefined || update.schedulerNodes === undefined
        ? new Map()
        : new Map([[report, update.schedulerNodes]]),
    changed,
  };
}

function isOlder(update: RequestSetUpdate, held: SetEntry): boolean {
  const order = compareRevisions(update.revision, held.revision);
  return order < 0 || (order === 0 && update.digest < held.digest);
}

function later(a: Instant, b: Instant): Instant {
  return a > b ? a : b;
}

/** The same message, valid no longer than the cluster's configuration allows. */
export function limitExpiry(update: RequestSetUpdate, longestSeconds: number): RequestSetUpdate {
  if (update.intervalSeconds <= longestSeconds) return update;
  return {
    ...update,
    intervalSeconds: longestSeconds,
    expiresAt: plusSeconds(update.sentAt, longestSeconds),
  };
}

/** Marks what has expired as no longer in force, and forgets names whose revision nobody can need any more. */
export function lapseSets(
  sets: ReadonlyMap<SetName, SetEntry>,
  now: Instant,
  keepRevisionSeconds: number,
): ReadonlyMap<SetName, SetEntry> {
  let changed: Map<SetName, SetEntry> | undefined;
  for (const [name, entry] of sets) {
    if (entry.expiresAt > now) continue;
    if (entry.expiresAt + keepRevisionSeconds * 1000 <= now) {
      changed ??= new Map(sets);
      changed.delete(name);
    } else if (entry.live) {
      changed ??= new Map(sets);
      const { report: _gone, ...kept } = entry;
      changed.set(name, { ...kept, live: false });
    }
  }
  return changed ?? sets;
}
