import { once } from "node:events";
import { tableRecordStore } from "../../src/adapters/tables/record-store.ts";
import type { Table } from "../../src/adapters/tables/table.ts";
import { describeCluster } from "../../src/app/describe/describe-cluster.ts";
import { describeNodeHistory } from "../../src/app/describe/describe-node-history.ts";
import { readPage } from "../../src/app/describe/pages.ts";
import { createLanes } from "../../src/app/process/lanes.ts";
import type { Clock, Site } from "../../src/app/ports/ports.ts";
import { reconcileCluster } from "../../src/app/reconcile/reconcile-cluster.ts";
import { createRecorder } from "../../src/app/demand/record-demand.ts";
import { composeInMemory } from "../../src/compose.ts";
import { clusterName } from "../../src/domain/ids.ts";
import type { Policy } from "../../src/domain/policy.ts";
import { DEFAULT_POLICY, LONGEST_EXPIRATION_SECONDS } from "../../src/domain/policy.ts";
import { instant } from "../../src/domain/units.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import { readDemandMessage } from "../../src/wire/message/demand-message.ts";
import type { ClusterShown } from "../../src/wire/api/cluster-answer.ts";
import type { NodeHistoryShown } from "../../src/wire/api/node-history-answer.ts";
import type { DemandMessage } from "../../src/wire/message/message.ts";
import type { Cost } from "./store-meter.ts";
import { StoreMeter } from "./store-meter.ts";
import type { App } from "../../src/app/process/lanes.ts";

const CLUSTER = clusterName("demo");
const NODES_PER_SET = 5;
const CORES = 4;

/** A cluster of thousands of request sets and nodes, on Table Storage; each set's job needs five whole nodes. */
export class LargeCluster {
  readonly #sets: number;
  readonly #plain: Table;
  readonly #simulator: Simulator;
  readonly #clock: Clock;
  #app: App;
  #now = Date.UTC(2026, 0, 1);
  readonly #meter = new StoreMeter();
  #policy = DEFAULT_POLICY;

  constructor(table: Table, sets: number) {
    this.#sets = sets;
    this.#plain = table;
    this.#clock = { now: () => instant(this.#now), sleep: (ms, signal) => this.#sleep(ms, signal) };
    this.#simulator = new Simulator(optionsFor(sets * NODES_PER_SET), this.#clock);
    this.#app = this.#start();
  }

  async prepare(): Promise<void> {
    await this.#plain.ensure();
  }

  /** A process that knows nothing yet. */
  restart(): void {
    this.#app = this.#start();
  }

  /** The same process has another configuration from now on. */
  configure(policy: Policy): void {
    this.#policy = policy;
    const { ports, lanes } = this.#app;
    this.#app = { ports: { ...ports, policyOf: () => Promise.resolve(policy) }, lanes };
  }

  pass(seconds: number): void {
    this.#now += seconds * 1000;
  }

  /** Sends messages of some sets, `atOnce` at a time, as the queue hands them to a function. `slots` more than usual make another demand. */
  async push(from: number, to: number, atOnce: number, slots = 0): Promise<void> {
    const recorder = createRecorder(this.#app);
    for (let first = from; first < to; first += atOnce) {
      const numbers = Array.from({ length: Math.min(atOnce, to - first) }, (_, index) => first + index);
      await Promise.all(
        numbers.map(async (number) => {
          const read = this.#read(messageOf(number % this.#sets, this.#now, slots));
          const { kind } = await recorder.record(read);
          if (kind !== "accepted") throw new Error(`set ${number} was ${kind}`);
        }),
      );
    }
  }

  /** What the timer does. */
  async reconcile(): Promise<string> {
    const { kind } = await reconcileCluster(this.#app, this.#site(), "tick");
    return kind;
  }

  /** The answer about the cluster, by pages. */
  async answers(): Promise<readonly ClusterShown[]> {
    const pages: ClusterShown[] = [];
    for (let next: string | undefined = ""; next !== undefined; next = pages.at(-1)?.next)
      pages.push(
        await describeCluster(this.#app, CLUSTER, undefined, next === "" ? undefined : readPage(next)),
      );
    return pages;
  }

  /** The pages of the history of nodes, as the page asks for them. */
  async nodeHistory(): Promise<readonly NodeHistoryShown[]> {
    const pages: NodeHistoryShown[] = [];
    const range = { from: instant(0), to: this.#clock.now(), limit: 2000 };
    for (let after: string | undefined = ""; after !== undefined; after = pages.at(-1)?.next)
      pages.push(await describeNodeHistory(this.#app, CLUSTER, after === "" ? range : { ...range, after }));
    return pages;
  }

  async collect(): Promise<void> {
    await this.#app.ports.store.collect(CLUSTER, this.#clock.now());
  }

  countNodes(): number {
    return this.#simulator.summarize().nodesCreated;
  }

  /** What some work asks of the storage service. */
  costOf(work: () => Promise<unknown>): Promise<Cost> {
    return this.#meter.costOf(work);
  }

  /** What bounds other work beside it never gets that far: work takes no time here. */
  async #sleep(ms: number, beside: AbortSignal | undefined): Promise<void> {
    if (beside === undefined) this.#now += ms;
    else if (!beside.aborted) await once(beside, "abort");
  }

  #start(): App {
    const composed = composeInMemory({
      cluster: CLUSTER,
      clock: this.#clock,
      transport: { send: async (request) => this.#simulator.request(request) },
      publicUrl: "http://autoscaler.invalid",
      autostopKeys: { current: "v", byId: new Map([["v", "no secret"]]) },
      policy: this.#policy,
      log: () => undefined,
    });
    const store = this.#meter.timed(tableRecordStore(this.#meter.counted(this.#plain), this.#clock));
    return { ports: { ...composed.app.ports, store }, lanes: createLanes() };
  }

  #site(): Site {
    const site = this.#app.ports.sites.get(CLUSTER);
    if (site === undefined) throw new Error("the composition has no cluster");
    return site;
  }

  #read(message: DemandMessage) {
    const now = this.#clock.now();
    const read = readDemandMessage(message, {
      messageId: "m",
      insertedAt: now,
      now,
      maxExpirationSeconds: LONGEST_EXPIRATION_SECONDS,
    });
    if (read.kind !== "update") throw new Error(`the message was ${read.kind}`);
    return read.update;
  }
}

function messageOf(number: number, now: number, slots: number): DemandMessage {
  return {
    version: 1,
    cluster: CLUSTER,
    requestSet: `job-${number}`,
    revision: now,
    expirationInterval: 600,
    jobs: [
      {
        name: `relaxation-${number}.server`,
        user: `user${number % 97}`,
        iterations: NODES_PER_SET + slots,
        constraints: [{ ncpus: CORES, mem: "memory::1g", "node.nodearray": "execute" }],
      },
    ],
  };
}

function optionsFor(nodes: number): SimulatorOptions {
  return {
    clusters: [
      {
        name: CLUSTER,
        arrays: [{ name: "execute", region: "westeurope", machineTypes: ["Standard_F4s_v2"] }],
      },
    ],
    machineTypes: { Standard_F4s_v2: { vcpuCount: CORES, memory: 8, family: "standardFSv2Family" } },
    quotas: { regional: { westeurope: nodes * CORES * 2 } },
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
