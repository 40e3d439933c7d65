import { QueueServiceClient } from "@azure/storage-queue";
import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test, vi } from "vitest";
import { z } from "zod";
import type { HostProcess } from "../../src/local/host/spawn-host.ts";
import type { LocalSystem } from "../../src/local/system.ts";
import { startSystem } from "../../src/local/system.ts";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import type { DemandMessage, JobMessage } from "../../src/wire/message/message.ts";
import { Dice } from "../simulation/dice.ts";
import { hostileBodies, hostileMessages } from "../support/hostile-inputs.ts";
import { times } from "../support/hostile-jobs.ts";
import { paced, PATIENCE_MS, TIMEOUT_MS } from "../support/patience.ts";

/**
 * A real host process with the heap that V8 takes on an instance of 2,048 MB, the default, and of 512 MB: demand that needs more memory than there is never
 * ends it, ticks go on, and an honest set beside it gets its nodes (docs/protocol.md, Memory). The heap is all of it: what is said of the old
 * generation alone lets the young one have up to 192 MiB beside it.
 */
const DEFAULT_HEAP_MIB = 1048 as const;
const SMALL_HEAP_MIB = 259 as const;
/** What V8 takes for half of the young generation, in MiB, with these heaps. */
const HALF_YOUNG_MIB = { [DEFAULT_HEAP_MIB]: 8, [SMALL_HEAP_MIB]: 1 } as const;

/** A cluster with an array that hostile demand may use, and one for the honest set. */
function clusterOptions(): SimulatorOptions {
  return {
    clusters: [
      {
        name: "demo",
        arrays: [
          { name: "hpc", region: "westeurope", machineTypes: ["Standard_F4s_v2"] },
          { name: "htc", region: "westeurope", machineTypes: ["Standard_F4s_v2"] },
        ],
      },
    ],
    machineTypes: { Standard_F4s_v2: { vcpuCount: 4, memory: 8, family: "standardFSv2Family" } },
    quotas: { regional: { westeurope: 40_000 } },
    timings: {
      secondsToAllocate: 4,
      secondsToAcquire: 20,
      secondsToPrepare: 30,
      secondsToTerminate: 20,
      jitter: 0.5,
    },
    keepLog: false,
  };
}

/** One app in one process, which is started again when it ends, as the platform does. */
class OneInstance {
  readonly system: LocalSystem;
  readonly #port: number;
  #isOver = false;
  #host: HostProcess;
  starts = 1;

  private constructor(system: LocalSystem, host: HostProcess) {
    this.system = system;
    this.#host = host;
    this.#port = Number(new URL(system.url).port);
    void this.#keep();
  }

  static async start(heapMib: keyof typeof HALF_YOUNG_MIB): Promise<OneInstance> {
    vi.stubEnv("NODE_OPTIONS", `--max-heap-size=${heapMib} --max-semi-space-size=${HALF_YOUNG_MIB[heapMib]}`);
    const heaps: number[] = [];
    const system = await startSystem({
      simulator: clusterOptions(),
      speed: paced(10),
      onHostLine: (line) => {
        const said = /"event":"started".*"heapMiB":(\d+)/.exec(line)?.[1];
        if (said !== undefined) heaps.push(Number(said));
      },
    });
    const [host] = system.hosts;
    if (host === undefined) throw new Error("no host was started");
    running = new OneInstance(system, host);
    await running.call("GET", "/api/health");
    await until("the heap that the app says it has", () => heaps.length > 0);
    expect(heaps).toEqual([heapMib]);
    return running;
  }

  async #keep(): Promise<void> {
    while (!this.#isOver) {
      await this.#host.exited;
      if (this.#isOver) return;
      this.#host = await this.system.startHost({ port: this.#port });
      this.starts += 1;
    }
  }

  /** The most memory that the process has held, in MiB. */
  peakMib(): number {
    const status = readFileSync(`/proc/${this.#host.pid}/status`, "utf8");
    return Math.round(Number(/VmHWM:\s+(\d+)/.exec(status)?.[1]) / 1024);
  }

