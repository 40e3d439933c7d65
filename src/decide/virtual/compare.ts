import type {
  ComparedArray,
  ComparedDay,
  Comparison,
  Difference,
  FleetCounts,
} from "../../domain/comparison.ts";
import { COMPARISON_DAYS, MOST_DIFFERENCES, MOST_ROWS, PAST_DIFFERENCES } from "../../domain/comparison.ts";
import type { ArrayName, SetName } from "../../domain/ids.ts";
import type { Instant, Milliseconds, Seconds } from "../../domain/units.ts";
import { instant, isoTime, secondsBetween } from "../../domain/units.ts";

/** The counts of one array in one fleet at one observation. */
export interface Found {
  readonly nodes: number;
  readonly idle: number;
  /** Nodes that have begun to boot since the previous observation. */
  readonly boots: number;
  readonly pricePerHour?: number;
  readonly unpriced?: number;
}

export interface FoundArray {
  readonly array: ArrayName;
  readonly real: Found;
  readonly virtual: Found;
  /** The last stop of virtual nodes. Absent: there was none. */
  readonly stoppedAt?: Instant;
  /** The first few sets that need virtual nodes. */
  readonly sets: readonly SetName[];
}

export interface FoundBoth {
  readonly arrays: readonly FoundArray[];
  /** Jobs that wait for capacity. Absent: no set has jobs. */
  readonly waiting?: { readonly real: number; readonly virtual: number };
  readonly currency?: string;
}

/** A longer time between two observations is not counted. A cluster at rest is observed each 15 minutes. */
const LONGEST_OBSERVATION_SECONDS: Seconds = 1200;

/** Adds one observation. Its counts hold for the time since the previous one, on the days of that time. */
export function addObservation(
  comparison: Comparison,
  found: FoundBoth,
  since: Instant,
  now: Instant,
): Comparison {
  const seconds = secondsBetween(since, now);
  if (seconds <= 0 || seconds > LONGEST_OBSERVATION_SECONDS) return comparison;
  let days = comparison.days;
  for (const span of spansOf(since, now)) days = addSpan(days, found, span, span.until === now);
  return { days: bounded(days) };
}

/** Past days keep fewer differences. With very many arrays, fewer days are kept. */
function bounded(days: readonly ComparedDay[]): readonly ComparedDay[] {
  const kept = days.slice(-COMPARISON_DAYS);
  let rows = kept.reduce((sum, { arrays }) => sum + arrays.length, 0);
  while (rows > MOST_ROWS && kept.length > 1) rows -= kept.shift()?.arrays.length ?? 0;
  const [before, today] = [kept.at(-2), kept.at(-1)];
  if (before === undefined || today === undefined) return kept;
  return [...kept.slice(0, -2), withFewer(before), today];
}

function withFewer(day: ComparedDay): ComparedDay {
  const arrays = day.arrays.map((one) => ({ ...one, differences: largest(one.differences) }));
  return { ...day, arrays };
}

const largest = (differences: readonly Difference[]): readonly Difference[] =>
  differences.length <= PAST_DIFFERENCES
    ? differences
    : differences.toSorted((a, b) => b.nodeSeconds - a.nodeSeconds).slice(0, PAST_DIFFERENCES);

interface Span {
  readonly day: string;
  readonly since: Instant;
  readonly until: Instant;
}

const DAY_MS: Milliseconds = 86_400_000;

/** The parts of a time by day. At most two, because it is shorter than a day. */
function spansOf(since: Instant, now: Instant): readonly Span[] {
  const midnight = instant(Math.floor(now / DAY_MS) * DAY_MS);
  if (midnight <= since) return [{ day: dayOf(since), since, until: now }];
  const first = { day: dayOf(since), since, until: midnight };
  return midnight === now ? [first] : [first, { day: dayOf(now), since: midnight, until: now }];
}

const dayOf = (at: Instant): string => isoTime(at).slice(0, 10);

