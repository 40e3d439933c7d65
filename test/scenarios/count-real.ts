import type { SimulatorEvent } from "../../src/simulator/events.ts";
import type { Job } from "./other-autoscaler.ts";

/** Counts the real fleet from the simulator's events and the scheduler's own log of jobs. No number here comes from the app. */

export interface RealCount {
  readonly boots: number;
  readonly nodeSeconds: number;
  readonly idleSeconds: number;
  readonly waitingSeconds: number;
  /** How far the app's counts may differ from these. */
  readonly allowed: Allowed;
}

/**
 * Counts by observation differ from exact ones. An observation counts what it finds for the whole time since the one before, so a change
 * between two observations counts too early, by less than that time. Each number may be off by the time between the observations around
 * each of its changes: upwards where something begins, downwards where it ends.
 */
export interface Allowed {
  readonly nodeSeconds: number;
  readonly idleSeconds: number;
  readonly waitingSeconds: number;
}

interface Span {
  readonly from: number;
  readonly until: number;
}

/** The counts of one array from one moment to another. `looks`: when the simulator was asked for its status, in order of time. */
export function countReal(
  log: readonly SimulatorEvent[],
  jobs: readonly Job[],
  looks: readonly number[],
  { array, from, until }: Span & { readonly array: string },
): RealCount {
  const here = log.filter((event) => "nodeId" in event && event.array === array);
  const within = (at: number): boolean => at > from && at <= until;
  const clip = (span: Span): Span => ({
    from: Math.max(span.from, from),
    until: Math.min(span.until, until),
  });
  const there = spansOf(here, "node-created", ["node-gone"]).map(clip);
  const up = spansOf(here, "node-ready", ["terminate-accepted", "node-gone"]).map(clip);
  const running = jobs
    .flatMap((job) =>
      job.startedAt === undefined ? [] : [{ from: job.startedAt, until: job.endsAt ?? until }],
    )
    .map(clip);
  const waiting = jobs.map((job) => clip({ from: job.submittedAt, until: job.startedAt ?? until }));
  const slack = (spans: readonly Span[]): number =>
    sum(spans.flatMap((span) => [span.from, span.until]).map((at) => (within(at) ? gapAt(looks, at) : 0)));
  return {
    boots: here.filter((event) => event.kind === "node-created" && within(event.at)).length,
    nodeSeconds: secondsOf(there),
    // Node-seconds that are up, less those with a job, less those that come up while a job waits: that node is needed.
    idleSeconds: secondsOf(up) - secondsOf(running),
    waitingSeconds: secondsOf(waiting),
    allowed: {
      nodeSeconds: slack(there),
      idleSeconds: slack(up) + slack(running),
      waitingSeconds: slack(waiting),
    },
  };
}

function spansOf(
  events: readonly SimulatorEvent[],
  begin: SimulatorEvent["kind"],
  ends: readonly SimulatorEvent["kind"][],
): readonly Span[] {
  const open = new Map<string, number>();
  const spans: Span[] = [];
  for (const event of events) {
    if (!("nodeId" in event)) continue;
    const since = open.get(event.nodeId);
    if (event.kind === begin) open.set(event.nodeId, event.at);
    else if (since !== undefined && ends.includes(event.kind)) {
      spans.push({ from: since, until: event.at });
      open.delete(event.nodeId);
    }
  }
  return [...spans, ...[...open.values()].map((from) => ({ from, until: Infinity }))];
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const secondsOf = (spans: readonly Span[]): number =>
  sum(spans.map(({ from, until }) => Math.max(0, until - from))) / 1000;

/** Seconds between the two observations around this moment. */
function gapAt(looks: readonly number[], at: number): number {
  let [low, high] = [0, looks.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((looks[middle] ?? Infinity) < at) low = middle + 1;
    else high = middle;
  }
  const [before, after] = [looks[low - 1], looks[low]];
  return before === undefined || after === undefined ? 0 : (after - before) / 1000;
}

/** Node-seconds as observations count them: the nodes that exist at each observation, times the seconds since the one before. */
export function nodeSecondsByLook(
  log: readonly SimulatorEvent[],
  array: string,
  looks: readonly number[],
): number {
  const there = new Set<string>();
  let next = 0;
  let total = 0;
  for (const [i, at] of looks.entries()) {
    for (; (log[next]?.at ?? Infinity) <= at; next += 1) {
      const event = log[next];
      if (event === undefined || !("nodeId" in event) || event.array !== array) continue;
      if (event.kind === "node-created") there.add(event.nodeId);
      else if (event.kind === "node-gone") there.delete(event.nodeId);
    }
    total += (there.size * (at - (looks[i - 1] ?? at))) / 1000;
  }
  return total;
}
