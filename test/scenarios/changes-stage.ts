import "./install-core.ts";
import { HttpRequest } from "@azure/functions";
import { handleAutostop } from "../../functions/autostop.ts";
import { handleDemand } from "../../functions/demand.ts";
import { putConfig } from "../../functions/config.ts";
import { handleSnapshot } from "../../functions/snapshot.ts";
import type { Ports } from "../../src/app/ports/ports.ts";
import type { BodyChanges, RecordStore } from "../../src/app/ports/record-store.ts";
import { PortError } from "../../src/app/ports/port-error.ts";
import { composeInMemory } from "../../src/compose.ts";
import { adjusted, policyReader } from "../../src/compose/policy-reader.ts";
import type { Trial } from "../../src/config/local-settings.ts";
import { documentDigest } from "../../src/domain/config-version.ts";
import { clusterName, epoch, owner } from "../../src/domain/ids.ts";
import type { Mode } from "../../src/domain/mode.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import { drainMicrotasks, VirtualClock } from "../../src/local/play/virtual-clock.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import type { SimulatorEvent } from "../../src/simulator/events.ts";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import { Dice } from "../simulation/dice.ts";
import { oneArray, target } from "./clusters.ts";
import { Host } from "./host-process.ts";
import type { ReadyNode } from "./ready-nodes.ts";
import { ReadyNodes, stopRequest } from "./ready-nodes.ts";
import { MINUTE_MS, ORIGIN } from "./stage-options.ts";

const CLUSTER = clusterName("demo");

/** A change that is not answered by then is tried again on another host. */
const LONGEST_CHANGE_MS = 60_000;

export interface ChangesOptions {
  readonly hosts?: number;
  /** How long the bodies of a plan take to be written. */
  readonly planSeconds?: number;
  /** The chance that a host dies, for each call to CycleCloud. */
  readonly deaths?: number;
  readonly trial?: Trial;
  readonly simulator?: SimulatorOptions;
}

/** What a save has changed. */
export interface Saved {
  readonly record: ClusterRecord;
  readonly changes: BodyChanges;
}

