import { openRandomStream } from "../../../src/local/workload/random.ts";
import { until } from "./doors.ts";
import type { Parts } from "./parts.ts";
import type { Call, Misdeed } from "./proxy.ts";
import type { ClusterJudged, WorkingCluster } from "./working-cluster.ts";
import { HOSTS, judge, storyOf, untilAsWanted, withWorkingCluster } from "./working-cluster.ts";
import type { Route } from "./working-nodes.ts";

export interface FreezesOptions {
  readonly checkout: string;
  readonly seed: number;
  /** What stands still: the CycleCloud of both hosts, or one of the two hosts. */
  readonly what: "cyclecloud" | "host";
  /** How long, each time. */
  readonly seconds: number;
  /** The call before which it begins, for each time. */
  readonly moments: readonly Moment[];
  /** Changes that were sent while CycleCloud stood still take effect so long after it goes on. Reads are answered at once. Absent: no time. */
  readonly lateSeconds?: number;
}

/**
 * `terminate`, `create`: that request is the first to lie in a socket. `commit`: the first write to storage after a node's question. `question`:
 * the first question of each node that asks lies in a socket of the host, and the next ones reach no host.
 */
export type Moment = "terminate" | "create" | "commit" | "question";

export interface FreezesResult extends ClusterJudged {
  /** How long after it went on everything was as wanted, for each time. */
  readonly convergedSeconds: readonly number[];
}

/** The jobs that there are before all stands still. Then some of them end, or more come, and again meanwhile. */
const JOBS = { least: 8, most: 10 };
const FEWER = 3;
const MORE = 4;
const MEANWHILE = { least: 6, most: 14 };
const LEAST_BETWEEN_MOVES_MS = 15_000;
const MORE_BETWEEN_MOVES_MS = 30_000;

/** Jobs come and go, and idle nodes ask whether they may stop, while CycleCloud or a host stands still (SIGSTOP), again and again. */
export async function runFreezes(
  options: FreezesOptions,
): Promise<FreezesResult & { readonly story: string }> {
  const { uniform } = openRandomStream(options.seed);
  return withWorkingCluster({ checkout: options.checkout }, uniform, async (cluster) => {
    const convergedSeconds: number[] = [];
    const { clock } = cluster.parts;
    for (const moment of options.moments) {
      cluster.work.scheduler.setJobs(draw(JOBS, uniform));
      await untilAsWanted(cluster);
      await standStill(cluster, moment, options, uniform);
      const wentOnAt = clock.now();
      // Until then what is held has not taken effect.
      await clock.sleep(1000 * (options.lateSeconds ?? 0));
      await untilAsWanted(cluster);
      convergedSeconds.push(Math.round((clock.now() - wentOnAt) / 1000));
    }
    const heldMs = 1000 * (options.seconds + (options.lateSeconds ?? 0));
    return { convergedSeconds, ...judge(cluster, heldMs), story: storyOf(cluster) };
  });
}

export interface HeldCallsOptions extends Pick<FreezesOptions, "checkout" | "seed"> {
  readonly seconds: number;
}

/** The limit of a call. What is held for longer may arrive when no plan counts on it any more (docs/protocol.md, Standstills: What remains). */
const LONGEST_HELD_MS = 60_000;
/** The share of the changes that are held. */
const HELD = 0.7;

