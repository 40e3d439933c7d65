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
 * 2. What the app and the agent do from time to time is repeated in the same places: the time is a multiple of all their intervals.
 * 3. No rule of time is pending in the app. All nodes are Ready; a node with jobs has no clock that ends, and the idle timeout of one without
 *    jobs is over. Nothing is sent, awaited, paused or marked. What then still ages (nodes that are gone) decides nothing.
 */

/** Ticks come each minute, renewals every two minutes. */
const BUSY_MS: Milliseconds = 120_000;
/** Idle hosts also ask every five minutes. */
const IDLE_MS: Milliseconds = 600_000;
/** An empty cluster without demand is observed every quarter of an hour. */
const EMPTY_MS: Milliseconds = 1_800_000;
/** By then each change was pushed, and a tick has seen it. */
const SEEN_MS: Milliseconds = 180_000;
/** By then the idle timeout of a host without jobs is over, too, and the app would have marked it and confirmed the mark. */
const SEEN_IDLE_MS: Milliseconds = 480_000;
/** What the app does not know after its start, it knows by then. */
const BEGUN_MS: Milliseconds = 3_600_000;

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
    /** How much can be left out right after the tick at `now`. 0: nothing. `appNow`: the same moment on the app's clock. */
    async span(now: number, appNow: Instant): Promise<Milliseconds> {
      const isWaiting = clock.nextWakeAt() !== undefined;
      const rest = minutes === "all" || isWaiting ? undefined : agent.rest(now);
      if (rest === undefined) return 0;
      const { hasIdle, isEmpty } = rest;
      if (now - Math.max(rest.since, nodeChangedAt) < (hasIdle ? SEEN_IDLE_MS : SEEN_MS)) return 0;
      const until = Math.min(rest.until, simulator.nextEventAt() ?? Infinity);
      const period = isEmpty ? EMPTY_MS : hasIdle ? IDLE_MS : BUSY_MS;
      const span = until === Infinity ? 0 : period * Math.floor((until - 1 - now) / period);
      if (span <= 0) return 0;
      const loaded = await store.load(clusterName(play.cluster.name));
      const bodies = loaded === undefined ? undefined : await store.bodies(loaded);
      if (loaded === undefined || bodies === undefined) return 0;
      return isAtRest(loaded.record, bodies, appNow) ? span : 0;
    },
  };
}

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
