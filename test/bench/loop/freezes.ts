import { openRandomStream } from "../../../src/local/workload/random.ts";
import type { Parts } from "./parts.ts";
import type { Call, Misdeed } from "./proxy.ts";
import type { ClusterJudged, WorkingCluster } from "./working-cluster.ts";
import { HOSTS, judge, storyOf, untilAsWanted, withWorkingCluster } from "./working-cluster.ts";

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

/** `terminate`, `create`: that request is the first to lie in a socket. `commit`: the first write to storage after a node's question. */
export type Moment = "terminate" | "create" | "commit";

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
  return withWorkingCluster(options.checkout, uniform, async (cluster) => {
    const convergedSeconds: number[] = [];
    const { clock } = cluster.parts;
    for (const moment of options.moments) {
      cluster.work.scheduler.setJobs(draw(JOBS, uniform));
      await untilAsWanted(cluster);
      await standStill(cluster, moment, options, uniform);
      const wentOnAt = clock.now();
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

/** The limit of a call. What is held for longer may arrive when nobody counts on it any more (docs/protocol.md, Standstills: What remains). */
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
  return withWorkingCluster(checkout, uniform, async (cluster) => {
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
  const drawn = Math.floor(uniform() * HOSTS);
  const isAsking = () => scheduler.count("closed") > 0;
  const standstill = beginAt(parts, options, (call, host) => {
    if (moment !== "commit")
      return call.path.split("?")[0]?.endsWith(`/nodes/${moment}`) === true ? host : undefined;
    return host === undefined && call.method !== "GET" && isAsking() ? drawn : undefined;
  });
  scheduler.setJobs(moment === "create" ? scheduler.jobs + MORE : scheduler.jobs - FEWER);
  await standstill.begun;
  while (standstill.lasts()) {
    const next = parts.clock.sleep(LEAST_BETWEEN_MOVES_MS + uniform() * MORE_BETWEEN_MOVES_MS);
    await Promise.race([next, standstill.ended]);
    scheduler.setJobs(draw(MEANWHILE, uniform));
  }
  // What was asked for is still wanted: if it is taken for lost, it is made twice.
  if (moment === "create") scheduler.setJobs(MEANWHILE.most);
}

interface Standing {
  /** Rejects if the moment does not come. */
  readonly begun: Promise<void>;
  readonly ended: Promise<void>;
  lasts(): boolean;
}

const MOMENT_COMES_SECONDS = 600;

/**
 * Stops a process at the call for which `meets` gives a host, before that call is passed on, and lets it go on after its time. `host` of a call
 * is whose call of CycleCloud it is; undefined: it goes to storage.
 */
function beginAt(
  { simulator, hosts, proxies }: Parts,
  { what, seconds, lateSeconds = 0 }: FreezesOptions,
  meets: (call: Call, host: number | undefined) => number | undefined,
): Standing {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  let goesOnAt: number | undefined;
  const weatherOf =
    (host?: number) =>
    (call: Call): Misdeed | undefined => {
      const met = goesOnAt === undefined ? meets(call, host) : undefined;
      if (met !== undefined) {
        const pid = (what === "host" ? hosts[met]?.pid() : simulator.pid) ?? 0;
        goesOnAt = Date.now() + seconds * 1000;
        process.kill(pid, "SIGSTOP");
        setTimeout(() => {
          process.kill(pid, "SIGCONT");
          ended.resolve();
        }, seconds * 1000);
        clearTimeout(patience);
        begun.resolve();
      }
      const isHeld =
        goesOnAt !== undefined && Date.now() < goesOnAt && host !== undefined && call.method === "POST";
      if (!isHeld || goesOnAt === undefined || lateSeconds === 0) return undefined;
      return { kind: "hold", ms: goesOnAt + lateSeconds * 1000 - Date.now() };
    };
  const patience = setTimeout(
    () => begun.reject(new Error(`the moment has not come within ${MOMENT_COMES_SECONDS} s`)),
    MOMENT_COMES_SECONDS * 1000,
  );
  proxies?.table.setWeather(weatherOf());
  proxies?.cyclecloud.forEach((proxy, host) => proxy.setWeather(weatherOf(host)));
  const lasts = () => goesOnAt === undefined || Date.now() < goesOnAt;
  return { begun: begun.promise, ended: ended.promise, lasts };
}

function draw(
  { least, most }: { readonly least: number; readonly most: number },
  uniform: () => number,
): number {
  return Math.round(least + uniform() * (most - least));
}
