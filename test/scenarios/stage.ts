import { handleAutostop } from "../../functions/autostop.ts";
import { handleDemand } from "../../functions/demand.ts";
import { handleSnapshot } from "../../functions/snapshot.ts";
import { createStopDesk } from "../../src/app/autostop/answer-autostop.ts";
import type { QueuedItem } from "../../src/adapters/memory/demand-queue.ts";
import { createLanes } from "../../src/app/process/lanes.ts";
import { createRecorder } from "../../src/app/demand/record-demand.ts";
import { describeComparison } from "../../src/app/describe/describe-comparison.ts";
import type { HealthShown } from "../../src/wire/api/parts.ts";
import { checkHealth } from "../../src/app/describe/describe-health.ts";
import { describeCluster } from "../../src/app/describe/describe-cluster.ts";
import type { Explanation, Question } from "../../src/app/describe/explain-cluster.ts";
import type { HistoryRow } from "../../src/app/ports/history.ts";
import { explain } from "../../src/app/describe/explain-cluster.ts";
import { tickInTime } from "../../src/app/tick.ts";
import type { Composition, MemoryComposition } from "../../src/compose.ts";
import { composeInMemory } from "../../src/compose.ts";
import { clusterName } from "../../src/domain/ids.ts";
import type { Policy } from "../../src/domain/policy.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import { instant } from "../../src/domain/units.ts";
import { readStopUrl } from "../../src/local/play/stop-url.ts";
import { drainMicrotasks, VirtualClock } from "../../src/local/play/virtual-clock.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import type { SimulatorEvent } from "../../src/simulator/events.ts";
import type { DemandMessage } from "../../src/wire/message/message.ts";
import { mergingBy } from "../support/configuration-merge.ts";
import { readState } from "./state.ts";
import type { ClusterState } from "./state.ts";
import { MINUTE_MS, ORIGIN, newProcess } from "./stage-options.ts";
import type { Actor, Backup, ReadyNode, Send, Sent, StageOptions } from "./stage-options.ts";

/**
 * The functions, the store and a CycleCloud on one virtual clock. The timer fires at each full minute and its runs never overlap, as the
 * host's do (platform.md section 3); queue messages are delivered in their order, at once.
 */
export class Stage {
  readonly clock = new VirtualClock(ORIGIN);
  readonly simulator: Simulator;
  /** What becomes of wake messages: each arrives, none does, or each arrives twice. */
  wakesArrive: "once" | "never" | "twice" = "once";
  #composed: Composition;
  readonly #queues: readonly MemoryComposition["queue"][];
  readonly #sent: Sent[] = [];
  readonly #ready = new Map<string, ReadyNode>();
  #failure: { readonly error: unknown } | undefined;
  #messages = 0;
  #wakes: readonly Extract<QueuedItem, { kind: "wake" }>[] = [];
  #nextTickAt = ORIGIN;
  #ticking = false;
  #hostIsUp = true;
  #timerIsOn = true;
  #undelivered: (() => Promise<unknown>)[] = [];
  #actors: readonly Actor[] = [];

