import type { Digest, Epoch } from "../../domain/ids.ts";
import type { MissingBodies, ClusterRecord } from "../../domain/record.ts";
import type { Lost } from "../../domain/troubles.ts";
import type { SetEntries, SetEntry } from "../../domain/request-sets.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { beginEpoch } from "./epoch.ts";

/** A body is lost if all manifests of this time have named it and no load has found it. */
const LOST_SECONDS: Seconds = 60;

type MissingSince = NonNullable<ClusterRecord["missing"]>;

/** Since when each of these bodies has been missing. Bodies of the record's note that are found again are left out. */
export function missingSince(record: ClusterRecord, ids: readonly string[], now: Instant): MissingSince {
  const noted = new Map(record.missing?.map(({ body, since }) => [body, since]));
  return ids.map((body) => ({ body, since: noted.get(body) ?? now }));
}

/** Whether all missing bodies have been missing long enough to count as lost. */
export function areLost(missing: MissingSince, now: Instant): boolean {
  return missing.every(({ since }) => secondsBetween(since, now) >= LOST_SECONDS);
}

/**
 * The record without the content of lost bodies (docs/protocol.md, Storage). Sets whose demand is lost lapse, and count again when they are
 * pushed again. Lost reports are removed. The next observation gives a new ledger and snapshot. Other sets, intents and nodes in flight stay.
 * A new epoch begins. Scale-down pauses until the lapsed sets have been pushed again, or all sets if facts about nodes were lost.
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
  // Each set may report nodes about which nothing is known any more.
  const begun = beginEpoch(rest, { epoch, awaiting: nodes ? lived : lapsed }, now);
  return {
    ...begun,
    generation: record.generation + 1,
    // A new map, so that the store checks its bodies again.
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

/** The last loss, while it is shown: until each set that lapsed by it has been pushed again, but for an hour at least and a day at most. */
export function lossShown({ lost, sets }: ClusterRecord, now: Instant): Lost | undefined {
  if (lost === undefined || secondsBetween(lost.at, now) > SHOWN_SECONDS.most) return undefined;
  const awaited = lost.sets.filter((name) => {
    const entry = sets.get(name);
    return entry === undefined || (!entry.live && entry.acceptedAt <= lost.at);
  });
  if (awaited.length === 0 && secondsBetween(lost.at, now) > SHOWN_SECONDS.least) return undefined;
  return { ...lost, sets: awaited };
}

const SHOWN_SECONDS = { least: 3600, most: 86_400 } as const;
