import type { StopCall } from "../../src/decide/autostop/stop-survey.ts";
import type { Answer, TransportRequest } from "../../src/adapters/cyclecloud/transport.ts";
import { operationOf } from "../../src/adapters/cyclecloud/transport.ts";
import type { StopAnswer } from "../../src/app/autostop/grant-stops.ts";
import type { StopDesk } from "../../src/app/autostop/answer-autostop.ts";
import { createStopDesk } from "../../src/app/autostop/answer-autostop.ts";
import { createLanes } from "../../src/app/process/lanes.ts";
import type { Clock, Site } from "../../src/app/ports/ports.ts";
import type { RecordStore } from "../../src/app/ports/record-store.ts";
import { PortError } from "../../src/app/ports/port-error.ts";
import { reconcileCluster } from "../../src/app/reconcile/reconcile-cluster.ts";
import type { DemandRecorder } from "../../src/app/demand/record-demand.ts";
import { createRecorder } from "../../src/app/demand/record-demand.ts";
import type { MemoryComposition } from "../../src/compose.ts";
import { composeInMemory } from "../../src/compose.ts";
import type { RequestSetUpdate } from "../../src/domain/demand.ts";
import { clusterName, setName, wakeId } from "../../src/domain/ids.ts";
import type { Plan } from "../../src/domain/plan.ts";
import type { Policy } from "../../src/domain/policy.ts";
import { DEFAULT_POLICY, LONGEST_EXPIRATION_SECONDS } from "../../src/domain/policy.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import { instant } from "../../src/domain/units.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import type { SimulatorEvent } from "../../src/simulator/events.ts";
import type { MessageRead } from "../../src/wire/message/message-read.ts";
import { emptyRequestSet, readDemandMessage, readRequestSet } from "../../src/wire/message/demand-message.ts";
import type { DemandMessage } from "../../src/wire/message/message.ts";
import type { ClusterShape } from "./shape.ts";
import { CLUSTER, simulatorOptions } from "./shape.ts";
import type { App } from "../../src/app/process/lanes.ts";

/** A Thursday at midnight. Any moment is fine if it is the same in every run. */
const ORIGIN = Date.UTC(2026, 0, 1);
const MINUTE_MS = 60_000;
const COLLECT_MINUTES = 10;

/** Short times, so that much happens in a short sequence. */
export const POLICY: Policy = { ...DEFAULT_POLICY, bootTimeoutSeconds: 240, maxExpirationSeconds: 1800 };

/** Hears of what the app and its CycleCloud do. */
export interface Audience {
  /** A plan was committed; `before` is the record that it was made on. */
  planned(plan: Plan, before: ClusterRecord | undefined, after: ClusterRecord): void;
  happened(event: SimulatorEvent): void;
  sent(request: TransportRequest): void;
  /** CycleCloud refused a request, or its answer was lost. */
  failed(request: TransportRequest): void;
}

/** A message as it is in the queue, or as it came over HTTP. */
export interface Parcel {
  readonly door: "queue" | "http";
  readonly message: DemandMessage;
  readonly id: string;
  readonly insertedAt: number;
}

/** Opens a new store. Its bodies are dated by this clock. */
export type OpenStore = (clock: Pick<Clock, "now">) => RecordStore;

/** The app's answer to a message. `mark` orders two demands of one revision. `follow` does what comes after the acknowledgement. */
export interface Delivered {
  readonly answer: string;
  readonly mark: string;
  readonly follow: () => Promise<void>;
}

/**
 * The use cases and decisions of the app before a simulated CycleCloud. The clock moves only between them, and they run one after the
 * other: test/simulation plays crashes and races.
 */
export class Rig {
  readonly simulator: Simulator;
  readonly #audience: Audience;
  readonly #site: Site;
  readonly #app: App;
  readonly #recorder: DemandRecorder;
  readonly #stopDesk: StopDesk;
  readonly #queue: MemoryComposition["queue"];
  readonly #store: RecordStore;
  #now = ORIGIN;
  #nextTickAt = ORIGIN;
  #wakes: { readonly at: number; readonly id?: string }[] = [];

