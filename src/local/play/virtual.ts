import type { MemoryComposition, Composition } from "../../compose.ts";
import { composeInMemory } from "../../compose.ts";
import { DEFAULT_POLICY } from "../../domain/policy.ts";
import { Simulator } from "../../simulator/engine.ts";
import { simulatorOptions } from "./cluster.ts";
import type { Doors } from "./doors.ts";
import type { ObservedScheduler } from "./observed-scheduler.ts";
import { startScheduler } from "./observed-scheduler.ts";
import type { Audience, Play, Played } from "./play.ts";
import type { Minutes, Span } from "./still.ts";
import { watchStillness } from "./still.ts";
import { MOST_DAYS_AFTER_LAST_JOB } from "./play.ts";
import { drainMicrotasks, VirtualClock } from "./virtual-clock.ts";
import type { Milliseconds } from "../../domain/units.ts";
import { instant } from "../../domain/units.ts";
import { installCore } from "../host/core.ts";
import { readReply } from "./doors.ts";

/** The beginning of every virtual run: any fixed moment will do. */
const ORIGIN = Date.UTC(2026, 0, 1);
const TICK_MS: Milliseconds = 60_000;

/**
 * Runs a workload with store, queue and CycleCloud in memory: the same use cases and rules on a clock that jumps from event to event, and over
 * the minutes in which nothing can change (still.ts). With `minutes: "all"` it plays these too; the results are the same.
 */
export async function playVirtually(
  play: Play,
  audience: Audience,
  minutes: Minutes = "that-change",
): Promise<Played> {
  const clock = new VirtualClock(ORIGIN);
  const simulator = new Simulator(simulatorOptions(play.cluster, play.seed), clock);
  const own: OwnClock = {
    now: () => instant(clock.now() - clock.leftOut),
    sleep: (milliseconds, signal) => clock.sleep(milliseconds, signal),
  };
  const composed = composeAround(simulator, play, own);
  const { queue } = composed;
  const functions = await loadFunctions(composed);
  const doors: Doors = {
    push: (message) =>
      functions.demand({ ...message, revision: Number(message.revision) - clock.leftOut }, own.now()),
    askStop: (url, query) =>
      functions.stop(url, { ...query, asked: String(Number(query.asked) - clock.leftOut) }),
  };
  const { scheduler, agent, feed } = startScheduler(play, simulator, doors, ORIGIN);
  const { store } = composed.app.ports;
  await drive({ play, audience, clock, own, minutes, simulator, scheduler, agent, queue, store, functions });
  audience.progress.end();
  const rejected = await queue.rejected();
  return {
    scheduler,
    agent,
    feed,
    startedAt: ORIGIN,
    endedAt: clock.now(),
    messagesRejected: rejected.count,
    finished: agent.finished,
    leftOut: clock.leftOut,
  };
}

/** The app's clock: the time without what was left out, so that nothing in the app grows old meanwhile. */
type OwnClock = Pick<VirtualClock, "now" | "sleep">;

function composeAround(simulator: Simulator, play: Play, clock: OwnClock): MemoryComposition {
  return composeInMemory({
    cluster: play.cluster.name,
    clock,
    transport: {
      send: ({ method, path, query, body }) =>
        Promise.resolve(simulator.request({ method, path, query, ...(body === undefined ? {} : { body }) })),
    },
    publicUrl: "http://autoscaler.invalid",
    autostopKeys: { current: "v", byId: new Map([["v", "virtual runs need no secret"]]) },
    // In a virtual run no explanation of a plan can be requested.
    policy: { ...DEFAULT_POLICY, planHistorySeconds: 0 },
    log: () => undefined,
    forgets: true,
  });
}

interface Driven extends Pick<ObservedScheduler, "scheduler" | "agent"> {
  readonly play: Play;
  readonly audience: Audience;
  readonly clock: VirtualClock;
  readonly own: OwnClock;
  readonly minutes: Minutes;
  readonly simulator: Simulator;
  readonly queue: MemoryComposition["queue"];
  readonly store: MemoryComposition["app"]["ports"]["store"];
  readonly functions: Functions;
}

/**
 * Steps from event to event until every job has run and the cluster is empty again. At most events, a node only takes its next step, and
 * nothing listens to it. Then there is no work to wait for.
 */
