import type { Problem } from "../../domain/demand.ts";
import type { SetName } from "../../domain/ids.ts";
import type { Held, SetEntries, SetEntry } from "../../domain/request-sets.ts";
import type { Instant } from "../../domain/units.ts";

/**
 * The bounds of all request sets of a cluster together (docs/demand.md, Bounds). Each accept writes the names of all live sets, and each plan
 * reads all bodies.
 */
const CLUSTER_BOUNDS = {
  /** With 5,000 sets an accept takes less than 0.1 s, and a tick without demand less than 0.3 s. */
  sets: 5000,
  /** The maximum of one message, too. */
  jobs: 200_000,
  /** Twice the maximum of one request. Measured as JSON before compression. */
  bytes: 64 * 1024 * 1024,
} as const;

type Kind = keyof typeof CLUSTER_BOUNDS;

/** A bound that a message would exceed. */
export interface TooMuch {
  readonly kind: "too-much";
  readonly problem: Problem;
}

/**
 * The bound that the cluster would exceed with the set as it is in `after` instead of `before`. Undefined if there is none. A set that does not
 * grow is always accepted, even if the others exceed a bound.
 */
export function findTooMuch(before: Held, after: Held, set: SetName, now: Instant): TooMuch | undefined {
  const was = sizeOfSet(before, set, now);
  const is = sizeOfSet(after, set, now);
  const grown = KINDS.filter((kind) => is[kind] > was[kind]);
  if (grown.length === 0 || isSame(before, after, set, now)) return undefined;
  const total = sizeOfAll(after, now);
  const over = grown.find((kind) => total[kind] > CLUSTER_BOUNDS[kind]);
  if (over === undefined) return undefined;
  const found = `${TEXTS[over](total[over])} with this message`;
  const expected = `at most ${TEXTS[over](CLUSTER_BOUNDS[over])} in a cluster; a set that lapses or is deleted makes room`;
  return { kind: "too-much", problem: { path: "", found, expected } };
}

const KINDS = ["sets", "jobs", "bytes"] as const satisfies readonly Kind[];
type Size = Readonly<Record<Kind, number>>;

/** Whether the set has the same demand as before. An older release did not measure some sets, so their sizes cannot be compared. */
function isSame(before: Held, after: Held, set: SetName, now: Instant): boolean {
  const digests = (held: Held): string =>
    JSON.stringify(inForce(held, set, now).map((entry) => entry && [entry.digest, entry.report]));
  return digests(before) === digests(after);
}

function inForce(
  { sets, separateReports, separatePools }: Held,
  set: SetName,
  now: Instant,
): readonly (SetEntry | undefined)[] {
  return [sets, separateReports, separatePools].map((entries) => {
    const entry = entries.get(set);
    return entry !== undefined && isInForce(entry, now) ? entry : undefined;
  });
}

const isInForce = ({ live, expiresAt }: SetEntry, now: Instant): boolean => live && expiresAt > now;

function sizeOfSet(held: Held, set: SetName, now: Instant): Size {
  const entries = inForce(held, set, now).filter((entry) => entry !== undefined);
  return {
    sets: entries.length === 0 ? 0 : 1,
    jobs: entries.reduce((sum, { size }) => sum + (size?.jobs ?? 0), 0),
    bytes: entries.reduce((sum, { size }) => sum + (size?.bytes ?? 0), 0),
  };
}

function sizeOfAll({ sets, separateReports, separatePools }: Held, now: Instant): Size {
  const total = { sets: 0, jobs: 0, bytes: 0 };
  const add = (entries: SetEntries, counted: readonly SetEntries[]): void => {
    for (const [name, entry] of entries) {
      if (!isInForce(entry, now)) continue;
      total.jobs += entry.size?.jobs ?? 0;
      total.bytes += entry.size?.bytes ?? 0;
      if (!counted.some((others) => holdsInForce(others, name, now))) total.sets += 1;
    }
  };
  add(sets, []);
  add(separateReports, [sets]);
  add(separatePools, [sets, separateReports]);
  return total;
}

function holdsInForce(entries: SetEntries, name: SetName, now: Instant): boolean {
  const entry = entries.get(name);
  return entry !== undefined && isInForce(entry, now);
}

const TEXTS: Readonly<Record<Kind, (amount: number) => string>> = {
  sets: (count) => `${count} live request sets`,
  jobs: (count) => `${count} jobs`,
  // Rounded up, so that the found amount is never shown as equal to the allowed one.
  bytes: (bytes) => `${Math.ceil((bytes / 1024 / 1024) * 10) / 10} MiB of demand as JSON`,
};
