import { clusterOf } from "./clusters.ts";
import { stateOf, until } from "./doors.ts";
import type { StopsJudged } from "./judge-stops.ts";
import { judgeStops } from "./judge-stops.ts";
import type { WorkJudged } from "./judge-work.ts";
import { judgeWork } from "./judge-work.ts";
import type { MovingDemand } from "./moving-demand.ts";
import { openMovingDemand } from "./moving-demand.ts";
import type { Parts, PartsOptions } from "./parts.ts";
import { startParts } from "./parts.ts";
import type { WorkingNodes } from "./working-nodes.ts";
import { letNodesWork } from "./working-nodes.ts";

/** Two hosts, and a scheduler whose jobs are the demand. All of it in real time. */
export interface WorkingCluster {
  readonly parts: Parts;
  readonly work: WorkingNodes;
  readonly demand: MovingDemand;
}

/** What came of it. Judged by CycleCloud's own events, what was sent, and what each node was allowed to do. */
export interface ClusterJudged extends WorkJudged, StopsJudged {
  readonly created: number;
}

/**
 * The real time: the limit of a call is real, and a node's own time counts only then (docs/protocol.md, Questions of nodes). So all seconds
 * here are real ones, too.
 */
const SPEED = 1;
export const HOSTS = 2;
const MOST_NODES = 100;
/** A node is seen terminating for so long: time in which a mistake can tell it to open. */
const TERMINATING_SECONDS = 90;
const RENEW_MS = 20_000;
const LOOK_MS = 200;
const PATIENCE_SECONDS = 1500;

/** Starts it, and ends it when `play` has ended. */
export async function withWorkingCluster<T>(
  options: Pick<PartsOptions, "checkout" | "oldPasswords">,
  uniform: () => number,
  play: (cluster: WorkingCluster) => Promise<T>,
): Promise<T> {
  const simulator = clusterOf(MOST_NODES, 4, 2);
  const timings = { ...simulator.timings, secondsToTerminate: TERMINATING_SECONDS };
  const parts = await startParts({
    ...options,
    simulator: { ...simulator, timings },
    speed: SPEED,
    hosts: HOSTS,
    proxies: true,
  });
  const ending = new AbortController();
  const work = letNodesWork(parts, uniform);
  const demand = openMovingDemand(parts, uniform);
  const sending = sendJobs({ parts, work, demand }, ending.signal);
  try {
    return await play({ parts, work, demand });
  } finally {
    ending.abort();
    await Promise.all([work.stop(), sending]);
    await parts.close();
  }
}

/** The demand is as many nodes as there are jobs. Sent at each change, and again after some time. */
async function sendJobs({ parts, work, demand }: WorkingCluster, signal: AbortSignal): Promise<void> {
  const { clock } = parts;
  while (!signal.aborted) {
    const { jobs } = work.scheduler;
    await demand.set(jobs, signal);
    const again = clock.now() + RENEW_MS;
    while (!signal.aborted && work.scheduler.jobs === jobs && clock.now() < again)
      await clock.sleep(LOOK_MS, signal);
  }
}

/** Every job has a node, there is no other node, and the app has nothing more to do. Rejects, and says how it is, if it never comes. */
export async function untilAsWanted(cluster: WorkingCluster): Promise<void> {
  const { parts, work } = cluster;
  const { scheduler } = work;
  let state: Awaited<ReturnType<typeof stateOf>>;
  const isAsWanted = async () => {
    const isBusy = scheduler.waiting === 0 && scheduler.count("busy") === countAlive(parts);
    if (!isBusy) return false;
    state = await stateOf(parts, parts.hosts[0]?.url ?? "");
    return state !== undefined && state.intents.length + state.inFlight.length === 0;
  };
  try {
    await until("all is as wanted", isAsWanted, PATIENCE_SECONDS, 1000);
  } catch (error) {
    const { jobs, waiting } = scheduler;
    const how = { jobs, waiting, closed: scheduler.count("closed"), alive: countAlive(parts), state };
    throw new Error(`not as wanted: ${JSON.stringify(how)}\n${storyOf(cluster)}`, { cause: error });
  }
}

/** `heldMs`: how long CycleCloud may have held a request. */
export function judge({ parts, work, demand }: WorkingCluster, heldMs: number): ClusterJudged {
  const { events } = parts.simulator;
  const { scheduler, questions } = work;
  return {
    created: events.filter(({ kind }) => kind === "node-created").length,
    ...judgeWork(events, scheduler.changes),
    ...judgeStops(events, questions, demand.pushes, 0, heldMs),
  };
}

/** Nodes that CycleCloud has made and was not asked to stop. */
export function countAlive({ simulator }: Pick<Parts, "simulator">): number {
  const alive = new Set<string>();
  for (const event of simulator.events) {
    if (event.kind === "node-created") alive.add(event.nodeId);
    else if (event.kind === "terminate-accepted" || event.kind === "node-gone") alive.delete(event.nodeId);
  }
  return alive.size;
}

/** What came to pass, a line each, in order of time: for a run that went wrong. Times are seconds since the first line. */
export function storyOf({ parts, work, demand }: WorkingCluster): string {
  const lines: { readonly at: number; readonly text: string }[] = [
    ...parts.simulator.events.flatMap((event) => {
      if (event.kind === "status-read") return [];
      const about = event.kind === "create-accepted" ? `${event.added} nodes` : event.nodeId;
      return [{ at: event.at, text: `CycleCloud: ${event.kind} ${about}` }];
    }),
    ...work.scheduler.changes.map(({ at, nodeId, work }) => ({ at, text: `${nodeId} is ${work}` })),
    ...work.questions.map(({ askedAt, answeredAt, nodeId, host, said }) => ({
      at: answeredAt ?? askedAt,
      text: `${nodeId} asked ${host} at ${askedAt}: ${said}`,
    })),
    ...parts.lines
      .filter(({ event }) => event !== "autostop" && event !== "demand")
      .map(({ heardAt, port, message }) => ({ at: heardAt, text: `${port} says ${message}` })),
    ...demand.pushes.map(({ count, sentAt, acknowledgedAt }) => ({
      at: sentAt,
      text: `demand of ${count}, acknowledged ${acknowledgedAt === undefined ? "never" : `after ${acknowledgedAt - sentAt} ms`}`,
    })),
  ];
  const sorted = lines.toSorted((a, b) => a.at - b.at);
  const from = sorted[0]?.at ?? 0;
  return sorted.map(({ at, text }) => `${((at - from) / 1000).toFixed(1)} ${text}`).join("\n");
}
