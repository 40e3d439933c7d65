import type { Bodies } from "../../domain/bodies.ts";
import type { Demand, RankedDemand } from "../../domain/demand.ts";
import type { SetName } from "../../domain/ids.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import type { Resting } from "../../domain/world.ts";

/** Of the jobs of senders that rest, a plan reads this many together: to read and list 140,000 takes longer than to plan for the others. */
const READ_OF_RESTING = 1000;

/** By set, the jobs that a plan does not read because their sender rests. */
export type Unread = ReadonlyMap<SetName, UnreadJobs>;

/** `from`: the position of the first of them among all demands of the set. */
interface UnreadJobs {
  readonly all: readonly Demand[];
  readonly from: number;
}

/** `now`: sets that have expired since the last plan are left out. `resting`: most jobs of senders that rest are not read. */
interface When {
  readonly now?: Instant;
  readonly resting?: Resting | undefined;
}

interface InForce {
  /** In no particular order. */
  readonly read: readonly RankedDemand[];
  readonly unread: Unread;
}

/** The demands of all live sets. */
export function demandsInForce(record: ClusterRecord, bodies: Bodies, { now, resting }: When = {}): InForce {
  const read: RankedDemand[] = [];
  const unread = new Map<SetName, UnreadJobs>();
  let left = READ_OF_RESTING;
  for (const [set, entry] of record.sets) {
    // Its demand may be there all the same: that of another set with equal content.
    if (bodies.aside?.has(set) === true) continue;
    if (!entry.live || (now !== undefined && entry.expiresAt <= now)) continue;
    const { demands = [] } = bodies.demands.get(entry.digest) ?? {};
    let end = demands.length;
    if (resting?.restsWhole(set) === true) {
      // Targets come first. They may define node arrays, so all of them count.
      const targets = demands.findIndex(({ kind }) => kind === "job");
      const jobs = targets < 0 ? 0 : demands.length - targets;
      end -= Math.max(0, jobs - left);
      left = Math.max(0, left - jobs);
      if (end < demands.length) unread.set(set, { all: demands, from: end });
    }
    for (const demand of demands.slice(0, end))
      if (now === undefined || demand.until === undefined || demand.until > now) read.push({ set, demand });
  }
  return { read, unread };
}