  constructor(options: StageOptions) {
    this.simulator = new Simulator(mergingBy(options.simulator), this.clock);
    this.simulator.onEvent((event) => this.#note(event));
    const send: Send = (request) => {
      const { method, path, query, body } = request;
      this.#sent.push({ at: this.clock.now(), method, path, body });
      return Promise.resolve(
        this.simulator.request({ method, path, query, ...(body === undefined ? {} : { body }) }),
      );
    };
    const transport = { send: options.between?.(send, this.clock) ?? send };
    const compositions = options.simulator.clusters.map(({ name }) =>
      composeInMemory({
        cluster: name,
        clock: this.clock,
        transport,
        publicUrl: "http://autoscaler.invalid",
        autostopKeys: { current: "v", byId: new Map([["v", "scenarios need no secret"]]) },
        policy: { ...DEFAULT_POLICY, ...options.policy },
        log: options.log ?? (() => undefined),
      }),
    );
    const [first] = compositions;
    if (first === undefined) throw new Error("a stage needs a cluster");
    this.#queues = compositions.map(({ queue }) => queue);
    const sites = new Map(compositions.flatMap(({ app }) => [...app.ports.sites]));
    this.#composed = { ...first, app: { ports: { ...first.app.ports, sites }, lanes: createLanes() } };
  }

  /** Every request that CycleCloud got, oldest first. */
  get sent(): readonly Sent[] {
    return this.#sent;
  }

  /** Nodes that are Ready and that nobody has asked to stop, in the order in which they came up. */
  get readyNodes(): readonly ReadyNode[] {
    return [...this.#ready.values()];
  }

  eventsOf<K extends SimulatorEvent["kind"]>(kind: K): readonly Extract<SimulatorEvent, { kind: K }>[] {
    return this.simulator.log.filter(
      (event): event is Extract<SimulatorEvent, { kind: K }> => event.kind === kind,
    );
  }

  /** Puts a message into the queue; resolves when its function has answered. While the host is down it waits. */
  push(message: DemandMessage): Promise<void> {
    const insertedAt = this.clock.now();
    const id = `message-${(this.#messages += 1)}`;
    const triggerMetadata = { id, insertionTime: new Date(insertedAt) };
    return this.#deliver(() => handleDemand(this.#composed, message, { invocationId: id, triggerMetadata }));
  }

  /** The same for a sender who does not wait for the function. */
  send(message: DemandMessage): void {
    this.#watch(this.push(message));
  }

  join(actor: Actor): void {
    this.#actors = [...this.#actors, actor];
  }

  /** GET of the node's stop URL: the answer's status; 0 while nobody listens. */
  async ask(
    node: Pick<ReadyNode, "stopUrl" | "instanceId">,
    query: Readonly<Record<string, string>> = {},
  ): Promise<number> {
    if (!this.#hostIsUp) return 0;
    const [cluster = "", token = ""] = new URL(node.stopUrl).pathname
      .split("/")
      .slice(-2)
      .map(decodeURIComponent);
    const answer = await handleAutostop(this.#composed, {
      params: { cluster, token },
      query: new URLSearchParams({ instance: node.instanceId, ...query }),
    });
    return answer.status ?? 200;
  }

  /** What the state page says. */
  async state(cluster: string): Promise<ClusterState> {
    return readState(await describeCluster(this.#composed.app, clusterName(cluster)));
  }

  /** What a probe of health asks. */
  probe(cluster: string): Promise<HealthShown> {
    return checkHealth(this.#composed.app, clusterName(cluster));
  }

  /** What the real and the virtual fleet have been like. */
  comparison(cluster: string) {
    return describeComparison(this.#composed.app, clusterName(cluster), {});
  }

  /** The cluster has another configuration from now on. */
  configure(policy: Policy): void {
    const { ports, lanes } = this.#composed.app;
    const app = { ports: { ...ports, policyOf: () => Promise.resolve(policy) }, lanes };
    this.#composed = {
      ...this.#composed,
      app,
      recorder: createRecorder(app),
      stopDesk: createStopDesk(app),
    };
  }

  /** What the ticks have kept, the newest first. */
  history(cluster: string): Promise<readonly HistoryRow[]> {
    const { history } = this.#composed.app.ports;
    return history.read(clusterName(cluster), instant(0), instant(Number.MAX_SAFE_INTEGER - 1), 1000);
  }

  /** The plans that can be explained, and what they say. */
  async keptPlans(cluster: string): Promise<readonly number[]> {
    const { plans } = this.#composed.app.ports;
    const kept = await plans.list(clusterName(cluster), 0, Number.MAX_SAFE_INTEGER - 1, 1000);
    return kept.map(({ number }) => number);
  }

  explain(cluster: string, question: Question): Promise<Explanation> {
    return explain(this.#composed.app, clusterName(cluster), question);
  }

  /** A tick of each cluster, due or not. */
  look(): Promise<unknown> {
    const { app } = this.#composed;
    return Promise.all([...app.ports.sites.values()].map((site) => tickInTime(app, site)));
  }

  /** The host goes: no timer, no callbacks, and messages wait in their queue. */
  stopHost(): void {
    this.#hostIsUp = false;
  }

  /** The timer stops for good, as it does after some deployments; everything else goes on. */
  stopTimer(): void {
    this.#timerIsOn = false;
  }

  startTimer(): void {
    this.#timerIsOn = true;
    this.#nextTickAt = (Math.floor(this.clock.now() / MINUTE_MS) + 1) * MINUTE_MS;
  }

  /** The record with its bodies, for {@link restore}. */
  async backUp(cluster: string): Promise<Backup> {
    const { store } = this.#composed.app.ports;
    const loaded = await store.load(clusterName(cluster));
    const bodies = loaded === undefined ? undefined : await store.bodies(loaded);
    if (loaded === undefined || bodies === undefined) throw new Error(`there is no record of ${cluster}`);
    return { record: loaded.record, bodies };
  }

  /** Sets the record back; history and kept plans stay as they are, and so does what the running host knows. */
  async restore({ record, bodies }: Backup): Promise<void> {
    const { store } = this.#composed.app.ports;
    const saved = await store.save(record, bodies, await store.load(record.cluster));
    if (saved.kind !== "saved") throw new Error("the record changed meanwhile");
  }

  /** The host, or another process in its place: it knows nothing of what was before. */
  startHost({ isNew = false }: { readonly isNew?: boolean } = {}): void {
    if (isNew) this.#composed = newProcess(this.#composed);
    this.#hostIsUp = true;
    const waiting = this.#undelivered;
    this.#undelivered = [];
    for (const deliver of waiting) this.#watch(deliver());
  }

  /** Lets so much time pass, from event to event. Fails if a function failed. */
  async pass(seconds: number): Promise<void> {
    const end = this.clock.now() + seconds * 1000;
    for (;;) {
      await this.#runDue();
      const now = this.clock.now();
      if (now >= end) return;
      const moments = [
        end,
        this.simulator.nextEventAt(),
        this.clock.nextWakeAt(),
        this.#timerIsOn && this.#nextTickAt > now ? this.#nextTickAt : undefined,
        ...this.#wakes.map(({ at }) => Number(at)),
        ...this.#actors.map((actor) => actor.nextEventAt(now)),
      ];
      const next = Math.min(...moments.filter((at) => at !== undefined));
      this.clock.moveTo(Math.max(now + 1, Math.min(end, next)));
    }
  }

  /** Lets time pass until the work is done, at most `seconds`. */
  async during<T>(work: Promise<T>, seconds = 600): Promise<T> {
    const end = this.clock.now() + seconds * 1000;
    const done = new AbortController();
    this.#watch(work.finally(() => done.abort()));
    await drainMicrotasks();
    while (!done.signal.aborted) {
      if (this.clock.now() >= end) throw new Error(`not done after ${seconds} s`);
      await this.pass(0.1);
    }
    return work;
  }

  async #runDue(): Promise<void> {
    this.simulator.advance();
    await drainMicrotasks();
    const now = this.clock.now();
    for (const actor of this.#actors) this.#watch(actor.step(now));
    await drainMicrotasks();
    if (this.#hostIsUp && this.#timerIsOn && this.#nextTickAt <= now && !this.#ticking) this.#tick(now);
    this.#takeWakes();
    const due = this.#wakes.filter(({ at }) => at <= now);
    this.#wakes = this.#wakes.filter(({ at }) => at > now);
    const copies = { never: 0, once: 1, twice: 2 }[this.wakesArrive];
    for (const { cluster, id } of due.flatMap((wake) => Array.from({ length: copies }, () => wake))) {
      const message = { version: 1, cluster, wake: true, ...(id === undefined ? {} : { id }) };
      const delivery = { invocationId: "wake", triggerMetadata: { insertionTime: new Date(now) } };
      this.#watch(this.#deliver(() => handleDemand(this.#composed, message, delivery)));
    }
    await drainMicrotasks();
    this.#takeWakes();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #takeWakes(): void {
    const items = this.#queues.flatMap((queue) => queue.drain());
    this.#wakes = [...this.#wakes, ...items.flatMap((item) => (item.kind === "wake" ? [item] : []))];
  }

  #tick(now: number): void {
    this.#ticking = true;
    this.#watch(
      handleSnapshot(this.#composed).finally(() => {
        this.#ticking = false;
        this.#nextTickAt = (Math.floor(this.clock.now() / MINUTE_MS) + 1) * MINUTE_MS;
      }),
    );
    this.#nextTickAt = (Math.floor(now / MINUTE_MS) + 1) * MINUTE_MS;
  }

  #deliver(work: () => Promise<void>): Promise<void> {
    if (this.#hostIsUp) return work();
    return new Promise((resolve, reject) => {
      this.#undelivered.push(() => {
        const delivered = work();
        delivered.then(resolve, reject);
        return delivered;
      });
    });
  }

  #watch(work: Promise<unknown>): void {
    work.catch((error: unknown) => (this.#failure ??= { error }));
  }

  #note(event: SimulatorEvent): void {
    if (event.kind === "node-ready") {
      const { nodeId, hostname, instanceId } = event;
      const stopUrl = readStopUrl(event.configuration);
      if (stopUrl !== undefined) this.#ready.set(nodeId, { nodeId, hostname, instanceId, stopUrl });
    } else if (
      event.kind === "terminate-accepted" ||
      event.kind === "node-deallocated" ||
      event.kind === "node-down" ||
      event.kind === "node-gone"
    ) {
      this.#ready.delete(event.nodeId);
    }
  }
}