  constructor(shape: ClusterShape, openStore: OpenStore, audience: Audience) {
    this.#audience = audience;
    const clock: Clock = {
      now: () => instant(this.#now),
      // No other work waits, so a sleep moves the clock at once. A sleep with a signal bounds a wait, and no wait takes time here.
      sleep: async (milliseconds, signal) => {
        if (signal === undefined) this.#now += Math.max(0, milliseconds);
        else if (!signal.aborted) await new Promise((ended) => signal.addEventListener("abort", ended));
      },
    };
    this.simulator = new Simulator(simulatorOptions(shape), clock);
    this.simulator.onEvent((event) => audience.happened(event));
    const composed = composeInMemory({
      cluster: CLUSTER,
      clock,
      transport: { send: async (request) => this.#send(request) },
      publicUrl: "http://autoscaler.invalid",
      autostopKeys: { current: "v", byId: new Map([["v", "a model needs no secret"]]) },
      policy: POLICY,
      log: () => undefined,
    });
    this.#store = this.#watch(openStore(clock));
    this.#app = { ports: { ...composed.app.ports, store: this.#store }, lanes: createLanes() };
    this.#recorder = createRecorder(this.#app);
    this.#stopDesk = createStopDesk(this.#app);
    this.#queue = composed.queue;
    const site = composed.app.ports.sites.get(clusterName(CLUSTER));
    if (site === undefined) throw new Error("the composition has no cluster");
    this.#site = site;
  }

  get now(): number {
    return this.#now;
  }

  async record(): Promise<ClusterRecord | undefined> {
    return (await this.#store.load(this.#site.cluster))?.record;
  }

  /** Delivers a message, as functions/demand.ts and functions/api.ts do after they have read it. */
  async deliver(parcel: Parcel): Promise<Delivered> {
    const read = this.#read(parcel);
    if (read.kind !== "update") return { answer: read.kind, mark: "", follow: async () => undefined };
    return this.#take(read.update, parcel.door);
  }

  /** DELETE of a request set. */
  async remove(set: string): Promise<Delivered> {
    const now = instant(this.#now);
    const revision = { value: now, tieBreak: "" };
    const empty = emptyRequestSet(
      this.#site.cluster,
      setName(set),
      revision,
      now,
      LONGEST_EXPIRATION_SECONDS,
    );
    return this.#take(empty, "http");
  }

  /** Lets nodes ask at the same moment. */
  async ask(calls: readonly StopCall[]): Promise<readonly StopAnswer[]> {
    const answers = await Promise.all(calls.map((call) => this.#stopDesk.ask(this.#site, call)));
    // An observation that a question has begun ends before anything else happens.
    await this.#stopDesk.ended();
    this.#collectWakes();
    return answers;
  }

  /** Lets this many seconds pass, with all ticks and wake messages that are due. */
  async pass(seconds: number): Promise<void> {
    const end = this.#now + seconds * 1000;
    for (;;) {
      const wakeAt = Math.min(...this.#wakes.map(({ at }) => at));
      const next = Math.max(this.#now, Math.min(this.#nextTickAt, wakeAt));
      if (next > end) break;
      this.#now = next;
      if (this.#nextTickAt <= next) await this.#tick();
      else await this.#wake(next);
      this.#collectWakes();
    }
    this.#now = Math.max(this.#now, end);
  }

  /** Lets this many seconds pass in which the app does not run. Messages in the queue wait. */
  jump(seconds: number): void {
    this.#now += seconds * 1000;
    this.#nextTickAt = Math.max(this.#nextTickAt, this.#nextMinute());
  }

  #read({ door, message, id, insertedAt }: Parcel): MessageRead {
    const common = {
      now: instant(this.#now),
      maxExpirationSeconds: LONGEST_EXPIRATION_SECONDS,
      knownClusters: new Set([CLUSTER]),
    };
    if (door === "queue")
      return readDemandMessage(message, { ...common, messageId: id, insertedAt: instant(insertedAt) });
    const set = setName(message.requestSet ?? "");
    return readRequestSet(message, { ...common, cluster: this.#site.cluster, set });
  }

  async #take(update: RequestSetUpdate, door: Parcel["door"]): Promise<Delivered> {
    const recorded = await this.#recorder.record(update);
    const follow = async (): Promise<void> => {
      if (recorded.kind !== "accepted") return;
      if (door === "queue") await reconcileCluster(this.#app, this.#site, "demand", recorded.record);
      else if (recorded.changed) await this.#queue.wake(this.#site.cluster, instant(this.#now));
      this.#collectWakes();
    };
    return { answer: recorded.kind, mark: update.demand === undefined ? "" : update.digest, follow };
  }

  async #tick(): Promise<void> {
    const minute = Math.floor(this.#now / MINUTE_MS);
    await reconcileCluster(this.#app, this.#site, "due");
    if (minute % COLLECT_MINUTES === 0) await this.#store.collect(this.#site.cluster, instant(this.#now));
    this.#nextTickAt = this.#nextMinute();
  }

  async #wake(at: number): Promise<void> {
    const [next, ...later] = this.#wakes.toSorted((a, b) => a.at - b.at);
    this.#wakes = later;
    this.#now = at;
    await (next?.id === undefined
      ? reconcileCluster(this.#app, this.#site, "demand")
      : reconcileCluster(this.#app, this.#site, "due", undefined, wakeId(next.id)));
  }

  #nextMinute(): number {
    return (Math.floor(this.#now / MINUTE_MS) + 1) * MINUTE_MS;
  }

  #collectWakes(): void {
    for (const item of this.#queue.drain())
      this.#wakes.push({
        at: item.at,
        ...(item.kind === "wake" && item.id !== undefined ? { id: item.id } : {}),
      });
  }

  #send(request: TransportRequest): Answer {
    this.#audience.sent(request);
    const answer = this.simulator.request(request);
    if (answer.status < 200 || answer.status >= 300) this.#audience.failed(request);
    if (answer.cut === true) {
      this.#audience.failed(request);
      throw new PortError("unreachable", operationOf(request), "the connection broke");
    }
    return answer;
  }

  #watch(store: RecordStore): RecordStore {
    return {
      ...store,
      save: async (record, changes, previous) => {
        const saved = await store.save(record, changes, previous);
        if (saved.kind === "saved" && changes.plan !== undefined)
          this.#audience.planned(changes.plan, previous?.record, record);
        return saved;
      },
    };
  }
}
