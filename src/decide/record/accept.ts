// Long: the join of the held message and a new one. Only all its rules together show that it is independent of the order.
import type {
  PartialUpdate,
  Pool,
  RequestSetUpdate,
  Revision,
  SchedulerNode,
  SetDemand,
  WholeUpdate,
} from "../../domain/demand.ts";
import { compareRevisions } from "../../domain/demand.ts";
import type { Digest, SetName } from "../../domain/ids.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Held, SetEntries, SetEntry } from "../../domain/request-sets.ts";
import { isInForce, partsOf } from "../../domain/request-sets.ts";
import { NO_SENDER_RULES, type SenderRules } from "../../domain/sender-rules.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { compareText } from "../../domain/text.ts";
import { noteChanged } from "../pace/observation-times.ts";
import type { HeldSizes, TooMuch } from "./cluster-bounds.ts";
import { findTooMuch } from "./cluster-bounds.ts";
import { digestOf, measure } from "../../domain/digest.ts";
import { memoryOf, memoryOfReport } from "../../domain/demand-memory.ts";
import type { Bytes } from "../../domain/units.ts";

/** The result of accepting a demand message. */
export type Acceptance =
  | {
      readonly kind: "accepted";
      readonly record: ClusterRecord;
      readonly demands: ReadonlyMap<Digest, SetDemand>;
      readonly reports: ReadonlyMap<Digest, readonly SchedulerNode[]>;
      /** The demand or the pools in force changed, so a plan is due. False for a renewal without changes, or a report. */
      readonly changed: boolean;
      /** Parts of the message that are in force now. */
      readonly taken: readonly Part[];
      /** Its other parts. A newer one of each is held. */
      readonly older: readonly Part[];
    }
  /** A newer one of each of its parts is held. */
  | { readonly kind: "older"; readonly held: Revision }
  /** Its expiry has passed. */
  | { readonly kind: "stale"; readonly expiredAt: Instant }
  /** Its revision is older than `oldest`, and it does not renew a held part of its set. */
  | { readonly kind: "stale"; readonly oldest: Instant }
  /** With it the cluster would hold more than it may. */
  | TooMuch;

/** The parts of a set that are joined separately. Parts that may come without demand have their names in a message. */
type Part = "demand" | "schedulerNodes" | "pools";

/** What a message is accepted under. */
interface Terms {
  readonly oldest?: Instant;
  readonly senders?: SenderRules;
  /** What a plan may need for all sets together. Absent: what the default size of an instance allows. */
  readonly memory?: Bytes | undefined;
  /** What the senders hold before it, of several messages that are accepted one after the other at the same moment. Absent: it is counted. */
  readonly sizes?: HeldSizes | undefined;
}

/**
 * Joins a message with the held parts of its set: each part that is not older than the held one replaces it. So neither the order nor the
 * number of deliveries matters (architecture.md, The decision model). A message with demand states all parts of its set at its revision. A
 * part that came without demand counts until a newer message with demand comes.
 *
 * Revisions of finished sets are forgotten after some time. None of the forgotten ones is later than `oldest`, by the senders' clocks. An
 * older revision is accepted only if it renews a held part (docs/protocol.md, Storage). Absent: nothing was forgotten.
 *
 * The order of messages matters only for the bounds of a cluster: a message that comes while the cluster, or its sender's share, is full is
 * refused. `senders` decides whose share that is.
 */
export function accept(
  record: ClusterRecord,
  update: RequestSetUpdate,
  now: Instant,
  { oldest, senders = NO_SENDER_RULES, memory, sizes }: Terms = {},
): Acceptance {
  if (update.expiresAt <= now) return { kind: "stale", expiredAt: update.expiresAt };
  if (oldest !== undefined && update.revision.value < oldest && !renewsHeld(record, update))
    return { kind: "stale", oldest };
  const joined = noted(
    update.demand === undefined ? acceptPartial(record, update, now) : acceptWhole(record, update, now),
    update.set,
    senders,
  );
  if (joined.kind !== "accepted") return joined;
  const tooMuch = findTooMuch(record, joined.record, update.set, now, { senders, memory, sizes });
  if (tooMuch?.mayEnd !== true) return tooMuch ?? joined;
  const ended = { ...joined, record: endSet(joined.record, update.set, now) };
  sizes?.replace(record, ended.record, update.set);
  return ended;
}

