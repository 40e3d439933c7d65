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
import type { Bodies } from "../../domain/bodies.ts";
import type { Node } from "../../domain/cluster.ts";
import { setName } from "../../domain/ids.ts";
import type { Plan } from "../../domain/plan.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { MovedNode, VirtualFleet } from "../../domain/virtual-fleet.ts";
import { entryOfNode } from "../../domain/hosts.ts";
import { priceNodes } from "../world/price-nodes.ts";
import type { Fleets } from "./move-jobs.ts";
import type { Decision } from "../../domain/decision.ts";
import type { HostFact } from "../senders/host-facts.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** The counts of one array in one fleet at one observation. */
interface Found {
  readonly nodes: number;
  readonly idle: number;
  /** Nodes that have begun to boot since the previous observation. */
  readonly boots: number;
  readonly pricePerHour?: number;
  readonly unpriced?: number;
}

/** The counts of one array in both fleets at one observation. */
interface FoundArray {
  readonly array: ArrayName;
  readonly real: Found;
  readonly virtual: Found;
  /** The last stop of virtual nodes. Absent: there was none. */
  readonly stoppedAt?: Instant;
  /** The first few sets that need virtual nodes. */
  readonly sets: readonly SetName[];
}

/** The counts of both fleets at one observation. */
interface FoundBoth {
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
  for (const span of spansOf(since, now)) days = addSpan(days, found, span);
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
  /** The span ends with the observation. */
  readonly isLast: boolean;
}

const DAY_MS: Milliseconds = 86_400_000;

/** The parts of a time by day. At most two, because it is shorter than a day. */
function spansOf(since: Instant, now: Instant): readonly Span[] {
  const midnight = instant(Math.floor(now / DAY_MS) * DAY_MS);
  if (midnight <= since) return [{ day: dayOf(since), since, until: now, isLast: true }];
  const first = { day: dayOf(since), since, until: midnight, isLast: midnight === now };
  return midnight === now ? [first] : [first, { day: dayOf(now), since: midnight, until: now, isLast: true }];
}

const dayOf = (at: Instant): string => isoTime(at).slice(0, 10);

