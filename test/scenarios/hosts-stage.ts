import "./install-core.ts";
import type { HttpResponseInit } from "@azure/functions";
import { handleAutostop } from "../../functions/autostop.ts";
import { handleDemand } from "../../functions/demand.ts";
import { handleSnapshot } from "../../functions/snapshot.ts";
import { putRequestSet } from "../../functions/request-sets.ts";
import { composeInMemory } from "../../src/compose.ts";
import type { TransportRequest } from "../../src/adapters/cyclecloud/transport.ts";
import { tableCredentialBreaker } from "../../src/adapters/tables/credential-breaker.ts";
import type { Log, Ports } from "../../src/app/ports/ports.ts";
import { PortError } from "../../src/app/ports/port-error.ts";
import { clusterName, epoch, owner, setName } from "../../src/domain/ids.ts";
import type { Policy } from "../../src/domain/policy.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import { drainMicrotasks, VirtualClock } from "../../src/local/play/virtual-clock.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import type { SimulatorEvent } from "../../src/simulator/events.ts";
import type { SimulatorOptions } from "../../src/simulator/options.ts";
import type { DemandMessage } from "../../src/wire/message/message.ts";
import { Dice } from "../simulation/dice.ts";
import { memoryTable } from "../support/memory-table.ts";
import type { Interference } from "./host-process.ts";
import { Host } from "./host-process.ts";
import type { ReadyNode } from "./ready-nodes.ts";
import { ReadyNodes, stopRequest } from "./ready-nodes.ts";
import type { Send } from "./stage-options.ts";
import { MINUTE_MS, ORIGIN } from "./stage-options.ts";

export type { Host, Interference } from "./host-process.ts";

const CLUSTER = clusterName("demo");

export interface HostsOptions {
  readonly simulator: SimulatorOptions;
  readonly hosts?: number;
  readonly policy?: Partial<Policy>;
  readonly between?: (send: Send, clock: VirtualClock) => Send;
  /** Messages and wakes go to any host that is alive, by this seed. Absent: to the first one. */
  readonly seed?: number;
  /** What names the credentials of each host. Absent: all have the same. */
  readonly credentials?: readonly string[];
  readonly log?: Log;
}

/** The answer to a node. */
export interface Told {
  readonly status: number;
  readonly undrain?: boolean;
  readonly stopUnderWay?: true;
  readonly retryAfter?: string;
  readonly why?: string;
}

/**
 * Several hosts of one cluster "demo" on one virtual clock. Ticks go to the first host that is alive and does not stand still, and so do messages
 * and wakes without a seed. If all stand still, they wait.
 */
export class HostsStage {
  readonly clock = new VirtualClock(ORIGIN);
  readonly simulator: Simulator;
  readonly hosts: readonly Host[];
  interference: Interference = {};
  /** False: the timer has stopped, as it does after some deployments. */
  timerIsOn = true;
  /** False: wake messages are lost. */
  wakesArrive = true;
  /** False: the host takes no messages from the queue. */
  takesMessages: (host: Host) => boolean = () => true;
  readonly #dice: Dice | undefined;
  readonly #ports: Ports;
  readonly #queue: ReturnType<typeof composeInMemory>["queue"];
  readonly #ready: ReadyNodes;
  readonly #every: { at: number; readonly seconds: number; readonly act: () => void }[] = [];
  #wakes: readonly { readonly at: number; readonly id?: string }[] = [];
  #nextTickAt = ORIGIN;
  #messages = 0;
  #failure: { readonly error: unknown } | undefined;

