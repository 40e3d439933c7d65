import { handleAutostop } from "../../functions/autostop.ts";
import type { Explanation, Question } from "../../src/app/describe/explain-cluster.ts";
import { explain } from "../../src/app/describe/explain-cluster.ts";
import { describeCluster } from "../../src/app/describe/describe-cluster.ts";
import { describeNodeHistory } from "../../src/app/describe/describe-node-history.ts";
import { describeComparison } from "../../src/app/describe/describe-comparison.ts";
import { checkHealth } from "../../src/app/describe/describe-health.ts";
import { describeRequestSet } from "../../src/app/describe/describe-request-set.ts";
import { createLanes } from "../../src/app/process/lanes.ts";
import type { HistoryRow } from "../../src/app/ports/record-store.ts";
import { tickInTime } from "../../src/app/tick.ts";
import type { Composition } from "../../src/compose.ts";
import { composeInMemory } from "../../src/compose.ts";
import { clusterName, setName } from "../../src/domain/ids.ts";
import type { Policy } from "../../src/domain/policy.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import { instant } from "../../src/domain/units.ts";
import { drainMicrotasks, VirtualClock } from "../../src/local/play/virtual-clock.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import type { SimulatorEvent } from "../../src/simulator/events.ts";
import type { HealthShown } from "../../src/wire/api/parts.ts";
import type { DemandMessage } from "../../src/wire/message/message.ts";
import { mergingBy } from "../support/configuration-merge.ts";
import type { ReadyNode } from "./ready-nodes.ts";
import { ReadyNodes, stopRequest } from "./ready-nodes.ts";
import { StageHost } from "./stage-host.ts";
import type { Actor, Backup, Send, Sent, StageOptions } from "./stage-options.ts";
import { ORIGIN } from "./stage-options.ts";
import type { ClusterState } from "./state.ts";
import { readState } from "./state.ts";

/** The functions host, the store and a CycleCloud on one virtual clock, which a test moves, asks and disturbs. */
export class Stage {
  readonly clock = new VirtualClock(ORIGIN);
  readonly simulator: Simulator;
  readonly #host: StageHost;
  readonly #ready: ReadyNodes;
  readonly #sent: Sent[] = [];
  #messages = 0;
  #actors: readonly Actor[] = [];

  constructor(options: StageOptions) {
    this.simulator = new Simulator(mergingBy(options.simulator), this.clock);
    this.#ready = new ReadyNodes(this.simulator);
    const compositions = this.#compose(options);
    const [first] = compositions;
    if (first === undefined) throw new Error("a stage needs a cluster");
    const sites = new Map(compositions.flatMap(({ app }) => [...app.ports.sites]));
    const composed = { ...first, app: { ports: { ...first.app.ports, sites }, lanes: createLanes() } };
    const queues = compositions.map(({ queue }) => queue);
    this.#host = new StageHost(composed, queues, this.clock);
  }

  /** Every request that CycleCloud got, oldest first. */
  get sent(): readonly Sent[] {
    return this.#sent;
  }

  /** Nodes that are Ready and that CycleCloud was not asked to stop, in the order in which they came up. */
  get readyNodes(): readonly ReadyNode[] {
    return this.#ready.all;
  }

  eventsOf<K extends SimulatorEvent["kind"]>(kind: K): readonly Extract<SimulatorEvent, { kind: K }>[] {
    return this.simulator.log.filter(
      (event): event is Extract<SimulatorEvent, { kind: K }> => event.kind === kind,
    );
  }

  // ------------------------------------------------------------ senders and nodes

  /** Puts a message into the queue. Resolves when its function has returned; while the host is down the message waits. */
  push(message: DemandMessage): Promise<void> {
    const insertedAt = this.clock.now();
    const id = `message-${(this.#messages += 1)}`;
    const triggerMetadata = { id, insertionTime: new Date(insertedAt) };
    return this.#host.deliver(message, { invocationId: id, triggerMetadata });
  }

  /** The same for a sender that does not wait for the function. */
  send(message: DemandMessage): void {
    this.#host.watch(this.push(message));
  }

  /** Adds an actor, which acts whenever time passes. */
  join(actor: Actor): void {
    this.#actors = [...this.#actors, actor];
  }