function addSpan(
  days: readonly ComparedDay[],
  { arrays, waiting, currency }: FoundBoth,
  span: Span,
): readonly ComparedDay[] {
  const day = days.find((one) => one.day === span.day) ?? { day: span.day, arrays: [] };
  const known = new Map(day.arrays.map((one) => [one.array, one]));
  for (const found of arrays) known.set(found.array, addArray(known.get(found.array), found, span));
  const seconds = secondsBetween(span.since, span.until);
  const waited = day.waiting ?? { real: 0, virtual: 0 };
  const next: ComparedDay = {
    ...day,
    arrays: [...known.values()],
    ...withoutAbsent({ currency }),
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

function addArray(before: ComparedArray | undefined, found: FoundArray, span: Span): ComparedArray {
  const { array } = found;
  const seconds = secondsBetween(span.since, span.until);
  return {
    array,
    seconds: (before?.seconds ?? 0) + seconds,
    real: addFound(before?.real ?? NOTHING, found.real, span),
    virtual: addFound(before?.virtual ?? NOTHING, found.virtual, span),
    differences: addDifferences(before?.differences ?? [], found, span),
  };
}

/** Adds the counts of one span. Boots count on the day of their observation, so only in its last span. */
function addFound(before: FleetCounts, found: Found, { since, until, isLast }: Span): FleetCounts {
  const seconds = secondsBetween(since, until);
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

/** Both plans of one observation, before the virtual one is applied. */
interface CountedObservation {
  readonly decision: Decision;
  readonly made: Decision;
  readonly fleet: VirtualFleet;
  readonly fleets: Fleets;
  /** The virtual nodes, including those on their way down. */
  readonly nodes: readonly Node[];
  readonly moved: readonly MovedNode[];
  readonly facts: ReadonlyMap<string, HostFact>;
  readonly bodies: Bodies;
  readonly policy: Policy;
  readonly now: Instant;
}

/** Adds an observation to the comparison. An array that is observed for the first time counts from the next one on. */
export function countObservation(observation: CountedObservation): Comparison {
  const { fleet, fleets, nodes, moved, facts, made, decision, policy, now } = observation;
  const busy = new Set(moved.map(({ to }) => to));
  const isRealIdle = (node: Node): boolean =>
    isIdle(node, decision.plan) && (entryOfNode(facts, node)?.jobs.length ?? 0) === 0;
  const isVirtualIdle = (node: Node): boolean => isIdle(node, made.plan) && !busy.has(node.nodeId);
  const arrays = fleet.arrays
    .filter(({ since }) => since < now)
    .map(({ name, stoppedAt }): FoundArray => {
      const real = fleets.real.filter(({ array }) => array === name);
      const virtual = nodes.filter(({ array }) => array === name);
      return {
        array: name,
        real: found(real, isRealIdle, realBoots(observation, real), observation),
        virtual: found(virtual, isVirtualIdle, virtualBoots(observation, name), observation),
        ...withoutAbsent({ stoppedAt }),
        sets: setsNeeding(virtual, made.plan),
      };
    });
  const waiting = countWaiting(observation);
  const both: FoundBoth = {
    arrays,
    ...withoutAbsent({ waiting, currency: policy.prices?.currency }),
  };
  return arrays.length === 0 ? fleet.comparison : addObservation(fleet.comparison, both, fleet.at, now);
}

function found(
  nodes: readonly Node[],
  isIdleHere: (node: Node) => boolean,
  boots: number,
  { decision, policy }: CountedObservation,
): Found {
  const there = nodes.filter(hasVm);
  const price = priceNodes(there, decision.seen, policy);
  return {
    nodes: there.length,
    idle: there.filter(isIdleHere).length,
    boots,
    ...(price === undefined ? {} : { pricePerHour: price.pricePerHour, unpriced: price.unpricedNodes ?? 0 }),
  };
}

/** A plan may still count a node that the observation lacks. The comparison does not. */
const hasVm = ({ phase, missing }: Node): boolean =>
  phase !== "off" && phase !== "deallocated" && missing === undefined;

/** Whether the node is up and no demand needs it. */
function isIdle({ nodeId, phase }: Node, plan: Plan): boolean {
  return phase === "ready" && plan.nodes.get(nodeId)?.kind !== "needed";
}

const realBoots = ({ decision, now }: CountedObservation, nodes: readonly Node[]): number =>
  nodes.filter((node) => hasVm(node) && decision.ledger.get(node.nodeId)?.firstSeenAt === now).length;

/** Number of nodes that the previous plan made. This observation is the first with them. */
const virtualBoots = ({ fleet }: CountedObservation, array: ArrayName): number =>
  fleet.nodes.filter(
    ({ node, known }) => node.array === array && known.firstSeenAt === fleet.at && isMade(node),
  ).length;

const isMade = ({ nodeId }: Node): boolean => nodeId.startsWith("virtual-");

const SETS_NAMED = 3;

function setsNeeding(nodes: readonly Node[], { nodes: verdicts }: Plan): readonly SetName[] {
  const sets = new Set<SetName>();
  for (const { nodeId } of nodes) {
    const verdict = verdicts.get(nodeId);
    if (verdict?.kind !== "needed") continue;
    for (const by of verdict.by) sets.add(setName(by.slice(0, Math.max(0, by.indexOf("/")))));
    if (sets.size >= SETS_NAMED) break;
  }
  return [...sets].slice(0, SETS_NAMED);
}

/**
 * Number of jobs that wait for capacity. In the real fleet a job waits if no report names it on a host. In the virtual fleet it waits if the
 * plan does not place all of it on nodes that are up, or if it runs on a real node whose virtual node still boots. Undefined if no set has
 * jobs.
 */
function countWaiting(observation: CountedObservation): FoundBoth["waiting"] {
  const { decision, made, bodies, facts, now } = observation;
  const unplaced = new Set(
    made.plan.demands
      .filter(({ kind, pending, placed, asked }) => kind === "job" && placed - pending < asked)
      .map(({ set, id }) => `${set}/${id}`),
  );
  const running = new Set([...facts.values()].flatMap(({ jobs }) => jobs));
  const booting = jobsOnBootingNodes(observation);
  let jobs = 0;
  const waiting = { real: 0, virtual: 0 };
  for (const [set, demand] of demandsIn(decision.record, bodies, now)) {
    if (demand.kind !== "job") continue;
    jobs += 1;
    if (!running.has(demand.name)) waiting.real += 1;
    if (unplaced.has(`${set}/${demand.id}`) || booting.has(demand.name)) waiting.virtual += 1;
  }
  return jobs === 0 ? undefined : waiting;
}

function jobsOnBootingNodes({ fleets, moved, facts }: CountedObservation): ReadonlySet<string> {
  const coming = new Set(fleets.virtual.flatMap(({ nodeId, phase }) => (phase === "coming" ? [nodeId] : [])));
  const hosts = new Set(moved.flatMap(({ real, to }) => (coming.has(to) ? [real] : [])));
  const nodes = fleets.real.filter(({ nodeId }) => hosts.has(nodeId));
  return new Set(nodes.flatMap((node) => entryOfNode(facts, node)?.jobs ?? []));
}

function demandsIn({ sets }: ClusterRecord, { demands }: Bodies, now: Instant) {
  return [...sets]
    .filter(([, { live, expiresAt }]) => live && expiresAt > now)
    .flatMap(([set, { digest }]) =>
      (demands.get(digest)?.demands ?? []).map((demand) => [set, demand] as const),
    );
}