  constructor(options: HostsOptions) {
    this.simulator = new Simulator(options.simulator, this.clock);
    this.#ready = new ReadyNodes(this.simulator);
    const arrive: Send = async (request) => this.simulator.request(request);
    const send = options.between?.(arrive, this.clock) ?? arrive;
    const base = composeInMemory({
      cluster: CLUSTER,
      clock: this.clock,
      transport: { send: async (request) => (isWritten(request) ? send(request) : notSent(request)) },
      publicUrl: "http://autoscaler.invalid",
      autostopKeys: { current: "v", byId: new Map([["v", "scenarios need no secret"]]) },
      policy: { ...DEFAULT_POLICY, ...options.policy },
      log: options.log ?? (() => undefined),
    });
    this.#dice = options.seed === undefined ? undefined : new Dice(options.seed);
    this.#queue = base.queue;
    this.#ports = base.app.ports;
    const table = memoryTable(this.clock);
    this.hosts = Array.from({ length: options.hosts ?? 2 }, (_, index) => {
      // Each host remembers for a while what it has read of a refusal.
      const breaker = tableCredentialBreaker(table, this.clock);
      const ports = { ...base.app.ports, breaker, ...this.#entropy() };
      const credential = options.credentials?.[index];
      const sites = credential === undefined ? ports.sites : renamed(ports.sites, credential);
      return new Host({ ...ports, sites }, base, () => this.interference);
    });
  }

  /** With a seed all is played again in the same way. */
  #entropy(): Partial<Pick<Ports, "entropy">> {
    const dice = this.#dice;
    if (dice === undefined) return {};
    const fraction = () => dice.fraction();
    return {
      entropy: {
        fraction,
        epoch: () => epoch(`epoch-${fraction()}`),
        owner: () => owner(`owner-${fraction()}`),
      },
    };
  }

  get readyNodes(): readonly ReadyNode[] {
    return this.#ready.all;
  }

  /** Nodes that exist and that CycleCloud was not asked to stop. */
  get alive(): number {
    const alive = new Set<string>();
    for (const event of this.simulator.log) {
      if (event.kind === "node-created") alive.add(event.nodeId);
      if (event.kind === "terminate-accepted" || event.kind === "node-gone") alive.delete(event.nodeId);
    }
    return alive.size;
  }

  count(kind: SimulatorEvent["kind"]): number {
    return this.simulator.log.filter((event) => event.kind === kind).length;
  }

  /** When CycleCloud accepted the stop of this node, in seconds since the beginning. */
  stoppedAt(nodeId: string): number | undefined {
    for (const event of this.simulator.log)
      if (event.kind === "terminate-accepted" && event.nodeId === nodeId) return (event.at - ORIGIN) / 1000;
    return undefined;
  }

  get seconds(): number {
    return this.secondsAt(this.clock.now());
  }

  /** A moment in seconds since the beginning. */
  secondsAt(moment: number): number {
    return (moment - ORIGIN) / 1000;
  }

  async record(): Promise<ClusterRecord | undefined> {
    return (await this.#ports.store.load(CLUSTER))?.record;
  }

  every(seconds: number, act: () => void): void {
    this.#every.push({ at: this.clock.now(), seconds, act });
  }

  /** Hands a message to a host's function. Default: one that is alive. */
  push(message: DemandMessage, host = this.#taker()): void {
    this.#deliver(message, host);
  }

  /** PUT of a request set. It waits in front of a host that stands still. Resolves with the status. */
  async put(message: DemandMessage, host = this.#someHost()): Promise<number> {
    const bytes = new TextEncoder().encode(JSON.stringify(message));
    await host.goesOn();
    const [site] = host.composed.app.ports.sites.values();
    if (site === undefined) throw new Error("there is a cluster");
    const set = setName(message.requestSet ?? "standard");
    const { status = 200 } = await putRequestSet(host.composed, site, set, {
      arrayBuffer: () => Promise.resolve(bytes.buffer),
    });
    return status;
  }

  /** Accepts a message on this host and makes no plan. Resolves once the demand is saved. */
  async accept(message: DemandMessage, host: Host): Promise<void> {
    const { readDemandMessage } = await import("../../src/wire/message/demand-message.ts");
    const now = this.clock.now();
    const read = readDemandMessage(message, {
      messageId: `message-${(this.#messages += 1)}`,
      insertedAt: now,
      now,
      maxExpirationSeconds: 86_400,
      knownClusters: new Set([CLUSTER]),
    });
    if (read.kind !== "update") throw new Error(`the message is ${read.kind}`);
    await host.composed.recorder.record(read.update);
  }

  async ask(
    node: ReadyNode,
    host = this.#someHost(),
    query: Readonly<Record<string, string>> = {},
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Told> {
    if (host.standsStill) await host.goesOn();
    const answer = await handleAutostop(host.composed, {
      ...stopRequest(node, query),
      headers: new Headers(headers),
    });
    return toldBy(answer);
  }

  /** Asks, and lets time pass until the answer arrives. Undefined if none does within `seconds`. */
  async told(
    node: ReadyNode,
    host?: Host,
    query?: Readonly<Record<string, string>>,
    seconds = 30,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Told | undefined> {
    const told: Told[] = [];
    this.#watch(this.ask(node, host, query, headers).then((answer) => told.push(answer)));
    await drainMicrotasks();
    for (let waited = 0; told.length === 0 && waited < seconds; waited += 1) await this.pass(1);
    return told[0];
  }

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
        this.timerIsOn ? this.#nextTickAt : undefined,
        ...this.#wakes.map(({ at }) => at),
        ...this.#every.map(({ at }) => at),
      ].filter((at) => at !== undefined && at > now);
      this.clock.moveTo(Math.max(now + 1, Math.min(...moments.map(Number))));
    }
  }

