import type { RequestSetUpdate, Revision, SchedulerNode, SetDemand } from "../domain/demand.ts";
import type { Digest, SetName } from "../domain/ids.ts";
import type { ClusterRecord, SetEntry } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import { compareText } from "../domain/text.ts";
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
  return a.value - b.value || compareText(a.tieBreak, b.tieBreak);
}

/**
 * Replaces one request set if the message is not older than what is held: the join of the two, so that neither the order nor the
 * number of deliveries matters (design.md section 3). Of two demands with one revision the larger digest wins, with its own times and
 * report; of two messages with one demand the one that lasts longer.
 */
export function accept(record: ClusterRecord, update: RequestSetUpdate, now: Instant): Acceptance {
  if (update.expiresAt <= now) return { kind: "stale", expiredAt: update.expiresAt };
  const held = record.sets.get(update.set);
  const order = held === undefined ? 1 : compareDemands(update, held);
  if (held !== undefined && order < 0) return { kind: "older", held: held.revision };

  const entry = entryOf(update, now);
  if (held?.live === true && order === 0 && compareRepeats(entry, held) <= 0) {
    return { kind: "accepted", record, demands: new Map(), reports: new Map(), changed: false };
  }
  const inForce = held?.live === true && held.expiresAt > now;
  const changed = !inForce || held.digest !== update.digest;
  return {
    kind: "accepted",
    record: {
      ...record,
      sets: new Map(record.sets).set(update.set, entry),
      generation: record.generation + (changed ? 1 : 0),
    },
    demands: new Map([[update.digest, update.demand]]),
    reports:
      entry.report === undefined || update.schedulerNodes === undefined
        ? new Map()
        : new Map([[entry.report, update.schedulerNodes]]),
    changed,
  };
}

function entryOf(update: RequestSetUpdate, now: Instant): SetEntry {
  const { revision, intervalSeconds, sentAt, expiresAt, digest, schedulerNodes } = update;
  const entry = { revision, intervalSeconds, sentAt, acceptedAt: now, expiresAt, digest, live: true };
  return schedulerNodes === undefined ? entry : { ...entry, report: digestOf(schedulerNodes) };
}

/** Which of two demands of one set is in force: negative if `update`'s is not. */
function compareDemands(update: RequestSetUpdate, held: SetEntry): number {
  return compareRevisions(update.revision, held.revision) || compareText(update.digest, held.digest);
}

/** A sender that saw no answer repeats a revision, maybe with newer times and a newer report. A total order, so that any order of arrival will do. */
function compareRepeats(a: SetEntry, b: SetEntry): number {
  return (
    a.expiresAt - b.expiresAt ||
    a.sentAt - b.sentAt ||
    a.intervalSeconds - b.intervalSeconds ||
    compareText(a.report ?? "", b.report ?? "")
  );
}

/** The same message, valid no longer than the cluster's configuration allows. */
export function limitExpiry(update: RequestSetUpdate, longestSeconds: number): RequestSetUpdate {
  if (update.intervalSeconds <= longestSeconds) return update;
  return {
    ...update,
    askedIntervalSeconds: update.askedIntervalSeconds ?? update.intervalSeconds,
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
