import type { Digest, Epoch } from "../../domain/ids.ts";
import type { MissingBodies } from "../../domain/missing-bodies.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { SetEntries, SetEntry } from "../../domain/request-sets.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { beginEpoch } from "./epoch.ts";

/** A body is lost when every manifest has named it for so long, and none of its searches has found it. */
const LOST_SECONDS: Seconds = 60;

type MissingSince = NonNullable<ClusterRecord["missing"]>;

/** Since when each of them has been missing; what the record noted before and is no longer missing is left out. */
export function missingSince(record: ClusterRecord, ids: readonly string[], now: Instant): MissingSince {
  const noted = new Map(record.missing?.map(({ body, since }) => [body, since]));
  return ids.map((body) => ({ body, since: noted.get(body) ?? now }));
}

/** Whether all that is missing has been so for long enough to be given up. */
export function areLost(missing: MissingSince, now: Instant): boolean {
  return missing.every(({ since }) => secondsBetween(since, now) >= LOST_SECONDS);
}

/**
 * The record without what lost bodies held, and only that: sets whose demand is lost lapse, and count again when they are pushed again; a
 * lost report says nothing any more; ledger and snapshot come from the next observation. Other sets, intents and what is in flight stay. A new
 * epoch begins, and scale-down rests until those sets have been pushed again; until all have, if what was known of nodes is lost
 * (docs/protocol.md, Storage).
 */
export function forgetLost(
  record: ClusterRecord,
  lost: MissingBodies,
  epoch: Epoch,
  now: Instant,
): ClusterRecord {
  const { missing: _over, ...rest } = record;
  const lived = [...record.sets].filter(([, { live }]) => live).map(([name]) => name);
  const next = withoutLost(record.sets, lost.digests);
  const lapsed = lived.filter((name) => next.get(name)?.live === false);
  const nodes = lost.ledger || lost.seen || lost.questions;
  // Of nodes of which nothing is known any more each set may say something.
  const begun = beginEpoch(rest, { epoch, awaiting: nodes ? lived : lapsed }, now);
  return {
    ...begun,
    generation: record.generation + 1,
    // A new map, so that the store looks again at what is named.
    sets: new Map(next),
    separateReports: withoutLost(record.separateReports, lost.digests),
    separatePools: withoutLost(record.separatePools, lost.digests),
    lost: { at: now, bodies: lost.ids.length, sets: lapsed, nodes },
  };
}

function withoutLost(entries: SetEntries, lost: ReadonlySet<Digest>): SetEntries {
  const isHit = ({ live, digest, report }: SetEntry): boolean =>
    live && (lost.has(digest) || (report !== undefined && lost.has(report)));
  if (![...entries.values()].some(isHit)) return entries;
  return new Map(
    [...entries].map(([name, entry]) => [name, isHit(entry) ? withoutParts(entry, lost) : entry]),
  );
}

function withoutParts(entry: SetEntry, lost: ReadonlySet<Digest>): SetEntry {
  const { report, ...rest } = entry;
  if (lost.has(entry.digest)) return { ...rest, live: false };
  return report === undefined || lost.has(report) ? rest : entry;
}

/** The trouble of the last loss, until every set that lapsed by it has been pushed again; at least for an hour, at most for a day. */
export function lossShown({ lost, sets }: ClusterRecord, now: Instant): Loss | undefined {
  if (lost === undefined || secondsBetween(lost.at, now) > SHOWN_SECONDS.most) return undefined;
  const awaited = lost.sets.filter((name) => {
    const entry = sets.get(name);
    return entry === undefined || (!entry.live && entry.acceptedAt <= lost.at);
  });
  if (awaited.length === 0 && secondsBetween(lost.at, now) > SHOWN_SECONDS.least) return undefined;
  return { ...lost, sets: awaited };
}

type Loss = NonNullable<ClusterRecord["lost"]>;
const SHOWN_SECONDS = { least: 3600, most: 86_400 } as const;
