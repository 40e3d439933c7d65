import { QueueServiceClient } from "@azure/storage-queue";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import type { HostProcess } from "../../src/local/host/spawn-host.ts";
import type { LocalSystem } from "../../src/local/system.ts";
import { startSystem } from "../../src/local/system.ts";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import type { SimulatorEvent } from "../../src/simulator/events.ts";
type TerminateAccepted = Extract<SimulatorEvent, { kind: "terminate-accepted" }>;

type NodeReady = Extract<SimulatorEvent, { kind: "node-ready" }>;

/** Where the process dies: at the call of this number (from 1) or of this name, before it or after. */
export interface Crash {
  readonly at: number | string;
  readonly when: "before" | "after";
}

export interface SceneOptions {
  readonly speed: number;
  readonly origin: number;
  /** Functions that the host which crashes does not run by itself, so that nothing but the use case under test calls a port. */
  readonly still: readonly string[];
  readonly crash: Crash | undefined;
}

export const CLUSTER = "demo";
/** Some of what a test waits for comes in minutes of the app's clock. */
const PATIENCE_SIMULATED_MS = 900_000;

/** Nodes boot within 15 s, except in "stuck", where they never do. */
const simulator: SimulatorOptions = {
  clusters: [
    {
      name: CLUSTER,
      arrays: [
        array("execute", 10),
        array("burst", 10),
        array("idle", 10),
        { ...array("stuck", 10), timings: { secondsToAcquire: 10_000_000 } },
      ],
    },
  ],
  machineTypes: { Standard_F2s_v2: { vcpuCount: 2, memory: 4, family: "standardFSv2Family" } },
  timings: { secondsToAllocate: 2, secondsToAcquire: 5, secondsToPrepare: 5, secondsToTerminate: 10 },
  visibilityLagSeconds: 2,
};

function array(name: string, maxCount: number) {
  return {
    name,
    maxCount,
    region: "westeurope",
    machineTypes: ["Standard_F2s_v2"],
    configuration: { autoscale: { enabled: true } },
  };
}

const calledLine = z.object({ crashing: z.literal("call"), number: z.number(), call: z.string() });
const state = z.object({
  demand: z.array(z.object({ requestSet: z.string(), state: z.string(), demands: z.number() })),
  plan: z.object({ unmetCount: z.number() }).optional(),
  inFlight: z.array(z.unknown()),
  intents: z.array(z.unknown()),
  generation: z.number(),
  observedGeneration: z.number(),
});

/** What the state page says of the cluster. */
export type State = z.infer<typeof state>;

/** Emulator, simulator and a host with a crash in it; and what a test does to them from outside. */
export class Scene {
  readonly system: LocalSystem;
  readonly #lines: string[];
  readonly #still: readonly string[];
  #host: HostProcess;

  private constructor(system: LocalSystem, lines: string[], still: readonly string[], host: HostProcess) {
    this.system = system;
    this.#lines = lines;
    this.#still = still;
    this.#host = host;
  }

  static async open({ speed, origin, still, crash }: SceneOptions): Promise<Scene> {
    const lines: string[] = [];
    const system = await startSystem({
      simulator,
      speed,
      origin,
      app: pathOf("../support/crashing-app.ts"),
      extraSettings: {
        ...Object.fromEntries(still.map((name) => [`AzureWebJobs.${name}.Disabled`, "true"])),
        ...(crash === undefined ? {} : { CRASH_AT: String(crash.at), CRASH_WHEN: crash.when }),
      },
      onHostLine: (line) => lines.push(line),
    });
    const [host] = system.hosts;
    if (host === undefined) throw new Error("the system started no host");
    return new Scene(system, lines, still, host);
  }

  now(): number {
    return this.system.clock.now();
  }

  /** Everything that the hosts have said. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** From here on port calls are counted, and the crash is due. */
  async arm(): Promise<void> {
    process.kill(this.#host.pid, "SIGUSR2");
    await this.until("the crash is armed", () => this.#lines.some((line) => line.includes('"armed"')));
  }

  /** The port calls counted so far, in order. */
  calls(): readonly string[] {
    return this.#lines.flatMap((line) => {
      if (!line.startsWith('{"crashing":"call"')) return [];
      return [calledLine.parse(JSON.parse(line)).call];
    });
  }