  /** The status of an answer, and its JSON. 0: there was no answer in time. */
  async call(
    method: string,
    path: string,
    body?: Uint8Array,
  ): Promise<{ readonly status: number; readonly json: unknown }> {
    try {
      const answer = await fetch(this.system.url + path, {
        method,
        headers: { "x-functions-key": this.system.keys.host },
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      const text = await answer.text();
      return { status: answer.status, json: text === "" ? undefined : JSON.parse(text) };
    } catch {
      return { status: 0, json: undefined };
    }
  }

  put(set: string, message: Partial<DemandMessage>): ReturnType<OneInstance["call"]> {
    const body = gzipSync(JSON.stringify({ version: 1, expirationInterval: 3000, ...message }));
    return this.call("PUT", `/api/clusters/demo/request-sets/${set}`, body);
  }

  async putBody(set: string, body: string): Promise<number> {
    return (await this.call("PUT", `/api/clusters/demo/request-sets/${set}`, Buffer.from(body))).status;
  }

  async send(set: string, jobs: readonly JobMessage[]): Promise<void> {
    const message = { version: 1, cluster: "demo", requestSet: set, expirationInterval: 86_400, jobs };
    await this.sendText(gzipSync(JSON.stringify(message)).toString("base64"));
  }

  /** 202: the message is in the queue. */
  async sendText(text: string): Promise<number> {
    const queue = QueueServiceClient.fromConnectionString(this.system.connectionString).getQueueClient(
      "demand",
    );
    await queue.sendMessage(text);
    return 202;
  }

  /** How many sets are live, and how many messages were refused. */
  async taken(): Promise<{ readonly live: number; readonly refused: number }> {
    const { demandCounts } = stateShape.parse((await this.call("GET", "/api/clusters/demo")).json);
    const { rejectedMessages } = healthShape.parse((await this.call("GET", "/api/health")).json);
    return { live: demandCounts.live, refused: rejectedMessages.count };
  }

  async planNumber(): Promise<number> {
    return stateShape.parse((await this.call("GET", "/api/clusters/demo")).json).plan.number;
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.system.close();
  }
}

const stateShape = z.object({
  demandCounts: z.object({ live: z.number() }).prefault({ live: 0 }),
  plan: z.object({ number: z.number() }).prefault({ number: 0 }),
});
const healthShape = z.object({ rejectedMessages: z.object({ count: z.number() }) });

let running: OneInstance | undefined;
afterEach(async () => {
  await running?.close();
  running = undefined;
  vi.unstubAllEnvs();
});

/** Waits for a condition, for several waits of patience. */
async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + TIMEOUT_MS / 2;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`not in time: ${what}`);
    await pause(500);
  }
}

/** All these messages are in the record, or refused. */
const untilTaken = (app: OneInstance, messages: number): Promise<void> =>
  until("all messages", async () => {
    const { live, refused } = await app.taken();
    return live + refused >= messages;
  });

/** An honest set asks for two nodes of an array that no other set names, and three more plans are made. */
async function expectHonest(app: OneInstance): Promise<void> {
  const asked = await app.put("honest", { nodearrays: [{ Name: "htc", TargetCount: 2 }] });
  expect(asked.status).toBe(202);
  await until("two nodes for the honest set", () => nodesIn(app, "htc") >= 2);
  const before = await app.planNumber();
  await until("three more plans", async () => (await app.planNumber()) >= before + 3);
}

const nodesIn = ({ system }: OneInstance, array: string): number =>
  system.simulator.readyNodes().filter(({ name }) => name.startsWith(`${array}-`)).length;

/** 800 jobs of 20 alternatives each: a message of 64 KB, and 3 MB of JSON as it is kept. */
const alternatives = (set: number): readonly JobMessage[] =>
  times(800, (k) => ({
    name: `j${k}`,
    iterations: 3 + k,
    constraints: {
      or: times(20, (a) => ({ ncpus: 1 + a + set, [`r${k % 50}`]: [1, 2, 3], "node.vm_size": `*${a}` })),
    },
  }));

/** 3,000 jobs of which no two are alike. */
const distinct = (): readonly JobMessage[] =>
  times(3000, (k) => ({
    name: `j${k}`,
    iterations: 2,
    constraints: { ncpus: 1 + (k % 100) / 100, [`x${k}`]: k, [`y${k}`]: ["a", "b", "c*"] },
  }));

const many = (count: number, prefix: string): readonly JobMessage[] =>
  times(count, (k) => ({
    name: `${prefix}-${k}`,
    iterations: 1,
    constraints: { ncpus: 1, [`r${k % 7}`]: k },
  }));