function noted(acceptance: Acceptance, set: SetName, senders: SenderRules): Acceptance {
  if (acceptance.kind !== "accepted" || !acceptance.changed) return acceptance;
  return { ...acceptance, record: noteChanged(acceptance.record, set, senders) };
}

/** The set has asked for something until now, and there is no room for another set that asks for nothing. Then only its revision is kept. */
function endSet(record: ClusterRecord, set: SetName, now: Instant): ClusterRecord {
  const end = (entries: SetEntries): SetEntries => {
    const entry = entries.get(set);
    if (entry === undefined) return entries;
    const { report: _report, size: _size, ...kept } = entry;
    return new Map(entries).set(set, { ...kept, expiresAt: now, live: false, ended: true });
  };
  const { sets, separateReports, separatePools } = record;
  return {
    ...record,
    sets: end(sets),
    separateReports: end(separateReports),
    separatePools: end(separatePools),
  };
}

/**
 * Of two demands with the same revision the one with the larger digest wins, with its times and report. Of two messages with the same demand
 * the one that lasts longer wins.
 */
function acceptWhole(record: ClusterRecord, update: WholeUpdate, now: Instant): Acceptance {
  const held = record.sets.get(update.set);
  const order = held === undefined ? 1 : compareDemands(update, held);
  if (held !== undefined && order < 0) return { kind: "older", held: held.revision };

  const entry = withContent(entryOf(update, held, now), held);
  const parts = sortParts(record, update);
  if (held?.live === true && order === 0 && compareRepeats(entry, held) <= 0) {
    return { kind: "accepted", record, demands: new Map(), reports: new Map(), changed: false, ...parts };
  }
  const changed = changesDemand(held, update, now) || changesPools(record, update, now);
  return {
    kind: "accepted",
    record: {
      ...record,
      sets: new Map(record.sets).set(update.set, entry),
      separateReports: withoutOlder(record.separateReports, update),
      separatePools: withoutOlder(record.separatePools, update),
      generation: record.generation + (changed ? 1 : 0),
    },
    demands: entry.live ? new Map([[update.digest, update.demand]]) : new Map(),
    reports:
      entry.report === undefined || update.schedulerNodes === undefined
        ? new Map()
        : new Map([[entry.report, update.schedulerNodes]]),
    changed,
    ...parts,
  };
}

/** Whether a part of its set is held that is not newer. */
function renewsHeld(all: Held, { set, revision }: RequestSetUpdate): boolean {
  return partsOf(all, set).some(
    (held) => held !== undefined && compareRevisions(revision, held.revision) >= 0,
  );
}

function entryOf(update: WholeUpdate, held: SetEntry | undefined, now: Instant): SetEntry {
  const { bytes, demand, digest, schedulerNodes } = update;
  const times = { ...timesOf(update, now), ...repeatOf(update, held) };
  if (update.ends === true) return { ...times, expiresAt: now, digest, live: false, ended: true };
  const jobs = demand.demands.filter(({ kind }) => kind === "job").length;
  const ends = demand.demands.flatMap(({ until }) => (until === undefined ? [] : [until]));
  const entry = { ...times, digest, ...(ends.length === 0 ? {} : { ends }), live: true };
  const asked = isEmpty(demand) ? NO_SIZE : { jobs, bytes, memory: memoryOf(demand) };
  if (schedulerNodes === undefined) return { ...entry, size: asked };
  const { digest: report, size } = sizeOfReport(schedulerNodes);
  const all = { jobs, bytes: asked.bytes + size.bytes, memory: asked.memory + size.memory };
  return { ...entry, report, size: all };
}

const NO_SIZE = { jobs: 0, bytes: 0, memory: 0 };

function sizeOfReport(hosts: readonly SchedulerNode[]) {
  const { bytes, digest: report } = measure(hosts);
  const size = hosts.length === 0 ? NO_SIZE : { jobs: 0, bytes, memory: memoryOfReport(hosts) };
  return { digest: report, size };
}

/** The entry with the moment at which its content came, which a renewal of the same demand keeps. */
function withContent(entry: SetEntry, held: SetEntry | undefined): SetEntry {
  if (held?.live !== true || held.digest !== entry.digest) return entry;
  const { contentAt = held.acceptedAt } = held;
  return contentAt === entry.acceptedAt ? entry : { ...entry, contentAt };
}

