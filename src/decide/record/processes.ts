import type { Bytes } from "../../domain/units.ts";
import type { ProcessId, SetName } from "../../domain/ids.ts";
import type { ClusterRecord, Planning } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, secondsBetween, latest } from "../../domain/units.ts";
import type { SetEntry, Aside, WhyAside } from "../../domain/request-sets.ts";
import { entriesOf, memoryOfEntry, partsOf, setNamesOf, NONE_ASIDE } from "../../domain/request-sets.ts";
import { compareText } from "../../domain/text.ts";

/* What a record knows of the processes that plan it: their heaps (docs/protocol.md, Memory), and which of them died (A process that dies of a record). */

/** A process that has not planned a cluster for this long is taken for gone. */
const REMEMBERED_SECONDS: Seconds = 3600;

/** Notes that a process with this heap plans the cluster now. */
export function noteHeap(record: ClusterRecord, bytes: Bytes, now: Instant): ClusterRecord {
  const others = recent(record, now).filter((heap) => heap.bytes !== bytes);
  return { ...record, heaps: [...others, { bytes, at: now }] };
}

/** The smallest heap that planned the cluster in the last hour: the bounds of the cluster follow from it, whichever process asks. `own`: if none did. */
export function smallestHeap(record: ClusterRecord, own: Bytes, now: Instant): Bytes {
  const known = recent(record, now).map(({ bytes }) => bytes);
  return known.length === 0 ? own : Math.min(...known);
}

function recent({ heaps = [] }: ClusterRecord, now: Instant): NonNullable<ClusterRecord["heaps"]> {
  return heaps.filter(({ at }) => Math.abs(secondsBetween(at, now)) < REMEMBERED_SECONDS);
}

/** A process that has not ended its observation after this long is dead. */
const DEAD_SECONDS: Seconds = 120;
/** This many deaths in a row are no coincidence, as the end of an instance is. */
const NO_COINCIDENCE = 2;
/** After this long without a death a plan tries with all sets. */
const TRY_AGAIN_SECONDS: Seconds = 600;

/** Counts the processes that have died since the last plan, and notes that this one begins one. */
export function beginPlanning(record: ClusterRecord, process: ProcessId, now: Instant): ClusterRecord {
  const others = (record.planning ?? []).filter((one) => one.process !== process);
  const isDead = ({ at }: Planning): boolean => Math.abs(secondsBetween(at, now)) >= DEAD_SECONDS;
  const counted = others.filter(isDead).reduce((before, dead) => afterDeath(before, dead, now), record);
  const own: Planning = { process, at: now, ...(leftOutBy(counted, now) > 0 ? { some: true } : {}) };
  return { ...counted, planning: [...others.filter((one) => !isDead(one)), own] };
}

/** A trial with all sets that ends in a death shows nothing new: as many as before are left out again. */
function afterDeath(record: ClusterRecord, { some }: Planning, now: Instant): ClusterRecord {
  const { count = 0 } = record.deaths ?? {};
  const isTrial = count >= NO_COINCIDENCE && some !== true;
  return { ...record, deaths: { count: isTrial ? count : count + 1, at: now } };
}

/** The observation of this process has ended, with or without a plan. */
export function endPlanning(record: ClusterRecord, process: ProcessId): ClusterRecord {
  const { planning, ...rest } = record;
  if (planning === undefined) return record;
  const others = planning.filter((one) => one.process !== process);
  return others.length === 0 ? rest : { ...rest, planning: others };
}

/**
 * A plan with all sets, made at this moment, is saved: no process dies of this record. The processes that had begun by then died of something
 * else, if they died.
 */
export function forgetDeaths(record: ClusterRecord, at: Instant): ClusterRecord {
  const { deaths: _over, planning = [], ...rest } = record;
  const later = planning.filter((one) => one.at > at);
  return later.length === 0 ? rest : { ...rest, planning: later };
}

/** How many sets a plan leaves out because processes died: none after one death, then one, and twice as many each time. */
export function leftOutBy({ deaths }: ClusterRecord, now: Instant): number {
  if (deaths === undefined || deaths.count < NO_COINCIDENCE) return 0;
  return now < triedAgainAt(deaths.at) ? 2 ** (deaths.count - NO_COINCIDENCE) : 0;
}

/** When a plan tries with all sets again. */
export const triedAgainAt = (at: Instant): Instant => plusSeconds(at, TRY_AGAIN_SECONDS);

/** A live set: what a plan needs for it, and when its content came. */
interface Load {
  readonly set: SetName;
  readonly memory: Bytes;
  readonly contentAt: Instant;
}

/** Bytes of heap that a plan needs for all live sets. */
export function demandBytesOf(record: ClusterRecord): Bytes {
  return entriesOf(record).reduce((sum, entry) => (entry.live ? sum + memoryOfEntry(entry) : sum), 0);
}

/**
 * The sets that are not read, because the process has no memory for them, or because processes died of the record (docs/protocol.md, Memory). Those whose
 * content came last are left out first: what has been planned before is not new. A renewal is no content.
 */
export function setAside(record: ClusterRecord, memory: Bytes, now: Instant): Aside {
  const fewer = leftOutBy(record, now);
  if (fewer === 0 && demandBytesOf(record) <= memory) return NONE_ASIDE;
  const loads = loadsOf(record).toSorted((a, b) => a.contentAt - b.contentAt || compareText(a.set, b.set));
  const aside = new Map<SetName, WhyAside>();
  const kept = fewer === 0 ? loads : loads.slice(0, -fewer);
  for (const { set } of fewer === 0 ? [] : loads.slice(-fewer)) aside.set(set, "deaths");
  let left = memory;
  for (const load of kept) {
    if (load.memory > left) aside.set(load.set, "memory");
    else left -= load.memory;
  }
  return aside;
}

function loadsOf(record: ClusterRecord): readonly Load[] {
  return setNamesOf(record).flatMap((set): readonly Load[] => {
    const live = partsOf(record, set).filter((entry): entry is SetEntry => entry?.live === true);
    if (live.length === 0) return [];
    const memory = live.reduce((sum, entry) => sum + memoryOfEntry(entry), 0);
    const contentAt = latest(...live.map((entry) => entry.contentAt ?? entry.acceptedAt));
    return [{ set, memory, contentAt }];
  });
}