  async #runDue(): Promise<void> {
    this.simulator.advance();
    for (let round = 0; round < 4; round += 1) await drainMicrotasks();
    const now = this.clock.now();
    for (const one of this.#every) {
      if (one.at > now) continue;
      one.at = now + one.seconds * 1000;
      one.act();
    }
    if (this.timerIsOn && this.#nextTickAt <= now) {
      this.#nextTickAt = (Math.floor(now / MINUTE_MS) + 1) * MINUTE_MS;
      const host = this.#someHost();
      this.#watch(host.goesOn().then(() => handleSnapshot(host.composed)));
    }
    this.#takeWakes();
    const due = this.#wakes.filter(({ at }) => at <= now);
    this.#wakes = this.#wakes.filter(({ at }) => at > now);
    for (const { at: _at, ...id } of due)
      this.#deliver({ version: 1, cluster: CLUSTER, wake: true, ...id }, this.#taker());
    for (let round = 0; round < 4; round += 1) await drainMicrotasks();
    this.#takeWakes();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #takeWakes(): void {
    for (const item of this.#queue.drain()) {
      if (!this.wakesArrive) continue;
      const id = item.kind === "wake" && item.id !== undefined ? { id: item.id } : {};
      this.#wakes = [...this.#wakes, { at: Number(item.at), ...id }];
    }
  }

  #deliver(message: object, host: Host): void {
    const id = `message-${(this.#messages += 1)}`;
    const triggerMetadata = { id, insertionTime: new Date(this.clock.now()) };
    this.#watch(
      host.goesOn().then(() => handleDemand(host.composed, message, { invocationId: id, triggerMetadata })),
    );
  }

  #someHost(): Host {
    const alive = this.hosts.filter(({ isAlive }) => isAlive);
    const host = alive.find(({ standsStill }) => !standsStill) ?? alive[0];
    if (host === undefined) throw new Error("no host is alive");
    return host;
  }

  /** The host that takes the next message. */
  #taker(): Host {
    const [first = this.#someHost(), ...more] = this.hosts.filter(
      (host) => host.isAlive && !host.standsStill && this.takesMessages(host),
    );
    return this.#dice === undefined ? first : this.#dice.pick([first, ...more]);
  }

  #watch(work: Promise<unknown>): void {
    work.catch((error: unknown) => (this.#failure ??= { error }));
  }
}

function renamed(sites: Ports["sites"], credential: string): Ports["sites"] {
  return new Map([...sites].map(([name, site]) => [name, { ...site, credential }]));
}

/** As over HTTP: a change looks at the clock when it is written. */
const isWritten = ({ inTime }: TransportRequest): boolean => inTime?.() !== false;

function notSent({ path }: TransportRequest): never {
  throw new PortError("unreachable", path, "not sent", undefined, { notSent: true });
}

function toldBy({ status = 200, headers, body }: HttpResponseInit): Told {
  const parsed: unknown = typeof body === "string" ? JSON.parse(body) : undefined;
  const said = typeof parsed === "object" && parsed !== null ? parsed : {};
  const retryAfter =
    headers instanceof Object && "retry-after" in headers ? headers["retry-after"] : undefined;
  return {
    status,
    ...("undrain" in said && typeof said.undrain === "boolean" ? { undrain: said.undrain } : {}),
    ...("stopUnderWay" in said && said.stopUnderWay === true ? { stopUnderWay: true } : {}),
    ...(retryAfter === undefined ? {} : { retryAfter }),
    ...("detail" in said ? { why: String(said.detail) } : {}),
  };
}