  /** GET of the node's stop URL: the status of the answer, or 0 while the host is down. */
  async ask(
    node: Pick<ReadyNode, "stopUrl" | "instanceId">,
    query: Readonly<Record<string, string>> = {},
  ): Promise<number> {
    if (!this.#host.isUp) return 0;
    const answer = await handleAutostop(this.#composed, stopRequest(node, query));
    return answer.status ?? 200;
  }

  // ------------------------------------------------------------ what an operator reads

  /** The state page. */
  async state(cluster: string): Promise<ClusterState> {
    return readState(await describeCluster(this.#composed.app, clusterName(cluster)));
  }

  /** What its sender reads of a request set. */
  requestSet(cluster: string, set: string) {
    return describeRequestSet(this.#composed.app, clusterName(cluster), setName(set));
  }

  /** The answer to a health probe. */
  probe(cluster: string): Promise<HealthShown> {
    return checkHealth(this.#composed.app, clusterName(cluster));
  }

  /** The page that compares the real fleet with the virtual one. */
  comparison(cluster: string) {
    return describeComparison(this.#composed.app, clusterName(cluster), {});
  }

  /** The history rows of the ticks, newest first. */
  history(cluster: string): Promise<readonly HistoryRow[]> {
    const { history } = this.#composed.app.ports;
    return history.read(clusterName(cluster), instant(0), instant(Number.MAX_SAFE_INTEGER - 1), 1000);
  }

  /** The nodes that were there at some moment since the beginning, a page of them: those that have gone last. */
  nodeHistory(cluster: string, range: Partial<Parameters<typeof describeNodeHistory>[2]> = {}) {
    const all = { from: instant(0), to: this.clock.now(), limit: 1000 };
    return describeNodeHistory(this.#composed.app, clusterName(cluster), { ...all, ...range });
  }

  /** The numbers of the plans that can be explained. */
  async keptPlans(cluster: string): Promise<readonly number[]> {
    const { plans } = this.#composed.app.ports;
    const kept = await plans.list(clusterName(cluster), 0, Number.MAX_SAFE_INTEGER - 1, 1000);
    return kept.map(({ number }) => number);
  }

  explain(cluster: string, question: Question): Promise<Explanation> {
    return explain(this.#composed.app, clusterName(cluster), question);
  }

  // ------------------------------------------------------------ what an operator does

  /** Gives all clusters another policy. */
  configure(policy: Policy): void {
    this.#host.configure(policy);
  }

  /** Runs a tick of each cluster, due or not. */
  look(): Promise<unknown> {
    const { app } = this.#composed;
    return Promise.all([...app.ports.sites.values()].map((site) => tickInTime(app, site)));
  }

  /** The record with its bodies, for {@link restore}. */
  async backUp(cluster: string): Promise<Backup> {
    const { store } = this.#composed.app.ports;
    const loaded = await store.load(clusterName(cluster));
    const bodies = loaded === undefined ? undefined : await store.bodies(loaded);
    if (loaded === undefined || bodies === undefined) throw new Error(`there is no record of ${cluster}`);
    return { record: loaded.record, bodies };
  }

  /** Sets the record back. History and kept plans stay as they are, and so does what the running host remembers. */
  async restore({ record, bodies }: Backup): Promise<void> {
    const { store } = this.#composed.app.ports;
    const saved = await store.save(record, bodies, await store.load(record.cluster));
    if (saved.kind !== "saved") throw new Error("the record changed meanwhile");
  }

  /** How often each wake message arrives. */
  set wakesArrive(often: StageHost["wakesArrive"]) {
    this.#host.wakesArrive = often;
  }

  /** Stops the host: no timer and no callbacks, and messages wait in their queue. */
  stopHost(): void {
    this.#host.stop();
  }

  /** Starts the host, or a new process that remembers nothing. */
  startHost({ isNew = false }: { readonly isNew?: boolean } = {}): void {
    this.#host.start(isNew);
  }

  /** The timer stops for good, as it does after some deployments; everything else goes on. */
  stopTimer(): void {
    this.#host.stopTimer();
  }

  startTimer(): void {
    this.#host.startTimer();
  }

  // ------------------------------------------------------------ time

  /** Lets this many seconds pass, from event to event. Throws if a function failed. */
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
        this.#host.nextEventAt(now),
        ...this.#actors.map((actor) => actor.nextEventAt(now)),
      ];
      const next = Math.min(...moments.filter((at) => at !== undefined));
      this.clock.moveTo(Math.max(now + 1, Math.min(end, next)));
    }
  }

  /** Lets time pass until the work is done. Throws if that takes more than `seconds`. */
  async during<T>(work: Promise<T>, seconds = 600): Promise<T> {
    const end = this.clock.now() + seconds * 1000;
    const done = new AbortController();
    this.#host.watch(work.finally(() => done.abort()));
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
    for (const actor of this.#actors) this.#host.watch(actor.step(now));
    await drainMicrotasks();
    await this.#host.runDue(now);
  }

  get #composed(): Composition {
    return this.#host.composed;
  }

  /** One composition for each cluster; their requests go to the simulator and are noted. */
  #compose({ simulator, between, policy, log = () => undefined }: StageOptions) {
    const send: Send = (request) => {
      const { method, path, body } = request;
      this.#sent.push({ at: this.clock.now(), method, path, body });
      return Promise.resolve(this.simulator.request(request));
    };
    const transport = { send: between?.(send, this.clock) ?? send };
    return simulator.clusters.map(({ name }) =>
      composeInMemory({
        cluster: name,
        clock: this.clock,
        transport,
        publicUrl: "http://autoscaler.invalid",
        autostopKeys: { current: "v", byId: new Map([["v", "scenarios need no secret"]]) },
        policy: { ...DEFAULT_POLICY, ...policy },
        log,
      }),
    );
  }
}
