import type { Composition, MemoryComposition } from "../../compose.ts";
import { composeInMemory } from "../../compose.ts";
import { DEFAULT_POLICY } from "../../domain/policy.ts";
import { Simulator } from "../../simulator/engine.ts";
import { installCore } from "../host/core.ts";
import { SchedulerModel } from "../workload/scheduler-model.ts";
import { AuditFeed } from "./audit-feed.ts";
import { auditedLimits, simulatorOptions } from "./cluster.ts";
import type { Doors } from "./scheduler-agent.ts";
import { readReply, SchedulerAgent } from "./scheduler-agent.ts";
import type { Audience, Play, Played } from "./play.ts";
import { AGENT_TIMES, MOST_DAYS_AFTER_LAST_JOB } from "./play.ts";
import { settleMicrotasks, VirtualClock } from "./virtual-clock.ts";
import type { Milliseconds } from "../../domain/units.ts";

/** A Thursday at midnight. Any moment is possible if it is the same in every run. */
const ORIGIN = Date.UTC(2026, 0, 1);
const TICK_MS: Milliseconds = 60_000;

/** Runs a workload with store, queue and CycleCloud in memory: the same use cases and rules on a clock that jumps from event to event. */
export async function playVirtually(play: Play, audience: Audience): Promise<Played> {
  const clock = new VirtualClock(ORIGIN);
  const simulator = new Simulator(simulatorOptions(play.cluster, play.seed), clock);
  const feed = new AuditFeed(auditedLimits(play.cluster));
  const scheduler = new SchedulerModel({
    maxSlots: play.cluster.nodes * play.cluster.coresPerNode,
    observer: { hostBusy: (event) => feed.busy(event), hostIdle: (event) => feed.idle(event) },
  });
  const composed = composeInMemory({
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
  });
  const functions = await loadFunctions(composed);
  const doors: Doors = {
    push: (message) => functions.demand(message, clock.now()),
    askStop: (url, query) => functions.stop(url, query),
  };
  const agent = new SchedulerAgent(
    scheduler,
    play.jobs,
    doors,
    { cluster: play.cluster.name, requestSet: "standard", ...AGENT_TIMES },
    ORIGIN,
    (at, slots, expiresAt) => feed.auditor.demand({ at, slots, expiresAt }),
  );
  simulator.onEvent((event) => {
    if (feed.tell(event, scheduler)) agent.touch();
  });
  const { queue } = composed;
  await drive({ play, audience, clock, simulator, scheduler, agent, queue, functions });
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
  };
}

/** The functions themselves, called as the host would call them. */
interface Functions {
  readonly demand: (message: object, insertedAt: number) => Promise<void>;
  readonly tick: () => Promise<void>;
  readonly stop: Doors["askStop"];
}

async function loadFunctions(composed: Composition): Promise<Functions> {
  // Registering needs a host to register with; nothing is dispatched through it here.
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
      const [cluster = "", token = ""] = new URL(url).pathname.split("/").slice(-2).map(decodeURIComponent);
      const query = new URLSearchParams(asked);
      const { status, body } = await handleAutostop(composed, { params: { cluster, token }, query });
      return readReply(status ?? 200, typeof body === "string" ? JSON.parse(body) : undefined);
    },
  };
}

interface Driven {
  readonly play: Play;
  readonly audience: Audience;
  readonly clock: VirtualClock;
  readonly simulator: Simulator;
  readonly scheduler: SchedulerModel;
  readonly agent: SchedulerAgent;
  readonly queue: MemoryComposition["queue"];
  readonly functions: Functions;
}

/**
 * Steps from event to event until every job has run and the cluster is empty again. At most events a node only takes its next step without
 * a listener: then there is no work to wait for.
 */
async function drive(driven: Driven): Promise<void> {
  const { play, audience, clock, simulator, scheduler, agent, queue, functions } = driven;
  const giveUpAt = ORIGIN + (play.jobs.at(-1)?.submitMs ?? 0) + MOST_DAYS_AFTER_LAST_JOB * 86_400_000;
  const background = trackWork();
  let tickAt = ORIGIN;
  let wakes: readonly { readonly at: number; readonly id?: string }[] = [];
  let isWaking = false;
  while (clock.now() < giveUpAt && !audience.signal.aborted && !(agent.finished && isEmpty(simulator))) {
    const now = clock.now();
    simulator.advance();
    audience.progress.show(() => ({
      now,
      startedAt: ORIGIN,
      jobs: play.jobs.length,
      scheduler,
      summary: simulator.summarize(),
    }));
    const isStepDue = agent.isDue(now);
    if (isStepDue) background.start(agent.step(now));
    if (isStepDue || isWaking) await settleMicrotasks();
    wakes = wakes.concat(queue.drain());
    const due = wakes.filter(({ at }) => at <= now);
    const isWoken = due.length > 0;
    wakes = wakes.filter(({ at }) => at > now);
    // Several messages of one moment that only ask for a plan count as one.
    for (const id of new Set(due.map((wake) => wake.id))) {
      const message = { version: 1, cluster: play.cluster.name, wake: true };
      background.start(functions.demand(id === undefined ? message : { ...message, id }, now));
    }
    const isTick = tickAt <= now;
    if (isTick) {
      tickAt = now + TICK_MS;
      background.start(functions.tick());
    }
    if (isWoken || isTick) await settleMicrotasks();
    background.check();
    const moments = [
      agent.nextEventAt(now),
      simulator.nextEventAt(),
      clock.nextWakeAt(),
      tickAt,
      ...wakes.map(({ at }) => at),
    ];
    isWaking = clock.moveTo(Math.max(now + 1, Math.min(...moments.filter((at) => at !== undefined))));
  }
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
