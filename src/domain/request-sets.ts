import type { Revision } from "./demand.ts";
import type { Digest, SetName } from "./ids.ts";
import type { Bytes, Instant, Seconds } from "./units.ts";

/** Request sets by name. */
export type SetEntries = ReadonlyMap<SetName, SetEntry>;

/** The parts of a record that hold the senders' messages. */
export interface Held {
  /** The last message with demand of each set: its demand, and its report and pools unless a separate one below is in force. */
  readonly sets: SetEntries;
  /**
   * Reports that came without demand. Each is at least as new as the entry of its set in `sets`, and is in force instead of the report
   * there, even after it has lapsed. It is an entry of its own with an empty demand.
   */
  readonly separateReports: SetEntries;
  /** Pools that came without demand, by the same rules. The demand of such an entry contains pools only. */
  readonly separatePools: SetEntries;
}

/** The parts of one set. */
export function partsOf(
  { sets, separateReports, separatePools }: Held,
  set: SetName,
): readonly (SetEntry | undefined)[] {
  return [sets.get(set), separateReports.get(set), separatePools.get(set)];
}

/** Only the parts of one set, so that a change of them does not copy the others. */
export function heldAlone({ sets, separateReports, separatePools }: Held, set: SetName): Held {
  const alone = (entries: SetEntries): SetEntries => {
    const entry = entries.get(set);
    return entry === undefined ? NONE : new Map([[set, entry]]);
  };
  return {
    sets: alone(sets),
    separateReports: alone(separateReports),
    separatePools: alone(separatePools),
  };
}

const NONE: SetEntries = new Map();

/** All sets, with these changed: by name, what is held of each alone. */
export function withHeld(held: Held, changed: ReadonlyMap<SetName, Held>): Held {
  const merged = (key: keyof Held): SetEntries => {
    const entries = held[key];
    const isSame = [...changed].every(([set, alone]) => entries.get(set) === alone[key].get(set));
    if (isSame) return entries;
    const next = new Map(entries);
    for (const [set, alone] of changed) {
      const entry = alone[key].get(set);
      if (entry === undefined) next.delete(set);
      else next.set(set, entry);
    }
    return next;
  };
  return {
    sets: merged("sets"),
    separateReports: merged("separateReports"),
    separatePools: merged("separatePools"),
  };
}

export function isInForce(entry: SetEntry | undefined, now: Instant): entry is SetEntry {
  return entry !== undefined && entry.live && entry.expiresAt > now;
}

/** All sets with an entry, those with demand first. */
export function setNamesOf({ sets, separateReports, separatePools }: Held): readonly SetName[] {
  return [...new Set([...sets.keys(), ...separateReports.keys(), ...separatePools.keys()])];
}

/** All entries of all sets, of all three parts. */
export function entriesOf({ sets, separateReports, separatePools }: Held): readonly SetEntry[] {
  return [...sets.values(), ...separateReports.values(), ...separatePools.values()];
}

/** By set, the entry whose report is in force. A lapsed entry has no report. */
export function reportsOf({ sets, separateReports }: Held): SetEntries {
  return separateReports.size === 0 ? sets : new Map([...sets, ...separateReports]);
}

/** By set, the entry whose demand has the pools in force. */
export function poolsOf({ sets, separatePools }: Held): SetEntries {
  return separatePools.size === 0 ? sets : new Map([...sets, ...separatePools]);
}

/** Whether two records hold identical entries (by reference). They then name the same bodies. */
export function holdSame(a: Held, b: Held): boolean {
  return a.sets === b.sets && a.separateReports === b.separateReports && a.separatePools === b.separatePools;
}

/** One request set in the manifest. Its demand and report are bodies. A lapsed or emptied set keeps its revision for a day. */
export interface SetEntry {
  readonly revision: Revision;
  readonly intervalSeconds: Seconds;
  readonly sentAt: Instant;
  /** The `sentAt` of an earlier message with this revision and digest, at least 30 s before the last one. Absent: there was none. */
  readonly repeatedAt?: Instant;
  /** Its sender's clock runs at another speed than ours, so the revision is no time of ours. Absent: it runs at the same. */
  readonly untimed?: true;
  readonly acceptedAt: Instant;
  readonly expiresAt: Instant;
  /** Digest of the demand. A change raises `generation`. */
  readonly digest: Digest;
  /** When each part of the demand ends that does not last as long as the set. Absent: all of it does. */
  readonly ends?: readonly Instant[];
  /** False once lapsed or deleted. Its body is then no longer kept. */
  readonly live: boolean;
  /** The set was deleted: its sender asks for nothing. Absent: it is in force, or it lapsed. */
  readonly ended?: true;
  /** The scheduler's report that came with it. Absent: none came. */
  readonly report?: Digest;
  /** When its content came: a renewal does not change it. Absent: the message that is held brought it. */
  readonly contentAt?: Instant;
  /** The size of its bodies. Absent: the set is not in force. */
  readonly size?: HeldSize;
}

/** How much one message of a set uses of the bounds of its cluster. */
interface HeldSize {
  readonly jobs: number;
  /** Of its bodies as JSON, before compression. 0: it asks for nothing and reports nothing. */
  readonly bytes: Bytes;
  /** Bytes of heap that a plan needs for it (demand-memory.ts). */
  readonly memory: Bytes;
}

/** Bytes of heap that a plan needs for one message of a set. */
export function memoryOfEntry({ size }: SetEntry): Bytes {
  return size?.memory ?? 0;
}

/** Whether a message that is in force asks for nothing and reports nothing. */
export function asksNothing({ size }: SetEntry): boolean {
  return size?.bytes === 0;
}

/** Whether all parts of a set that are live ask for nothing and report nothing. Such a set has bounds of its own. */
export function isIdle(held: Held, set: SetName): boolean {
  return partsOf(held, set).every((entry) => entry?.live !== true || asksNothing(entry));
}

/** For each set the pools that it was the first to name. A pool is stored as the digest of its name: names may be long, and every renewal
 * writes this field. */
export type PoolOwners = readonly { readonly set: SetName; readonly pools: readonly Digest[] }[];

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
