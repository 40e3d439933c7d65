import { sendDemand } from "../../client/send.ts";
import type { LocalSystem } from "../system.ts";
import { startSystem } from "../system.ts";
import type { AuditFeed } from "./audit-feed.ts";
import { simulatorOptions } from "./cluster.ts";
import type { Doors } from "./doors.ts";
import { readReply } from "./doors.ts";
import { startScheduler } from "./observed-scheduler.ts";
import type { Audience, Play, Played } from "./play.ts";
import type { Milliseconds } from "../../domain/units.ts";

/** Longest uninterrupted sleep (real milliseconds). */
const STEP_MS: Milliseconds = 50;
/** A run is given up this long after the last job arrived (simulated time). */
const GIVE_UP_MS: Milliseconds = 6 * 3_600_000;

/** Additional inputs of a run in real time, and its listeners. */
interface RealAudience extends Audience {
  /** Simulated seconds per real second. */
  readonly speed: number;
  /** Called when everything runs, so that users can inspect it. */
  readonly onStarted: (system: LocalSystem) => void;
  /** Called with each line of the function host's log. */
  readonly onHostLine: (line: string) => void;
}

/**
 * Runs a workload against the functions in a host of their own, Azurite, and the simulator over HTTP. Rejects if they cannot be started or
 * the autoscaler cannot be reached. Leaves no process behind.
 */
export async function playReally(play: Play, audience: RealAudience): Promise<Played> {
  const { speed, onHostLine } = audience;
  const system = await startSystem({
    simulator: simulatorOptions(play.cluster, play.seed),
    speed,
    onHostLine,
  });
  try {
    audience.onStarted(system);
    return await playOn(system, play, { ...audience, mayRestart: false });
  } finally {
    audience.progress.end();
    await system.close();
  }
}

/** `mayRestart`: the function host may end and be started again. Until then nodes have no answer and ask again. */
type OnSystem = Audience & Pick<RealAudience, "speed"> & { readonly mayRestart: boolean };

/** Runs a workload against a system that runs already, and leaves it running. */
export async function playOn(
  system: LocalSystem,
  play: Play,
  { progress, signal, speed, mayRestart }: OnSystem,
): Promise<Played> {
  const { clock, simulator } = system;
  const startedAt = clock.now();
  const pushes: number[] = [];
  const { feed, scheduler, agent, stopListening } = startScheduler(
    play,
    simulator,
    openDoors(system, mayRestart),
    startedAt,
    (at) => pushes.push(at),
  );
  const giveUpAt = startedAt + (play.jobs.at(-1)?.submitMs ?? 0) + GIVE_UP_MS;
  const failures: unknown[] = [];
  for (const host of mayRestart ? [] : system.hosts)
    void host.exited.then((how) => failures.push(new Error(`the function host ended (${how})`)));
  while (clock.now() < giveUpAt && failures.length === 0 && !signal.aborted) {
    const now = clock.now();
    agent.step(now).catch((error: unknown) => failures.push(error));
    const summary = simulator.summarize();
    progress.show(() => ({ now, startedAt, jobs: play.jobs.length, scheduler, summary }));
    if (agent.finished && Object.values(summary.nodesByStatus).every((count) => count === 0)) break;
    await new Promise((resolve) => setTimeout(resolve, STEP_MS));
  }
  stopListening();
  if (failures.length > 0) throw failures[0];
  return {
    scheduler,
    agent,
    feed,
    startedAt,
    endedAt: clock.now(),
    messagesRejected: await countRejected(system),
    finished: agent.finished,
    ...measureDistortion(pushes, feed, speed),
  };
}

/** The scheduler's usual interface: the queue, HTTP for demand that is too large for it, and plain GETs of the stop URL. */
function openDoors(system: LocalSystem, mayRestart: boolean): Doors {
  const doors = { queue: system.connectionString, api: { url: system.url, key: system.keys.host } };
  return {
    async push(message) {
      await sendDemand(doors, message, { now: system.clock.now() });
    },
    async askStop(url, query) {
      try {
        const response = await fetch(`${url}?${new URLSearchParams(query).toString()}`);
        return readReply(response.status, await response.json());
      } catch (error) {
        if (!mayRestart) throw error;
        return { status: 503, why: "no answer" };
      }
    },
  };
}

async function countRejected(system: LocalSystem): Promise<number> {
  const response = await fetch(`${system.url}/api/clusters`, {
    headers: { "x-functions-key": system.keys.host },
  });
  const body: unknown = await response.json();
  if (typeof body !== "object" || body === null || !("rejectedMessages" in body)) return 0;
  const rejected = body.rejectedMessages;
  return typeof rejected === "object" && rejected !== null && "count" in rejected
    ? Number(rejected.count)
    : 0;
}

/** The time from a push to the create that it led to. Nothing without a create. */
function measureDistortion(
  pushes: readonly number[],
  { creates }: AuditFeed,
  speed: number,
): Pick<Played, "distortion"> {
  const latencySeconds = latencyOf(
    pushes,
    creates.map(({ at }) => at),
  );
  return latencySeconds === undefined ? {} : { distortion: { latencySeconds, speed } };
}

/** The time from the last push before a create to the create, in simulated seconds: 95 % are at most this. Undefined without a create. */
function latencyOf(pushes: readonly number[], creates: readonly number[]): number | undefined {
  const waits = creates
    .flatMap((at) => {
      const push = pushes.findLast((moment) => moment <= at);
      return push === undefined ? [] : [(at - push) / 1000];
    })
    .sort((a, b) => a - b);
  return waits[Math.min(waits.length - 1, Math.floor(waits.length * 0.95))];
}
