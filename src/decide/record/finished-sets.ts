import { REVISION_LEEWAY_SECONDS } from "../../domain/demand.ts";
import type { FinishedPart, FinishedSet, ClusterRecord } from "../../domain/record.ts";
import { digest } from "../../domain/ids.ts";
import type { SetName } from "../../domain/ids.ts";
import type { Held, SetEntries, SetEntry } from "../../domain/request-sets.ts";
import { partsOf, setNamesOf } from "../../domain/request-sets.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** How many finished sets a record keeps. */
interface Room {
  /** Number of newest ones that stay when others are removed. */
  readonly shown: number;
  /** Maximum number before the others are removed. Many are removed at once, so that few bodies are written. */
  readonly most: number;
}

const ROOM: Room = { shown: 50, most: 100 };

/** A record without some finished sets. */
interface Retired {
  readonly record: ClusterRecord;
  /** The removed sets by name. They must be stored elsewhere. */
  readonly finished: ReadonlyMap<SetName, FinishedSet>;
}

/**
 * Removes finished sets from the record if there are many. A set is finished if none of its parts is in force. The newest stay. The same record
 * if none is removed (docs/protocol.md, Storage).
 */
export function retireSets(record: ClusterRecord, { shown, most }: Room = ROOM): Retired {
  const over = finishedNames(record);
  if (over.length <= most) return { record, finished: new Map() };
  const endOf = new Map(over.map((name) => [name, endedAt(record, name)]));
  const leaving = over
    .toSorted((a, b) => (endOf.get(a) ?? 0) - (endOf.get(b) ?? 0))
    .slice(0, over.length - shown);
  const finished = new Map(leaving.map((name) => [name, finishedSet(record, name)]));
  const without = (entries: SetEntries): SetEntries =>
    entries.size === 0 ? entries : new Map([...entries].filter(([name]) => !finished.has(name)));
  return {
    record: {
      ...record,
      sets: without(record.sets),
      separateReports: without(record.separateReports),
      separatePools: without(record.separatePools),
    },
    finished,
  };
}

function finishedNames(held: Held): readonly SetName[] {
  return setNamesOf(held).filter((name) => !partsOf(held, name).some((entry) => entry?.live === true));
}

/** When the last part of the set expired. */
function endedAt({ sets, separateReports, separatePools }: Held, name: SetName): number {
  return Math.max(
    ...[sets, separateReports, separatePools].map((entries) => entries.get(name)?.expiresAt ?? 0),
  );
}

function finishedSet({ sets, separateReports, separatePools }: Held, name: SetName): FinishedSet {
  const [demand, report, pools] = [sets, separateReports, separatePools].map((entries) => {
    const entry = entries.get(name);
    return entry && partOf(entry);
  });
  return withoutAbsent({ demand, report, pools });
}

function partOf({ revision, intervalSeconds, acceptedAt, expiresAt }: SetEntry): FinishedPart {
  return { revision, intervalSeconds, acceptedAt, expiresAt };
}

/** Puts removed sets back into the record, as lapsed sets. Sets that the record has stay as they are. */
export function recallSets(
  record: ClusterRecord,
  finished: ReadonlyMap<SetName, FinishedSet>,
  names: readonly SetName[],
): ClusterRecord {
  let recalled = record;
  for (const name of names) {
    const known = finished.get(name);
    if (known === undefined || holds(recalled, name)) continue;
    recalled = {
      ...recalled,
      sets: withPart(recalled.sets, name, known.demand),
      separateReports: withPart(recalled.separateReports, name, known.report),
      separatePools: withPart(recalled.separatePools, name, known.pools),
    };
  }
  return recalled;
}

/** Whether the record has a part of the set. */
export function holds({ sets, separateReports, separatePools }: Held, name: SetName): boolean {
  return sets.has(name) || separateReports.has(name) || separatePools.has(name);
}

function withPart(entries: SetEntries, name: SetName, part: FinishedPart | undefined): SetEntries {
  if (part === undefined) return entries;
  return new Map(entries).set(name, { ...part, sentAt: part.acceptedAt, digest: FORGOTTEN, live: false });
}

/** The digest of a finished set, whose demand is not remembered. Every real digest is larger, so a message of the same revision is accepted. */
const FORGOTTEN = digest("0");

/**
 * Whether a finished set must still be remembered: for `keepSeconds` after the last message of any of its parts, plus the time by which its
 * revision may have been ahead of our clock. Older revisions are refused without it (accept.ts).
 */
export function isRemembered(finished: FinishedSet, keepSeconds: Seconds, now: Instant): boolean {
  const { demand, report, pools } = finished;
  return [demand, report, pools].some(
    (part) => part !== undefined && plusSeconds(part.acceptedAt, keepSeconds + REVISION_LEEWAY_SECONDS) > now,
  );
}
