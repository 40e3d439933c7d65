import type { MemoryComposition } from "../../compose.ts";
import { clusterName } from "../../domain/ids.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { Draining } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant, Milliseconds } from "../../domain/units.ts";
import type { Simulator } from "../../simulator/engine.ts";
import type { Play } from "./play.ts";
import type { SchedulerAgent } from "./scheduler-agent.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** Which minutes a virtual run plays. */
export type Minutes = "all" | "that-change";

/*
 * Most minutes of a long workload are alike: jobs run, each tick makes the plan of the tick before, demand is renewed, and idle nodes that
 * waiting jobs need are refused again. Such a time is left out: for CycleCloud and the scheduler it passes, and the app's clock stands.
 *
 * That changes no result, because of three conditions.
 * 1. Nothing happens from outside: no job arrives or ends, no node changes, and no rule of the scheduler lets a job start.
 * 2. What the app and the agent do from time to time comes when it would have come: the time is a multiple of the interval of ticks, and the
 *    next renewal keeps its moment, which on the app's clock is never later than without the time. Questions of idle hosts lie outside of it,
 *    or each of them was refused since the last change, and the time is a multiple of their interval, too.
 * 3. No rule of time is pending in the app: all nodes are Ready, and nothing is sent, awaited, paused or marked. A node with jobs has no clock
 *    that ends. That of an idle one has no effect, because each asks by itself at the end of its idle timeout, and who has asked within this
 *    time is not stopped by a report (docs/protocol.md, Questions of nodes). What then still ages (nodes that are gone) decides nothing.
 */

/** Ticks come each minute. */
const BUSY_MS: Milliseconds = 60_000;
/** Idle hosts also ask every five minutes. */
const ASKING_MS: Milliseconds = 300_000;
/** An empty cluster without demand is observed every quarter of an hour. */
const EMPTY_MS: Milliseconds = 1_800_000;
/** By then each change is shown and was pushed, and a plan has seen it before the tick that sees it again. */
const SEEN_MS: Milliseconds = 60_000;
/** What the app does not know after its start, it knows by then. */
const BEGUN_MS: Milliseconds = 3_600_000;

/** A time that can be left out. */
export interface Span {
  readonly ms: Milliseconds;
  /** Idle hosts ask in it, and are refused. */
  readonly asks: boolean;
}

interface Watched {
  readonly play: Play;
  readonly minutes: Minutes;
  readonly simulator: Pick<Simulator, "onEvent" | "nextEventAt">;
  readonly clock: Pick<VirtualClock, "nextWakeAt">;
  readonly agent: Pick<SchedulerAgent, "rest">;
  readonly store: MemoryComposition["app"]["ports"]["store"];
}

/** Finds the times of a run that can be left out. */
export function watchStillness({ play, minutes, simulator, clock, agent, store }: Watched) {
  let nodeChangedAt = Number.NEGATIVE_INFINITY;
  simulator.onEvent(({ kind, at }) => {
    if (kind !== "status-read") nodeChangedAt = at;
  });
  return {
    /** What can be left out right after the tick at `now`. Undefined: nothing. `appNow`: the same moment on the app's clock. */
    async span(now: number, appNow: Instant): Promise<Span | undefined> {
      const isWaiting = clock.nextWakeAt() !== undefined;
      const rest = minutes === "all" || isWaiting ? undefined : agent.rest(now);
      if (rest === undefined || now - Math.max(rest.since, nodeChangedAt) < SEEN_MS) return undefined;
      const span = longestSpan(rest, simulator.nextEventAt(), now);
      if (span === undefined) return undefined;
      const loaded = await store.load(clusterName(play.cluster.name));
      const bodies = loaded === undefined ? undefined : await store.bodies(loaded);
      if (loaded === undefined || bodies === undefined) return undefined;
      return isAtRest(loaded.record, bodies, appNow) ? span : undefined;
    },
  };
}

/** The longest time from `now` on that ends before the next event, in whole periods. */
function longestSpan(rest: Rest, nodeEventAt: number | undefined, now: number): Span | undefined {
  const next = Math.min(rest.until, nodeEventAt ?? Infinity);
  const { isEmpty, idle } = rest;
  const wholes = (period: Milliseconds, until: number): Milliseconds => {
    const most = until === Infinity ? 0 : period * Math.floor((until - 1 - now) / period);
    return Math.max(0, rest.delaysRenewal(most) ? most - period : most);
  };
  if (idle === undefined) {
    const ms = wholes(isEmpty ? EMPTY_MS : BUSY_MS, next);
    return ms === 0 ? undefined : { ms, asks: false };
  }
  const asking = idle.refusedUntil === undefined ? 0 : wholes(ASKING_MS, Math.min(next, idle.refusedUntil));
  if (asking > 0) return { ms: asking, asks: true };
  const between = wholes(BUSY_MS, Math.min(next, idle.askAt));
  return between === 0 ? undefined : { ms: between, asks: false };
}

type Rest = NonNullable<ReturnType<SchedulerAgent["rest"]>>;

/** Whether the app waits for nothing, so that its next tick makes the same plan, however late it comes. */
function isAtRest(record: ClusterRecord, { ledger, seen, plan, questions }: Bodies, now: Instant): boolean {
  const { intents, inFlight, backoffs, groupFills = [], waves = [], shortLives = [] } = record;
  const { outage, trouble, createsFrom, wakeAt, planBy, dear, missing, provesFrom } = record;
  const lists = [intents, inFlight, backoffs, groupFills, waves, shortLives];
  const awaited = [outage, trouble, createsFrom, wakeAt, planBy, dear, missing, provesFrom];
  if (now - record.epochAt < BEGUN_MS || record.observedGeneration !== record.generation) return false;
  if (record.awaitsReport === true || awaited.some((one) => one !== undefined)) return false;
  if (plan === undefined || seen === undefined || lists.some(({ length }) => length > 0)) return false;
  if (plan.creates.length + plan.terminates.length + (plan.starts ?? []).length > 0) return false;
  const live = [...ledger.values()].filter(({ goneAt }) => goneAt === undefined);
  const isMarked = ({ draining }: { readonly draining?: Draining }): boolean => draining !== undefined;
  if (live.some((node) => isMarked(node) || node.busyness.state === "unknown")) return false;
  if (questions !== undefined && [...questions.values()].some(isMarked)) return false;
  return seen.nodes.every(({ phase, missing: lost }) => phase === "ready" && lost === undefined);
}