function addSpan(
  days: readonly ComparedDay[],
  { arrays, waiting, currency }: FoundBoth,
  span: Span,
  isLast: boolean,
): readonly ComparedDay[] {
  const day = days.find((one) => one.day === span.day) ?? { day: span.day, arrays: [] };
  const known = new Map(day.arrays.map((one) => [one.array, one]));
  for (const found of arrays) known.set(found.array, addArray(known.get(found.array), found, span, isLast));
  const seconds = secondsBetween(span.since, span.until);
  const waited = day.waiting ?? { real: 0, virtual: 0 };
  const next: ComparedDay = {
    ...day,
    arrays: [...known.values()],
    ...(currency === undefined ? {} : { currency }),
    ...(waiting === undefined
      ? {}
      : {
          waiting: {
            real: waited.real + waiting.real * seconds,
            virtual: waited.virtual + waiting.virtual * seconds,
          },
        }),
  };
  return [...days.filter((one) => one.day !== span.day), next];
}

const NOTHING: FleetCounts = { peak: 0, nodeSeconds: 0, idleSeconds: 0, boots: 0 };

function addArray(
  before: ComparedArray | undefined,
  found: FoundArray,
  span: Span,
  isLast: boolean,
): ComparedArray {
  const { array } = found;
  const seconds = secondsBetween(span.since, span.until);
  return {
    array,
    seconds: (before?.seconds ?? 0) + seconds,
    real: addFound(before?.real ?? NOTHING, found.real, seconds, isLast),
    virtual: addFound(before?.virtual ?? NOTHING, found.virtual, seconds, isLast),
    differences: addDifferences(before?.differences ?? [], found, span),
  };
}

/** Adds the counts of one span. Boots count on the day of their observation, so only in its last span. */
function addFound(before: FleetCounts, found: Found, seconds: Seconds, isLast: boolean): FleetCounts {
  const { nodes, idle, boots, pricePerHour, unpriced = 0 } = found;
  const cost = pricePerHour === undefined ? undefined : (pricePerHour * seconds) / 3600;
  const unpricedSeconds = (before.unpricedSeconds ?? 0) + unpriced * seconds;
  return {
    peak: Math.max(before.peak, nodes),
    nodeSeconds: before.nodeSeconds + nodes * seconds,
    idleSeconds: before.idleSeconds + idle * seconds,
    boots: before.boots + (isLast ? boots : 0),
    ...(cost === undefined && before.cost === undefined
      ? {}
      : { cost: Number(((before.cost ?? 0) + (cost ?? 0)).toFixed(6)) }),
    ...(unpricedSeconds === 0 ? {} : { unpricedSeconds }),
  };
}

// ---------------------------------------------------------------- differences

type Apart = Pick<Difference, "kind" | "nodes" | "stoppedAt" | "sets">;

/** How the fleets differ at one observation. */
function apartIn({ real, virtual, stoppedAt, sets }: FoundArray): readonly Apart[] {
  const more = real.nodes - virtual.nodes;
  if (more < 0) return [{ kind: "fewer", nodes: -more, ...(sets.length === 0 ? {} : { sets }) }];
  const idle = Math.min(more, Math.max(0, real.idle - virtual.idle));
  const stopped = stoppedAt === undefined ? {} : { stoppedAt };
  const both: readonly Apart[] = [
    { kind: "idle", nodes: idle, ...stopped },
    { kind: "more", nodes: more - idle },
  ];
  return both.filter(({ nodes }) => nodes > 0);
}

/** Adds the differences of one span. A difference of the previous observation continues. The largest are kept, and those that continue. */
function addDifferences(before: readonly Difference[], found: FoundArray, span: Span): readonly Difference[] {
  const { since, until } = span;
  const seconds = secondsBetween(since, until);
  let differences = before;
  for (const { nodes, ...apart } of apartIn(found)) {
    const open = differences.find((one) => one.kind === apart.kind && one.until === since);
    const grown: Difference = {
      ...apart,
      ...open,
      since: open?.since ?? since,
      until,
      nodes: Math.max(open?.nodes ?? 0, nodes),
      nodeSeconds: (open?.nodeSeconds ?? 0) + nodes * seconds,
    };
    differences = [...differences.filter((one) => one !== open), grown];
  }
  if (differences.length <= MOST_DIFFERENCES) return differences;
  const ended = differences.filter((one) => one.until !== until);
  const least = ended
    .toSorted((a, b) => a.nodeSeconds - b.nodeSeconds)
    .slice(0, differences.length - MOST_DIFFERENCES);
  return differences.filter((one) => !least.includes(one));
}