/** A sender's mistakes are kept, so they are something. */
const isEmpty = ({ demands, pools, rejectedJobs }: SetDemand): boolean =>
  demands.length === 0 && pools.length === 0 && rejectedJobs.length === 0;

function changesDemand(held: SetEntry | undefined, update: WholeUpdate, now: Instant): boolean {
  // Not every set that asks for nothing needs a plan: a sender may push thousands of them.
  if (held?.live !== true) return update.ends !== true && !isEmpty(update.demand);
  if (!isInForce(held, now)) return update.ends !== true;
  return held.digest !== update.digest;
}

function timesOf(
  { revision, intervalSeconds, sentAt, untimed, expiresAt }: RequestSetUpdate,
  acceptedAt: Instant,
) {
  const speed = untimed === true ? { untimed } : {};
  return { revision, intervalSeconds, sentAt, ...speed, acceptedAt, expiresAt };
}

/** Two messages that are this far apart did not wait in the same place. */
const APART_SECONDS: Seconds = 30;

/** What is noted where a message has the revision and the demand that are held: docs/protocol.md, Recovery. */
function repeatOf(
  { revision, digest, sentAt }: WholeUpdate,
  held: SetEntry | undefined,
): Pick<SetEntry, "repeatedAt"> {
  if (held === undefined || held.digest !== digest || compareRevisions(revision, held.revision) !== 0)
    return {};
  const isApart = secondsBetween(held.sentAt, sentAt) >= APART_SECONDS;
  const repeatedAt = isApart ? held.sentAt : held.repeatedAt;
  return repeatedAt === undefined ? {} : { repeatedAt };
}

// ---------------------------------------------------------------- what came without demand

/** Sorts the parts of a message with demand by whether they are in force. A part that came without demand may be newer. */
function sortParts(
  record: ClusterRecord,
  { set, revision, demand, schedulerNodes }: WholeUpdate,
): { readonly taken: readonly Part[]; readonly older: readonly Part[] } {
  const taken: Part[] = ["demand"];
  const older: Part[] = [];
  const sort = (part: Part, held: SetEntry | undefined): void => {
    const stays = held !== undefined && compareRevisions(held.revision, revision) >= 0;
    (stays ? older : taken).push(part);
  };
  if (schedulerNodes !== undefined) sort("schedulerNodes", record.separateReports.get(set));
  if (demand.pools.length > 0) sort("pools", record.separatePools.get(set));
  return { taken, older };
}

/** Removes a part that came without demand if the message with demand is newer, even if the message lacks this part. */
function withoutOlder(entries: SetEntries, { set, revision }: WholeUpdate): SetEntries {
  const held = entries.get(set);
  if (held === undefined || compareRevisions(held.revision, revision) >= 0) return entries;
  const next = new Map(entries);
  next.delete(set);
  return next;
}

/** Whether a message with demand changes the pools in force because it replaces those that came without demand. */
function changesPools(record: ClusterRecord, update: WholeUpdate, now: Instant): boolean {
  const held = record.separatePools.get(update.set);
  if (held === undefined || withoutOlder(record.separatePools, update) === record.separatePools) return false;
  return poolsDigest(held, now) !== digestOf(poolsAlone(update.demand.pools));
}

function poolsDigest(separate: SetEntry | undefined, now: Instant): Digest {
  return isInForce(separate, now) ? separate.digest : NOTHING_DIGEST;
}

const poolsAlone = (pools: readonly Pool[]): SetDemand => ({ demands: [], pools, rejectedJobs: [] });
/** The demand of a set that only reports. */
const NOTHING = poolsAlone([]);
const NOTHING_DIGEST = digestOf(NOTHING);

/** One part of a message without demand, in the form in which it is held. */
interface Brought {
  readonly part: Exclude<Part, "demand">;
  readonly entry: SetEntry;
  readonly body: SetDemand;
  readonly report?: readonly SchedulerNode[];
}