describe.each([
  { name: "the default size", heap: DEFAULT_HEAP_MIB },
  { name: "512 MB", heap: SMALL_HEAP_MIB },
])("with the heap of $name", ({ heap }) => {
  test("twenty sets of 800 jobs with 20 alternatives by the queue", async () => {
    const app = await OneInstance.start(heap);
    for (let set = 0; set < 20; set += 1) await app.send(`e${set}`, alternatives(set));
    await untilTaken(app, 20);
    await expectHonest(app);
    await report("twenty sets", heap, app);
    expect(app.starts).toBe(1);
  });

  test("sixty sets of 3,000 jobs of which no two are alike", async () => {
    const app = await OneInstance.start(heap);
    for (let set = 0; set < 60; set += 1) await app.send(`e${set}`, distinct());
    await untilTaken(app, 60);
    await expectHonest(app);
    await report("sixty sets", heap, app);
    expect(app.starts).toBe(1);
  });

  test("four PUTs of 190,000 jobs, of 90,000 jobs, and of bombs, at once", async () => {
    const app = await OneInstance.start(heap);
    const bomb = {
      nodearrays: [{ Name: "hpc", TargetCount: 1, Configuration: { a: times(1_900_000, () => 0) } }],
    };
    for (const message of [{ jobs: many(190_000, "a") }, { jobs: many(90_000, "b") }, bomb]) {
      const answers = await Promise.all(times(4, (one) => app.put(`evil${one}`, message)));
      for (const { status } of answers) expect([202, 400, 409, 413, 503]).toContain(status);
    }
    await expectHonest(app);
    await report("four PUTs", heap, app);
    expect(app.starts).toBe(1);
  });

  test.each([1, 2, 3])(
    "24 hostile messages of all kinds at once, by queue and HTTP, mix %i",
    async (seed) => {
      const app = await OneInstance.start(heap);
      const dice = new Dice(seed);
      const inputs = [...hostileMessages(), ...hostileBodies()];
      const drawn = times(24, () => inputs[dice.whole(0, inputs.length - 1)]);
      const mix = drawn.filter((one) => one !== undefined);
      const statuses = await Promise.all(
        mix.map(({ door, body }, at) =>
          door === "queue" ? app.sendText(body) : app.putBody(`evil${at}`, body),
        ),
      );
      for (const status of statuses) expect([0, 202, 400, 408, 409, 413, 429, 503]).toContain(status);
      await expectHonest(app);
      await report(`24 at once, mix ${seed}`, heap, app);
      expect(app.starts).toBe(1);
    },
  );
});

test.each([
  { count: 100_000, heap: DEFAULT_HEAP_MIB },
  { count: 25_000, heap: SMALL_HEAP_MIB },
])(
  "one set of $count jobs is taken with the heap of $heap MiB, again when all of it changed, and tried",
  async ({ count, heap }) => {
    const app = await OneInstance.start(heap);
    for (const prefix of ["a", "b"])
      expect((await app.put("large", { jobs: many(count, prefix) })).status).toBe(202);
    await expectHonest(app);
    const requestSets = { large: { jobs: many(count, "c") } };
    const tried = await app.call(
      "POST",
      "/api/clusters/demo/plan",
      gzipSync(JSON.stringify({ requestSets })),
    );
    expect(tried.status).toBe(200);
    await report(`${count} jobs`, heap, app);
    expect(app.starts).toBe(1);
  },
);

test("2,000 sets are taken and planned, also with the heap of 512 MB", async () => {
  const app = await OneInstance.start(SMALL_HEAP_MIB);
  const constraints = { ncpus: 1, mem: "memory::1g", "node.nodearray": "hpc" };
  for (let set = 0; set < 2000; set += 20) {
    const answers = await Promise.all(
      times(20, (one) =>
        app.put(`s${set + one}`, { jobs: [{ name: `j${set + one}`, iterations: 1, constraints }] }),
      ),
    );
    for (const { status } of answers) expect(status).toBe(202);
  }
  await expectHonest(app);
  await report("2,000 sets", SMALL_HEAP_MIB, app);
  expect(app.starts).toBe(1);
});

async function report(what: string, heap: number, app: OneInstance): Promise<void> {
  const { live, refused } = await app.taken();
  const found = `${app.starts} start(s), peak ${app.peakMib()} MiB, ${live} live sets, ${refused} refused`;
  console.log(`${what}, heap ${heap} MiB: ${found}`);
}