  /** Does the use case. True: the host died of it. */
  async diesOf(useCase: () => Promise<void>): Promise<boolean> {
    const host = this.#host;
    const died = host.exited.then(() => true);
    const ended = useCase().then(
      () => false,
      // The connection breaks a moment before the process is reported dead.
      (error: unknown) => Promise.race([died, pause(5_000).then(() => Promise.reject(error))]),
    );
    return Promise.race([died, ended]);
  }

  /** A clean host, with all functions, takes the place of the one that died or has ended its use case. */
  async restart(): Promise<void> {
    await this.#host.stop();
    this.#host = await this.system.startHost({
      app: pathOf("../../functions/main.ts"),
      port: Number(new URL(this.system.url).port),
      settings: Object.fromEntries(this.#still.map((name) => [`AzureWebJobs.${name}.Disabled`, "false"])),
    });
  }

  // ---------------------------------------------------------------- what senders, timers and nodes do

  async sendMessage(message: object): Promise<void> {
    await this.#queue("demand").sendMessage(JSON.stringify(message));
  }

  async putSet(name: string, message: object): Promise<void> {
    await this.#call("PUT", `/request-sets/${name}`, { version: 1, ...message });
  }

  async putConfig(config: object): Promise<void> {
    await this.#call("PUT", "/config", config);
  }

  async tick(): Promise<void> {
    await this.#call("POST", "/tick", {});
  }

  /** Runs the timer function itself, and resolves when the tick has ended. */
  async runTimer(): Promise<void> {
    const before = this.#countLines('"event":"tick"');
    let asked = 0;
    // A wake message may have ticked just before: the timer finds nothing to do then, and is run again.
    const hasTicked = async (): Promise<boolean> => {
      if (this.#countLines('"event":"tick"') > before) return true;
      if (Date.now() - asked < 5000) return false;
      asked = Date.now();
      const response = await fetch(`${this.system.url}/admin/functions/snapshot`, {
        method: "POST",
        headers: { "x-functions-key": this.system.keys.master, "content-type": "application/json" },
        body: "{}",
      });
      if (response.status !== 202) throw new Error(`the timer could not be run: ${response.status}`);
      return false;
    };
    await this.until("the tick has ended", hasTicked);
  }

  async state(): Promise<State> {
    return state.parse(await this.#call("GET", ""));
  }

  /** Messages in a queue, hidden ones too. */
  async messages(name: string): Promise<number> {
    return (await this.#queue(name).getProperties()).approximateMessagesCount ?? 0;
  }

  /** Nodes that have become Ready, in order. */
  ready(): readonly NodeReady[] {
    this.system.simulator.advance();
    return this.system.simulator.log.filter((event) => event.kind === "node-ready");
  }

  /** Requests to stop a node that were accepted, in order. */
  stopped(): readonly TerminateAccepted[] {
    return this.system.simulator.log.filter((event) => event.kind === "terminate-accepted");
  }

  /** Waits until the simulated clock says so. */
  async sleepUntil(moment: number): Promise<void> {
    await this.system.clock.sleep(Math.max(0, moment - this.now()));
  }

  /** Polls until it holds; throws after a quarter of an hour of simulated time, and some real time. */
  async until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    const end = Date.now() + PATIENCE_MS;
    const simulatedEnd = this.now() + PATIENCE_SIMULATED_MS;
    while (!(await holds())) {
      if (Date.now() > end && this.now() > simulatedEnd) throw new Error(`waited in vain until ${what}`);
      // On the app's clock, so that a slower run asks no more often.
      await this.system.clock.sleep(3_000);
    }
  }

  #countLines(part: string): number {
    return this.#lines.filter((line) => line.includes(part)).length;
  }

  #queue(name: string) {
    return QueueServiceClient.fromConnectionString(this.system.connectionString).getQueueClient(name);
  }

  async #call(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${this.system.url}/api/clusters/${CLUSTER}${path}`, {
      method,
      headers: { "x-functions-key": this.system.keys.host },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) {
      const answer = `${response.status} ${await response.text()}`;
      throw new Error([`${method} ${path}: ${answer}`, ...this.#lines.slice(-10)].join("\n"));
    }
    return response.json();
  }
}

function pathOf(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}