function broughtBy(update: PartialUpdate, now: Instant): readonly Brought[] {
  const { schedulerNodes, pools } = update;
  const parts: Brought[] = [];
  if (schedulerNodes !== undefined) {
    const { digest: report, size } = sizeOfReport(schedulerNodes);
    const held = { digest: NOTHING_DIGEST, live: true, report, size };
    const entry = { ...timesOf(update, now), ...held };
    parts.push({ part: "schedulerNodes", entry, body: NOTHING, report: schedulerNodes });
  }
  if (pools !== undefined) {
    const body = poolsAlone(pools);
    const { bytes, digest } = measure(body);
    const size = pools.length === 0 ? NO_SIZE : { jobs: 0, bytes, memory: memoryOf(body) };
    parts.push({ part: "pools", entry: { ...timesOf(update, now), digest, live: true, size }, body });
  }
  return parts;
}

/** Joins each part separately. The demand of the set keeps its times. */
function acceptPartial(record: ClusterRecord, update: PartialUpdate, now: Instant): Acceptance {
  const demands = new Map<Digest, SetDemand>();
  const reports = new Map<Digest, readonly SchedulerNode[]>();
  const taken: Part[] = [];
  const older: Part[] = [];
  let next = record;
  let newest: Revision | undefined;
  for (const { part, entry, body, report } of broughtBy(update, now)) {
    const joined = joinSeparate(next, part, update.set, entry);
    if (joined.kind === "older") {
      older.push(part);
      newest = joined.held;
      continue;
    }
    taken.push(part);
    if (joined.kind === "held") continue;
    next = joined.record;
    demands.set(entry.digest, body);
    if (entry.report !== undefined && report !== undefined) reports.set(entry.report, report);
  }
  if (newest !== undefined && taken.length === 0) return { kind: "older", held: newest };
  const changed =
    next.separatePools !== record.separatePools && havePoolsChanged(record, next, update.set, now);
  if (changed) next = { ...next, generation: next.generation + 1 };
  return { kind: "accepted", record: next, demands, reports, changed, taken, older };
}

type Joined =
  | { readonly kind: "taken"; readonly record: ClusterRecord }
  /** The same is held already, and lasts at least as long. */
  | { readonly kind: "held" }
  | { readonly kind: "older"; readonly held: Revision };

function joinSeparate(record: ClusterRecord, part: Brought["part"], set: SetName, entry: SetEntry): Joined {
  const field = part === "pools" ? "separatePools" : "separateReports";
  const stated = record.sets.get(set);
  if (stated !== undefined && compareRevisions(entry.revision, stated.revision) < 0)
    return { kind: "older", held: stated.revision };
  const held = record[field].get(set);
  const ahead = held === undefined ? 1 : compareRevisions(entry.revision, held.revision);
  if (held !== undefined && ahead < 0) return { kind: "older", held: held.revision };
  if (held?.live === true && ahead === 0 && compareRepeats(entry, held) <= 0) {
    const same = entry.digest === held.digest && entry.report === held.report;
    return same ? { kind: "held" } : { kind: "older", held: held.revision };
  }
  const taken = new Map(record[field]).set(set, withContent(entry, held));
  return { kind: "taken", record: { ...record, [field]: taken } };
}

/** Whether other pools are in force. Pools that came with demand are part of its body, which is not loaded, so they count as different. */
function havePoolsChanged(before: ClusterRecord, after: ClusterRecord, set: SetName, now: Instant): boolean {
  const held = before.separatePools.get(set);
  if (held === undefined && isInForce(before.sets.get(set), now)) return true;
  return poolsDigest(held, now) !== poolsDigest(after.separatePools.get(set), now);
}

// ---------------------------------------------------------------- what is newer

/** Compares two demands of one set. Negative if the held one stays in force. */
function compareDemands(update: WholeUpdate, held: SetEntry): number {
  return compareRevisions(update.revision, held.revision) || compareText(update.digest, held.digest);
}

/**
 * Compares two messages with the same revision. A sender without an answer repeats a revision, maybe with newer times and a newer report.
 * The order is total, so that the order of arrival does not matter (docs/decisions.md, "Of two reports with one revision the longer one
 * counts").
 */
function compareRepeats(a: SetEntry, b: SetEntry): number {
  return (
    a.expiresAt - b.expiresAt ||
    a.sentAt - b.sentAt ||
    a.intervalSeconds - b.intervalSeconds ||
    compareText(a.report ?? "", b.report ?? "") ||
    compareText(a.digest, b.digest)
  );
}
