import { execFile, spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { appendFileSync, createWriteStream, existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { expandHosts } from "../../src/agent/slurm/hosts.ts";
import type { ThrowingApi } from "../../src/client/index.ts";
import { openApi, putDemand } from "../../src/client/index.ts";
import type { Milliseconds, Seconds } from "../../src/domain/units.ts";
import { instant } from "../../src/domain/units.ts";
import { freePort } from "../../src/local/ports.ts";
import type { LocalSystem } from "../../src/local/system.ts";
import { startSystem } from "../../src/local/system.ts";
import type { SimulatorEvent } from "../../src/simulator/events.ts";
import { ROOT } from "../support/run-main.ts";
import { missingPrograms, PATH } from "./needed.ts";
import type { SiteOptions } from "./site-files.ts";
import { CLUSTER, mungeWords, writeSite } from "./site-files.ts";

/** One run of one job, as its script noted it. */
export interface JobRun {
  readonly job: string;
  readonly nodes: string;
  readonly begun: number;
  readonly ended?: number;
}

/** A process of the site that tests kill and start again. */
export interface Part {
  readonly start: () => Promise<void>;
  readonly kill: (signal?: NodeJS.Signals) => Promise<void>;
}

/** A real Slurm, the agent, the app, and a simulated CycleCloud whose nodes are local slurmd processes while they are Ready. */
export interface Site {
  readonly folder: string;
  readonly system: LocalSystem;
  readonly api: ThrowingApi;
  readonly controller: Part;
  readonly agent: Part;
  readonly app: Part;
  /** What the agent has said, with the moment. */
  readonly said: readonly { readonly at: number; readonly line: string }[];
  /** What CycleCloud did. */
  readonly events: readonly SimulatorEvent[];
  /** Nodes that exist in CycleCloud. */
  readonly alive: () => readonly string[];
  readonly run: (program: string, ...words: readonly string[]) => Promise<string>;
  /** Submits a job that works for some seconds, and gives its number. */
  readonly submit: (work: Seconds, ...words: readonly string[]) => Promise<string>;
  readonly runs: () => readonly JobRun[];
  /** State of each node, as scontrol shows it. */
  readonly states: () => Promise<ReadonlyMap<string, string>>;
  /** What must be empty after each test. */
  readonly faults: () => Promise<readonly string[]>;
  /** What agent and shims have changed in Slurm, and what the programs that were there before were called with. */
  readonly changes: () => readonly string[];
  readonly others: () => readonly string[];
  /** Another agent, on a host of this name. */
  readonly agentOn: (host: string) => Part;
  /** Names for which Slurm called the programs of power saving, with the moment. */
  readonly calls: (verb: string) => readonly { readonly at: number; readonly name: string }[];
  /** Waits for a condition. Throws with what the site knows if it does not come. */
  readonly until: (what: string, most: Seconds, check: () => boolean | Promise<boolean>) => Promise<void>;
}

const SIZES: Readonly<Record<string, string>> = { htc: "Standard_F2s_v2", hpc: "Standard_HB120rs_v3" };

/** What ends with a test. Tests that run side by side have one each. */
type Closing = { readonly onTestFinished: (end: () => void | Promise<void>) => void };

/** Starts all of it. What was started ends with the test. */
export async function openRealSlurm({ onTestFinished }: Closing, options: SiteOptions = {}): Promise<Site> {
  const missing = missingPrograms();
  if (missing.length > 0)
    throw new Error(`${missing.join(", ")}: not installed; npm run test:schedulers -- --install`);
  const { nodes = { htc: 8, hpc: 4 } } = options;
  const folder = mkdtempSync(join(tmpdir(), "slurm-"));
  const processes = new Set<ChildProcess>();
  const env = { ...process.env, PATH, SLURM_CONF: join(folder, "slurm.conf") };
  onTestFinished(() => rmSync(folder, { recursive: true, maxRetries: 50, retryDelay: 100 }));
  onTestFinished(async () => {
    for (const child of processes) await end(child, "SIGKILL");
    endMarked(folder);
  });
  for (const name of ["bin", "spool", "save", "state", "state/spool", "memory"])
    mkdirSync(join(folder, name));
  const system = await startApp(folder, nodes, options);
  onTestFinished(() => system.close());
  const launch = (program: string, words: readonly string[], mark = ""): ChildProcess => {
    const marks = { SIMULATED_MACHINE: `${folder}/${mark}`, ...env };
    const child = spawn(program, [...words], { cwd: ROOT, env: marks, detached: true });
    processes.add(child);
    child.once("exit", () => processes.delete(child));
    return child;
  };
  writeSite(folder, system, nodes, options, await ports(nodes));
  await promisify(execFile)("munged", ["--force", ...mungeWords(folder), "--version"]);
  launch("munged", ["--foreground", "--force", ...mungeWords(folder)]);
  const site = siteOf(folder, system, { env, launch });
  await site.controller.start();
  await site.agent.start();
  // Before the agent has heard a mode, the shims hand on every name.
  await site.until("the agent has heard the modes", 60, () => existsSync(join(folder, "state/modes")));
  return site;
}

const realTime = (): string => `${Date.now()}@1`;

const BEHIND_MS: Milliseconds = 400_000;
/** A clock that is so much behind now, and that gains a hundredth. */
const behind = (): string => `${Date.now() + 100 * BEHIND_MS}@1.01`;

/**
 * Starts the app with a record that is older than the five minutes in which a new one stops no node: it is made by a process whose clock is
 * behind.
 */
async function startApp(
  folder: string,
  nodes: Readonly<Record<string, number>>,
  options: SiteOptions,
): Promise<LocalSystem> {
  const system = await startSystem({
    simulator: simulated(nodes, options),
    speed: 1,
    onHostLine: logTo(folder),
    extraSettings: { AUTOSCALER_LOCAL_CLOCK: behind() },
  });
  const api = apiOf(system);
  const named = Object.keys(nodes);
  await api.putConfig(CLUSTER, JSON.stringify({ mode: options.mode ?? "act", named }));
  // A live set that asks for nothing: without one, the gap until the next process would begin a rest of its own.
  const set = { cluster: CLUSTER, requestSet: "before", expirationInterval: 86_400, nodearrays: [] };
  await putDemand(addressOf(system), { version: 1, ...set }, instant(Date.now() - BEHIND_MS));
  while ((await api.state(CLUSTER)).health.lastLookAgeSeconds === undefined) await pause(200);
  await appOf(system).kill();
  await appOf(system).start();
  await api.tick(CLUSTER);
  return system;
}

/** A boot takes eight seconds, and two more until it shows. */
function simulated(nodes: Readonly<Record<string, number>>, { arrays = {}, timings }: SiteOptions) {
  const size = (vcpuCount: number) => ({ vcpuCount, memory: 4 * vcpuCount, family: `family${vcpuCount}` });
  return {
    clusters: [
      {
        name: CLUSTER,
        arrays: Object.keys(nodes).map((name) => ({
          name,
          region: "westeurope",
          machineTypes: [SIZES[name] ?? "Standard_F2s_v2"],
          ...arrays[name],
        })),
      },
    ],
    machineTypes: { Standard_F2s_v2: size(2), Standard_HB120rs_v3: size(120) },
    timings: {
      secondsToAllocate: 1,
      secondsToAcquire: 3,
      secondsToPrepare: 4,
      secondsToTerminate: 5,
      jitter: 0.2,
      ...timings,
    },
    visibilityLagSeconds: 2,
  };
}

async function ports(nodes: Readonly<Record<string, number>>): Promise<readonly number[]> {
  const taken = new Set<number>();
  const needed = Object.values(nodes).reduce((sum, count) => sum + count, 1);
  while (taken.size < needed) taken.add(await freePort());
  return [...taken];
}

interface Started {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly launch: (program: string, words: readonly string[], mark?: string) => ChildProcess;
}

function siteOf(folder: string, system: LocalSystem, started: Started): Site {
  const { env, launch } = started;
  const run = async (program: string, ...words: readonly string[]): Promise<string> =>
    (await promisify(execFile)(program, [...words], { env, timeout: 20_000, maxBuffer: 1e8 })).stdout;
  const { events, alive, busyStops } = followMachines(folder, system, run, launch);
  const said: { at: number; line: string }[] = [];
  const read = (name: string): readonly string[] => {
    const file = join(folder, name);
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
  };
  const states = async (): Promise<ReadonlyMap<string, string>> => {
    const shown = await run("scontrol", "show", "nodes", "-o");
    const lines = shown.split("\n").filter((line) => line !== "");
    return new Map(lines.map((line) => [wordAfter(line, "NodeName="), wordAfter(line, "State=")]));
  };
  const runs = (): readonly JobRun[] => runsIn(read("jobs"));
  const agentOn = (host?: string): Part =>
    partOf(
      () => startAgent({ folder, system, launch, said }, host),
      () => Promise.resolve(true),
    );
  const callsOf: Site["calls"] = (verb) =>
    read("calls").flatMap((line) => {
      const [at, called, list = ""] = line.split(" ");
      return called === verb ? (expandHosts(list) ?? []).map((name) => ({ at: Number(at), name })) : [];
    });
  const site: Site = {
    folder,
    system,
    events,
    alive,
    said,
    run,
    states,
    runs,
    api: apiOf(system),
    controller: partOf(
      () => launch("slurmctld", ["-D", "-f", join(folder, "slurm.conf")]),
      async () => (await run("scontrol", "ping")).includes(" is UP"),
    ),
    agent: agentOn(),
    agentOn,
    changes: () => read("changes"),
    others: () => read("others"),
    app: appOf(system),
    submit: async (work, ...words) => {
      const job = [join(folder, "job"), String(work)];
      return (await run("sbatch", "--parsable", "--output=/dev/null", ...words, ...job)).trim();
    },
    calls: callsOf,
    faults: async () => [
      ...busyStops,
      ...unasked(events, callsOf("resume")),
      ...runs().flatMap(({ job, nodes, ended }) =>
        ended === undefined ? [`job ${job} was ended on ${nodes}`] : [],
      ),
      ...[...(await states())].flatMap(([name, state]) =>
        /^DOWN|DRAIN/.test(state) ? [`${name} is ${state}`] : [],
      ),
    ],
    until: async (what, most, check) => {
      for (const ends = Date.now() + most * 1000; !(await check()); await pause(250))
        if (Date.now() > ends) throw new Error(`${what}: not within ${most} s\n${await tellSite(site)}`);
    },
  };
  return site;
}

const addressOf = ({ url, keys }: LocalSystem) => ({ url, key: keys.host, waitSeconds: 60 });
/** Slurm shows a node as powering up before it runs the program, and the agent may see that first. */
const SHOWN_BEFORE_MS: Milliseconds = 5000;

/** Nodes that were created without a resume of their own. */
function unasked(events: readonly SimulatorEvent[], resumes: ReturnType<Site["calls"]>): readonly string[] {
  const left = [...resumes];
  return events.flatMap((event) => {
    if (event.kind !== "node-created") return [];
    const at = left.findIndex(
      ({ name, at: called }) => name === event.name && called <= event.at + SHOWN_BEFORE_MS,
    );
    if (at < 0) return [`${event.name} was created, and Slurm had not resumed it`];
    left.splice(at, 1);
    return [];
  });
}

const apiOf = (system: LocalSystem): ThrowingApi => openApi(addressOf(system));

const wordAfter = (line: string, key: string): string => line.split(key)[1]?.split(" ", 1).join("") ?? "";

/** What helps to find out why something did not come. */
async function tellSite({ run, states, folder, said, system, alive, api }: Site): Promise<string> {
  const lines = said.slice(-60).map(({ at, line }) => `${new Date(at).toISOString()} ${line}`);
  const explained = await Promise.all(
    alive()
      .slice(0, 3)
      .map((node) => api.explain(CLUSTER, { node })),
  );
  return [
    await run("squeue", "-a"),
    ...[...(await states())].map(([name, state]) => `${name} ${state}`),
    readFileSync(join(folder, "calls"), "utf8"),
    ...lines,
    ...explained.map((one) => JSON.stringify(one)),
    `app: ${system.url}`,
  ].join("\n");
}

function runsIn(lines: readonly string[]): readonly JobRun[] {
  const runs: JobRun[] = [];
  for (const line of lines) {
    const [job = "", word, at, nodes = ""] = line.split(" ");
    const open = runs.findLastIndex((one) => one.job === job && one.ended === undefined);
    const begun = runs[open];
    if (word === "begun") runs.push({ job, nodes, begun: Number(at) });
    else if (begun !== undefined) runs[open] = { ...begun, ended: Number(at) };
  }
  return runs;
}

/** Another host is a namespace of names, and another way to the shared folder: the agent is alone on its host by the path of the folder. */
function startAgent(
  {
    folder,
    system,
    launch,
    said,
  }: Pick<Site, "folder" | "system"> & Pick<Started, "launch"> & { said: { at: number; line: string }[] },
  host?: string,
): ChildProcess {
  const { url, keys } = system;
  const file = join(folder, host === undefined ? "slurm.map" : "other.map");
  const words = ["agent", "--scheduler", "slurm", "--file", file, "--url", url];
  const command = [process.execPath, "src/cli/main.ts", ...words, "--key", keys.host];
  const begin = `hostname ${host ?? hostname()}; export PATH=${folder}/bin:$PATH; exec "$@"`;
  const child = launch("unshare", ["--uts", "sh", "-c", begin, "sh", ...command]);
  for (const stream of [child.stdout, child.stderr])
    if (stream !== null)
      createInterface({ input: stream }).on("line", (line) => {
        said.push({ at: Date.now(), line });
        appendFileSync(join(folder, "agent.log"), `${new Date().toISOString()} ${line}\n`);
      });
  return child;
}

function partOf(launch: () => ChildProcess, isUp: () => Promise<boolean>): Part {
  let child: ChildProcess | undefined;
  return {
    start: async () => {
      child = launch();
      for (let tried = 0; !(await isUp().catch(() => false)); tried += 1) {
        if (tried === 150) throw new Error("it does not answer");
        await pause(200);
      }
    },
    kill: async (signal = "SIGKILL") => {
      if (child !== undefined) await end(child, signal);
      child = undefined;
    },
  };
}

function appOf(system: LocalSystem): Part {
  const port = Number(new URL(system.url).port);
  return {
    start: async () =>
      void (await system.startHost({ port, settings: { AUTOSCALER_LOCAL_CLOCK: realTime() } })),
    kill: async () => void (await system.hosts.at(-1)?.kill()),
  };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill(signal);
  await ended;
}

/** Starts a slurmd for each node that is Ready, and ends it, with all that runs there, when the node is stopped or gone. */
function followMachines(
  folder: string,
  { simulator }: LocalSystem,
  run: Site["run"],
  launch: Started["launch"],
): Pick<Site, "events" | "alive"> & { readonly busyStops: readonly string[] } {
  const events: SimulatorEvent[] = [];
  const busyStops: string[] = [];
  const names = new Map<string, string>();
  const stop = async (name: string): Promise<void> => {
    const jobs = await run("squeue", "-h", "-w", name, "-t", "R,CG,S", "-o", "%i %T").catch(() => "");
    if (jobs.trim() !== "") busyStops.push(`${name} was stopped with job ${jobs.trim()}`);
    endMarked(`${folder}/${name}`);
  };
  simulator.onEvent((event) => {
    events.push(event);
    if (event.kind === "node-created") names.set(event.nodeId, event.name);
    if (event.kind === "node-gone") names.delete(event.nodeId);
    if (event.kind === "node-ready")
      launch("slurmd", ["-D", "-b", "-f", join(folder, "slurm.conf"), "-N", event.name], event.name);
    if (event.kind === "terminate-accepted") void stop(event.name);
    if (event.kind === "node-gone" || event.kind === "node-down") endMarked(`${folder}/${event.name}`);
  });
  return { events, busyStops, alive: () => [...names.values()] };
}

/** Kills what has the mark in its environment, or in one that begins with it and a slash, and what these have started. */
function endMarked(mark: string): void {
  const parents = new Map<number, number>();
  const marked = new Set<number>();
  for (const name of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
    try {
      const pid = Number(name);
      parents.set(pid, Number(readFileSync(`/proc/${name}/stat`, "utf8").split(") ").at(-1)?.split(" ")[1]));
      const found = readFileSync(`/proc/${name}/environ`, "utf8").split("\0");
      const value = found.find((one) => one.startsWith("SIMULATED_MACHINE="))?.split("=")[1];
      if (value === mark || value?.startsWith(`${mark}/`) === true) marked.add(pid);
    } catch {
      // It has ended meanwhile.
    }
  }
  const isOf = (pid: number): boolean =>
    marked.has(pid) || ((parents.get(pid) ?? 0) > 1 && isOf(parents.get(pid) ?? 0));
  for (const pid of parents.keys())
    try {
      if (pid !== process.pid && isOf(pid)) process.kill(pid, "SIGKILL");
    } catch {
      // The same.
    }
}

const logTo = (folder: string): ((line: string) => void) => {
  const stream = createWriteStream(join(folder, "app.log"));
  return (line) => void stream.write(`${line}\n`);
};