async function drive(driven: Driven): Promise<void> {
  const { play, audience, clock, own, simulator, agent, functions } = driven;
  const giveUpAt = ORIGIN + (play.jobs.at(-1)?.submitMs ?? 0) + MOST_DAYS_AFTER_LAST_JOB * 86_400_000;
  const background = trackWork();
  const wakes = holdWakes(driven);
  const stillness = watchStillness(driven);
  let tickAt = ORIGIN;
  let isWaking = false;
  while (clock.now() < giveUpAt && !audience.signal.aborted && !(agent.finished && isEmpty(simulator))) {
    const now = clock.now();
    simulator.advance();
    showProgress(driven);
    const isStepDue = agent.isDue(now);
    if (isStepDue) background.start(agent.step(now));
    if (isStepDue || isWaking) await drainMicrotasks();
    const due = wakes.takeDue(now);
    for (const message of due) background.start(functions.demand(message, own.now()));
    const isTick = tickAt <= now;
    if (isTick) {
      tickAt = now + TICK_MS;
      background.start(functions.tick());
    }
    if (due.length > 0 || isTick) await drainMicrotasks();
    background.check();
    const span = isTick ? await stillness.span(now, own.now()) : undefined;
    if (span !== undefined) leaveOut(driven, wakes, span);
    tickAt += span?.ms ?? 0;
    const moments = [
      agent.nextEventAt(clock.now()),
      simulator.nextEventAt(),
      clock.nextWakeAt(),
      tickAt,
      ...wakes.moments(),
    ];
    isWaking = clock.moveTo(Math.max(clock.now() + 1, Math.min(...moments.filter((at) => at !== undefined))));
  }
}

/** Lets a time pass in which nothing changes. */
function leaveOut(driven: Driven, wakes: ReturnType<typeof holdWakes>, span: Span): void {
  const { clock, agent } = driven;
  wakes.leaveOut(span.ms);
  agent.leaveOut(span.ms, span, clock.now());
  for (let left = 0; left < span.ms; left += TICK_MS) {
    clock.leaveOut(TICK_MS);
    showProgress(driven);
  }
}

function showProgress({ play, audience, clock, simulator, scheduler }: Driven): void {
  audience.progress.show(() => ({
    now: clock.now(),
    startedAt: ORIGIN,
    jobs: play.jobs.length,
    scheduler,
    summary: simulator.summarize(),
  }));
}

/** Holds the wake messages that the app puts into the queue until they are due. */
function holdWakes({ play, queue, clock }: Driven) {
  let wakes: readonly { readonly at: number; readonly id?: string }[] = [];
  const moved = <T extends { readonly at: number }>(held: readonly T[], by: number): readonly T[] =>
    by === 0 ? held : held.map((one) => ({ ...one, at: one.at + by }));
  const drain = () => (wakes = wakes.concat(moved(queue.drain(), clock.leftOut)));
  return {
    /** The messages that are due now, and no longer held. Several messages that only ask for a plan count as one. */
    takeDue(now: number): readonly object[] {
      drain();
      const due = new Set(wakes.filter(({ at }) => at <= now).map(({ id }) => id));
      wakes = wakes.filter(({ at }) => at > now);
      const message = { version: 1, cluster: play.cluster.name, wake: true };
      return [...due].map((id) => (id === undefined ? message : { ...message, id }));
    },
    /** The app's clock stands still for this time. */
    leaveOut(milliseconds: Milliseconds): void {
      drain();
      wakes = moved(wakes, milliseconds);
    },
    moments: (): readonly number[] => wakes.map(({ at }) => at),
  };
}

function isEmpty(simulator: Simulator): boolean {
  return Object.values(simulator.summarize().nodesByStatus).every((count) => count === 0);
}

/** Work that continues while the clock moves. Its first failure ends the run. */
function trackWork() {
  let failure: { readonly error: unknown } | undefined;
  return {
    start(work: Promise<unknown>) {
      work.catch((error: unknown) => (failure ??= { error }));
    },
    check() {
      if (failure !== undefined) throw failure.error;
    },
  };
}

/** The app's functions, called in this process as the host would call them. */
interface Functions {
  /** Delivers a message of the queue. `insertedAt` is in ms since 1970. */
  readonly demand: (message: object, insertedAt: number) => Promise<void>;
  readonly tick: () => Promise<void>;
  readonly stop: Doors["askStop"];
}

/** Loads the functions over this composition. Rejects with the error of a function that does not load. */
async function loadFunctions(composed: Composition): Promise<Functions> {
  // The functions register themselves when they are loaded, which needs a registry. Nothing is called through it here.
  installCore();
  const { handleDemand } = await import("../../../functions/demand.ts");
  const { handleSnapshot } = await import("../../../functions/snapshot.ts");
  const { handleAutostop } = await import("../../../functions/autostop.ts");
  let messages = 0;
  return {
    demand(message, insertedAt) {
      const id = `message-${(messages += 1)}`;
      const triggerMetadata = { id, insertionTime: new Date(insertedAt) };
      return handleDemand(composed, message, { invocationId: id, triggerMetadata });
    },
    tick: () => handleSnapshot(composed),
    async stop(url, asked) {
      const request = { params: stopUrlParts(url), query: new URLSearchParams(asked) };
      const { status, body } = await handleAutostop(composed, request);
      return readReply(status ?? 200, typeof body === "string" ? JSON.parse(body) : undefined);
    },
  };
}

/** The parameters in the path of a stop URL, which ends in /CLUSTER/TOKEN. */
function stopUrlParts(url: string): { readonly cluster: string; readonly token: string } {
  const [cluster, token] = new URL(url).pathname.split("/").slice(-2).map(decodeURIComponent);
  if (cluster === undefined || token === undefined)
    throw new Error("a stop URL without a cluster and a token");
  return { cluster, token };
}