/** Several hosts, each with its own copy of the configuration, on one virtual clock. The seed decides how long each call takes. */
export class ChangesStage {
  readonly clock = new VirtualClock(ORIGIN);
  readonly simulator: Simulator;
  readonly dice: Dice;
  /** Effects that were committed while `observe` had been answered, and no later change had begun. */
  late = 0;
  /** Create requests that were sent, in seconds since the beginning. */
  readonly creates: number[] = [];
  /** When a plan was saved, in seconds since the beginning. */
  readonly planned: number[] = [];
  /** The host that sends the next create request dies before. */
  diesBeforeCreate = false;
  /** What happens between a save and its answer. */
  onSaved: ((saved: Saved) => Promise<void>) | undefined;
  /** The longest time until a change was answered, in seconds. */
  readonly waited: Record<Mode, number> = { observe: 0, act: 0 };
  readonly #ready: ReadyNodes;
  readonly #base: ReturnType<typeof composeInMemory>;
  readonly #options: ChangesOptions;
  readonly #adjust: ReturnType<typeof adjusted>;
  readonly #hosts: Host[] = [];
  #isObserved = false;
  #wakes: { readonly at: number; readonly id?: string }[] = [];
  #nextTickAt = ORIGIN;
  #messages = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(seed: number, options: ChangesOptions = {}) {
    this.dice = new Dice(seed);
    this.#options = options;
    const { trial } = options;
    this.#adjust = adjusted({ clusters: [], ...(trial === undefined ? {} : { trial }) });
    const { simulator = oneArray("demo", { maxCount: 10_000 }) } = options;
    this.simulator = new Simulator(simulator, this.clock);
    this.#ready = new ReadyNodes(this.simulator);
    this.#base = composeInMemory({
      cluster: CLUSTER,
      clock: this.clock,
      transport: { send: async (request) => this.simulator.request(request) },
      publicUrl: "http://autoscaler.invalid",
      autostopKeys: { current: "v", byId: new Map([["v", "scenarios need no secret"]]) },
      policy: DEFAULT_POLICY,
      log: () => undefined,
    });
    for (let count = options.hosts ?? 3; count > 0; count -= 1) this.#start();
  }

  get seconds(): number {
    return (this.clock.now() - ORIGIN) / 1000;
  }

  get store(): RecordStore {
    return this.#base.app.ports.store;
  }

  /** The documents without any delay: a change by hand. */
  get documents(): Ports["documents"] {
    return this.#base.app.ports.documents;
  }

  #start(): void {
    const { dice, clock } = this;
    const base = this.#base.app.ports;
    const name = `host${this.#hosts.length}`;
    const documents: Ports["documents"] = {
      read: (cluster) => this.#call(() => base.documents.read(cluster)),
      versions: (cluster) => this.#call(() => base.documents.versions(cluster)),
      write: (...change) => this.#call(() => base.documents.write(...change)),
    };
    const host: Host = new Host(
      {
        ...base,
        documents,
        store: this.#storeOf(base.store),
        policyOf: policyReader(documents, clock, base.log, this.#adjust, "act"),
        entropy: {
          epoch: () => epoch(`epoch-${dice.fraction()}`),
          owner: () => owner(`${name}-${dice.fraction()}`),
          fraction: () => dice.fraction(),
        },
        sites: new Map(
          [...base.sites].map(([cluster, site]) => {
            const real = site.cyclecloud;
            const slowly = async <T>(call: () => Promise<T>): Promise<T> => {
              if (dice.chance(this.#options.deaths ?? 0)) this.#replace(host);
              return this.#call(call, 50, 2000);
            };
            const cyclecloud: typeof real = {
              ...real,
              status: (...asked) => slowly(() => real.status(...asked)),
              create: (...asked) => {
                if (this.diesBeforeCreate) {
                  this.diesBeforeCreate = false;
                  this.#replace(host);
                  return new Promise(() => undefined);
                }
                this.creates.push(this.seconds);
                return slowly(() => real.create(...asked));
              },
            };
            return [cluster, { ...site, cyclecloud }];
          }),
        ),
      },
      this.#base,
      () => ({}),
    );
    this.#hosts.push(host);
  }

  #replace(host: Host): void {
    host.die();
    this.#start();
  }

  /** A call: on its way there, its effect, and on its way back. */
  async #call<T>(effect: () => Promise<T>, least = 1, most = 25): Promise<T> {
    const way = () => this.clock.sleep(this.dice.whole(least, this.dice.chance(0.03) ? 20 * least : most));
    await way();
    const result = await effect();
    await way();
    return result;
  }

  /** Bodies of a plan take their time once, ahead or in the save. */
  #storeOf(store: RecordStore): RecordStore {
    const written = new Set<unknown>();
    const write = async ({ plan }: BodyChanges): Promise<void> => {
      if (plan === undefined || written.has(plan)) return;
      const { planSeconds } = this.#options;
      if (planSeconds !== undefined) await this.clock.sleep(planSeconds * 1000);
      written.add(plan);
    };
    return {
      ...store,
      load: (cluster) => this.#call(() => store.load(cluster)),
      bodies: (loaded, aside) => this.#call(() => store.bodies(loaded, aside)),
      stage: (record, changes, previous) =>
        this.#call(async () => {
          await write(changes);
          return store.stage(record, changes, previous);
        }),
      save: (record, changes, previous, how) =>
        this.#call(async () => {
          if (how === "if-staged" && changes.plan !== undefined && !written.has(changes.plan))
            return { kind: "conflict", unstaged: true };
          await write(changes);
          const saved = await store.save(record, changes, previous, how);
          if (saved.kind === "conflict") return saved;
          if (changes.plan !== undefined) this.planned.push(this.seconds);
          const before = new Set(previous?.record.intents.map(({ id }) => id));
          await this.onSaved?.({ record, changes });
          if (this.#isObserved) this.late += record.intents.filter(({ id }) => !before.has(id)).length;
          return saved;
        }),
    };
  }

  /** Puts a configuration through the function of some host, again if others came first. Resolves with the answer. */
  async change(mode: Mode): Promise<unknown> {
    if (mode === "act") this.#isObserved = false;
    const { composed } = this.#someHost();
    const site = composed.app.ports.sites.get(CLUSTER);
    if (site === undefined) throw new Error("the stage has a cluster");
    const body = { string: JSON.stringify({ mode, idleTimeout: 300 }) };
    const url = "http://autoscaler.invalid/";
    const began = this.seconds;
    for (;;) {
      const put = putConfig(composed, site, new HttpRequest({ method: "PUT", url, body }));
      const stored = await Promise.race([put, this.clock.sleep(LONGEST_CHANGE_MS)]);
      // Its host has died: what became of the change is unknown.
      if (stored === undefined) return this.change(mode);
      if (stored.status === 409) continue;
      if (stored.status !== 200) throw new Error(`the change was answered with ${stored.status}`);
      if (mode === "observe") this.#isObserved = true;
      this.waited[mode] = Math.max(this.waited[mode], this.seconds - began);
      return stored.jsonBody;
    }
  }

  /** Who has stored which document, newest first. */
  async versions(): Promise<readonly (readonly [string | undefined, string])[]> {
    return (await this.documents.versions(CLUSTER)).map(({ who, text }) => [who, text]);
  }

  /** A document that is stored at once, whatever is under way. */
  async put(document: object): Promise<void> {
    const held = await this.documents.read(CLUSTER);
    await this.documents.write(CLUSTER, JSON.stringify(document), held?.etag);
  }

  /** Demand for this many nodes of each of these arrays. */
  push(count: number, arrays: readonly string[] = ["execute"]): void {
    const nodearrays = arrays.map((Name) => ({ Name, TargetCount: count }));
    this.#deliver(target("demo", count, { nodearrays, revision: this.clock.now() }));
  }

  get readyNodes(): readonly ReadyNode[] {
    return this.#ready.all;
  }

  /** The node asks some host whether it may stop. The status of the answer, and its text. */
  async ask(node: ReadyNode): Promise<string> {
    const answers: string[] = [];
    this.begin(async () => {
      const question = { ...stopRequest(node), headers: new Headers() };
      const { status, body } = await handleAutostop(this.#someHost().composed, question);
      answers.push(`${status} ${JSON.stringify(body)}`);
    });
    while (answers.length === 0) await this.pass(1);
    return answers.join("");
  }

  /** The arrays of the nodes to which this happened. */
  arraysOf(kind: "terminate-accepted" | "node-created"): readonly string[] {
    return this.simulator.log.flatMap((event: SimulatorEvent) => (event.kind === kind ? [event.array] : []));
  }

  /** Lets work run beside the others. */
  begin(work: () => Promise<unknown>): void {
    work().catch((error: unknown) => (this.#failure ??= { error }));
  }

  /** Whether the last plan knows all demand, and was made under the stored configuration. */
  async isPlanned(): Promise<boolean> {
    const record = (await this.store.load(CLUSTER))?.record;
    const text = (await this.documents.read(CLUSTER))?.text;
    return (
      record !== undefined &&
      record.observedGeneration === record.generation &&
      record.plannedUnder === documentDigest(text)
    );
  }

  /** Requests that were committed and have not ended. */
  async open(kind: "create" | "terminate"): Promise<number> {
    const { intents = [] } = (await this.store.load(CLUSTER))?.record ?? {};
    return intents.filter(({ effect }) => effect.kind === kind).length;
  }

  async pass(seconds: number): Promise<void> {
    const end = this.clock.now() + seconds * 1000;
    for (;;) {
      await this.#runDue();
      const now = this.clock.now();
      if (now >= end) return;
      const wakes = this.#wakes.map(({ at }) => at);
      const moments = [
        end,
        this.simulator.nextEventAt(),
        this.clock.nextWakeAt(),
        this.#nextTickAt,
        ...wakes,
      ];
      // What became due meanwhile is next: without it all would sleep on until something else happens.
      const next = moments.filter((at) => at !== undefined).map(Number);
      this.clock.moveTo(Math.max(now + 1, Math.min(...next)));
    }
  }

  async #runDue(): Promise<void> {
    this.simulator.advance();
    await drainMicrotasks();
    const now = this.clock.now();
    if (this.#nextTickAt <= now) {
      this.#nextTickAt = now + MINUTE_MS;
      this.begin(() => handleSnapshot(this.#someHost().composed));
    }
    for (const item of this.#base.queue.drain()) {
      const id = item.kind === "wake" && item.id !== undefined ? { id: item.id } : {};
      this.#wakes.push({ at: Number(item.at), ...id });
    }
    const due = this.#wakes.filter(({ at }) => at <= now);
    this.#wakes = this.#wakes.filter(({ at }) => at > now);
    for (const { at: _at, ...id } of due) this.#deliver({ version: 1, cluster: CLUSTER, wake: true, ...id });
    await drainMicrotasks();
    if (this.#failure !== undefined && !(this.#failure.error instanceof PortError)) throw this.#failure.error;
  }

  #deliver(message: object): void {
    const id = `message-${(this.#messages += 1)}`;
    const triggerMetadata = { id, insertionTime: new Date(this.clock.now()) };
    const { composed } = this.#someHost();
    this.begin(() => handleDemand(composed, message, { invocationId: id, triggerMetadata }));
  }

  #someHost(): Host {
    const alive = this.#hosts.filter(({ isAlive }) => isAlive);
    const host = alive[this.dice.whole(0, alive.length - 1)];
    if (host === undefined) throw new Error("no host is alive");
    return host;
  }
}