/** Jobs come and go, and idle nodes ask, while single creates and terminates are held on their way, up to the limit of a call. */
export async function runHeldCalls({
  checkout,
  seed,
  seconds,
}: HeldCallsOptions): Promise<FreezesResult & { readonly held: number; readonly story: string }> {
  const { uniform } = openRandomStream(seed);
  return withWorkingCluster({ checkout }, uniform, async (cluster) => {
    const { clock, proxies } = cluster.parts;
    const { scheduler } = cluster.work;
    scheduler.setJobs(draw(JOBS, uniform));
    await untilAsWanted(cluster);
    const weather = ({ method }: Call): Misdeed | undefined =>
      method === "POST" && uniform() < HELD ? { kind: "hold", ms: uniform() * LONGEST_HELD_MS } : undefined;
    for (const proxy of proxies?.cyclecloud ?? []) proxy.setWeather(weather);
    const endAt = clock.now() + seconds * 1000;
    while (clock.now() < endAt) {
      scheduler.setJobs(draw(MEANWHILE, uniform));
      await clock.sleep(LEAST_BETWEEN_MOVES_MS + uniform() * MORE_BETWEEN_MOVES_MS);
    }
    for (const proxy of proxies?.cyclecloud ?? []) proxy.setWeather(undefined);
    const calmAt = clock.now();
    await untilAsWanted(cluster);
    const convergedSeconds = [Math.round((clock.now() - calmAt) / 1000)];
    const held = sum(proxies?.cyclecloud.map(({ misdeeds }) => misdeeds.get("hold") ?? 0) ?? []);
    return { held, convergedSeconds, ...judge(cluster, LONGEST_HELD_MS), story: storyOf(cluster) };
  });
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Ends or begins jobs, lets all stand still at the moment that this leads to, and resolves when it has gone on. */
async function standStill(
  { parts, work }: WorkingCluster,
  moment: Moment,
  options: FreezesOptions,
  uniform: () => number,
): Promise<void> {
  const { scheduler } = work;
  const host = Math.floor(uniform() * HOSTS);
  const standstill = new Standstill(parts, options);
  if (moment === "question")
    work.setRoute(openRoute(parts.hosts[host]?.url ?? "", () => standstill.begin(host)));
  else if (moment === "commit")
    parts.proxies?.table.setWeather(({ method }) => {
      if (method !== "GET" && scheduler.count("closed") > 0) standstill.begin(host);
      return undefined;
    });
  else standstill.beginAt(`/nodes/${moment}`);
  scheduler.setJobs(moment === "create" ? scheduler.jobs + MORE : scheduler.jobs - FEWER);
  await until("all stands still", () => standstill.hasBegun, MOMENT_COMES_SECONDS);
  while (standstill.lasts) {
    const next = parts.clock.sleep(LEAST_BETWEEN_MOVES_MS + uniform() * MORE_BETWEEN_MOVES_MS);
    await Promise.race([next, standstill.ended]);
    scheduler.setJobs(draw(MEANWHILE, uniform));
  }
  work.setRoute(undefined);
  parts.proxies?.table.setWeather(undefined);
  // What was asked for is still wanted: if it is taken for lost, it is made twice.
  if (moment === "create") scheduler.setJobs(MEANWHILE.most);
}

const MOMENT_COMES_SECONDS = 600;
/** No process listens there. */
const NOWHERE = "http://127.0.0.1:9";

/** A node's first question goes to this host, once `before` has ended, and its next ones to no host. */
function openRoute(host: string, before: () => void): Route {
  const asked = new Set<string>();
  return (nodeId) => {
    if (asked.has(nodeId)) return NOWHERE;
    before();
    asked.add(nodeId);
    return host;
  };
}

/** One standstill, from its beginning until its time is over. */
class Standstill {
  readonly #parts: Parts;
  readonly #options: FreezesOptions;
  readonly #ended = Promise.withResolvers<void>();
  #goesOnAt: number | undefined;

  constructor(parts: Parts, options: FreezesOptions) {
    this.#parts = parts;
    this.#options = options;
    this.beginAt(undefined);
  }

  get hasBegun(): boolean {
    return this.#goesOnAt !== undefined;
  }

  get lasts(): boolean {
    return this.#goesOnAt !== undefined && Date.now() < this.#goesOnAt;
  }

  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Stops CycleCloud, or this host. Does nothing the second time. */
  begin(host: number): void {
    if (this.hasBegun) return;
    const { what, seconds } = this.#options;
    const pid = (what === "host" ? this.#parts.hosts[host]?.pid() : this.#parts.simulator.pid) ?? 0;
    this.#goesOnAt = Date.now() + 1000 * seconds;
    process.kill(pid, "SIGSTOP");
    setTimeout(() => {
      process.kill(pid, "SIGCONT");
      this.#ended.resolve();
    }, 1000 * seconds);
  }

  /** It begins when a host calls this path of CycleCloud, before the call is passed on. Undefined: at no call. */
  beginAt(path: string | undefined): void {
    this.#parts.proxies?.cyclecloud.forEach((proxy, host) =>
      proxy.setWeather((call) => {
        if (path !== undefined && call.path.split("?")[0]?.endsWith(path) === true) this.begin(host);
        return this.#misdeedOf(call);
      }),
    );
  }

  #misdeedOf({ method }: Call): Misdeed | undefined {
    const { lateSeconds = 0 } = this.#options;
    if (!this.lasts || method !== "POST" || lateSeconds === 0) return undefined;
    return { kind: "hold", ms: (this.#goesOnAt ?? 0) + 1000 * lateSeconds - Date.now() };
  }
}

function draw(
  { least, most }: { readonly least: number; readonly most: number },
  uniform: () => number,
): number {
  return Math.round(least + uniform() * (most - least));
}
