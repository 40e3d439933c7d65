import { createCycleCloud } from "../../src/adapters/cyclecloud/cyclecloud.ts";
import type { Answer, TransportRequest } from "../../src/adapters/cyclecloud/transport.ts";
import { operationOf } from "../../src/adapters/cyclecloud/transport.ts";
import type { StopDesk } from "../../src/app/autostop/answer-autostop.ts";
import { createStopDesk } from "../../src/app/autostop/answer-autostop.ts";
import { createLanes } from "../../src/app/process/lanes.ts";
import type { CredentialBreaker, Ports, Site } from "../../src/app/ports/ports.ts";
import type { DemandQueue } from "../../src/app/ports/demand-queue.ts";
import type { History, RecordStore } from "../../src/app/ports/record-store.ts";
import { PortError } from "../../src/app/ports/port-error.ts";
import type { DemandRecorder } from "../../src/app/demand/record-demand.ts";
import { createRecorder } from "../../src/app/demand/record-demand.ts";
import type { ClusterName } from "../../src/domain/ids.ts";
import { epoch, owner } from "../../src/domain/ids.ts";
import type { Policy } from "../../src/domain/policy.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import {
  memoryDocuments,
  memoryNodeHistory,
  memoryTriggerLog,
  memoryPlanArchive,
} from "../../src/adapters/memory/stores.ts";
import { ORIGIN } from "./schedule.ts";
import type { Schedule } from "./schedule.ts";
import type { Standing } from "./standing.ts";
import { LIMIT_MS, REFUSED, brokenAnswer, drawTrip, endpointOf } from "./trip.ts";
import type { Met } from "./verdict.ts";
import type { Endpoint, Lasting, Link, Weather } from "./weather.ts";
import { EFFECTS } from "./weather.ts";
import { isDuring } from "./distort.ts";
import type { App } from "../../src/app/process/lanes.ts";

/** What all processes share: the storage account, the CycleCloud server and the clock. */
export interface Shared {
  readonly schedule: Schedule;
  readonly cluster: ClusterName;
  readonly policy: Policy;
  /** Opens a store for one process on the shared storage. */
  readonly openStore: () => RecordStore;
  readonly queue: DemandQueue;
  readonly breaker: CredentialBreaker;
  readonly history: History;
  /** Answers a request at once. Called when the request arrives. */
  readonly answer: (request: TransportRequest) => Answer;
  /** Called when a request is sent. `readAt`: when the process last read the record. */
  readonly noteRequest: (request: TransportRequest, readAt: number) => void;
  readonly standing: Standing;
  readonly weather: () => Weather;
  /** Calls `what` only if the trace is read. */
  readonly trace: (who: string, what: () => string) => void;
  /**
   * Called when a call is sent during which something may arrive at another instance. `stopping`: the nodes whose stop the call saves or
   * sends. Returns how many milliseconds longer the call takes for it.
   */
  readonly atAwait: (instance: Instance, stopping: readonly string[]) => number;
  /** Called when weather that stands still comes. */
  readonly met: (what: Met) => void;
  /** Called when a process has ended. */
  readonly noteCrash: (instance: Instance) => void;
}

/** What else is known of a call. */
interface Sent {
  readonly endpoint?: Endpoint;
  /** The nodes whose stop it saves. */
  readonly stopping?: readonly string[];
  /** Asked in the turn in which the request is written. False: it is not written. */
  readonly inTime?: () => boolean;
  /** Called when the request is written. */
  readonly written?: () => void;
}

/** Time of a call on its way there, and back. */
const USUAL_MS: Readonly<Record<Link, readonly [number, number]>> = {
  storage: [1, 25],
  cyclecloud: [20, 400],
};
const SLOW_MS: Readonly<Record<Link, readonly [number, number]>> = {
  storage: [50, 2500],
  cyclecloud: [500, 9000],
};
/** A caller waits this long for an answer. */
const TIMEOUT_MS: Readonly<Record<Link, readonly [number, number]>> = {
  storage: [1000, 8000],
  cyclecloud: [3000, 30_000],
};
const LONGEST_FREEZE_MS = 90_000;
/** An attempt to connect ends by then: it was refused, or got no answer. */
const REFUSED_MS = [5, 200] as const;
const CONNECT_MS = 10_000;

/**
 * One process of the function app. During each call through a port other processes may run, the answer may be lost, or the process may
 * crash. After a crash nothing that it was doing goes on.
 */
export class Instance {
  readonly name: string;
  readonly app: App;
  readonly site: Site;
  readonly recorder: DemandRecorder;
  readonly stopDesk: StopDesk;
  readonly #shared: Shared;
  readonly #position: number;
  #alive = true;
  #frozenUntil = 0;
  #readAt = 0;
  readonly #onEnd = new Set<() => void>();

  constructor(name: string, position: number, shared: Shared) {
    this.name = name;
    this.#position = position;
    this.#shared = shared;
    this.site = {
      cluster: shared.cluster,
      credential: this.#hasOldSecret() ? "simulated, old" : "simulated",
      cyclecloud: createCycleCloud({ transport: { send: (request) => this.#send(request) } }),
    };
    this.app = { ports: this.#ports(), lanes: createLanes() };
    this.recorder = createRecorder(this.app);
    this.stopDesk = createStopDesk(this.app);
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** Whether it stands still for minutes now and then. */
  get freezes(): boolean {
    return this.#shared.weather().lasting?.freezes !== undefined;
  }

  /** Whether it does so now: other processes take the work that lies in front of it. */
  get standsStill(): boolean {
    return this.freezes && this.#frozenUntil > this.#shared.schedule.now();
  }

  #hasOldSecret(): boolean {
    return this.#shared.weather().lasting?.oldSecret === this.#position;
  }

  crash(): void {
    if (!this.#alive) return;
    this.#alive = false;
    this.#shared.trace(this.name, () => "CRASHES");
    for (const end of this.#onEnd) end();
    this.#shared.noteCrash(this);
  }

  /** Runs a function of the app as the host would. Calls `ended` once, also if the process crashes first. */
  invoke<T>(what: string, work: () => Promise<T>, ended: (how: Ended<T>) => void): void {
    const end = (how: Ended<T>): void => {
      if (!this.#onEnd.delete(crashed)) return;
      this.#shared.trace(this.name, () => `${what}: ${describeEnd(how)}`);
      ended(how);
    };
    const crashed = (): void => end({ kind: "crashed" });
    this.#onEnd.add(crashed);
    this.#whenAwake(() => {
      this.#shared.trace(this.name, () => `${what}: begins`);
      work().then(
        (result) => this.#answer(() => end({ kind: "returned", result })),
        (error: unknown) => this.#answer(() => end({ kind: "threw", error })),
      );
    });
  }

  /** An answer leaves the process, perhaps after a standstill. */
  #answer(run: () => void): void {
    if (this.#shared.weather().lasting?.freezes === undefined) run();
    else this.#step(run);
  }

  /** The next step of something that the process does. It may stand still before it. */
  #step(run: () => void): void {
    if (this.#alive) this.#mayFreeze();
    this.#whenAwake(run);
  }

  /** Stands still from now on, now and then. */
  #mayFreeze(): void {
    const { schedule, weather } = this.#shared;
    const { freezes } = weather().lasting ?? {};
    if (freezes === undefined || this.#frozenUntil > schedule.now()) return;
    if (!schedule.dice.chance(freezes.chance)) return;
    const [least, most] = freezes.seconds;
    this.#freeze(1000 * least * (most / least) ** schedule.dice.fraction());
  }

  #freeze(milliseconds: number): void {
    const { schedule, trace } = this.#shared;
    this.#frozenUntil = schedule.now() + Math.round(milliseconds);
    this.#shared.met("freezes");
    trace(this.name, () => `stands still until ${clockText(this.#frozenUntil)}`);
  }

  /** Runs now, or when a freeze is over. Never runs after the process has crashed. */
  #whenAwake(run: () => void): void {
    if (!this.#alive) return;
    if (this.#frozenUntil <= this.#shared.schedule.now()) return run();
    this.#shared.schedule.at(this.#frozenUntil, () => this.#whenAwake(run));
  }

  #ports(): Ports {
    const { schedule, openStore, queue, breaker, history, policy } = this.#shared;
    const { dice } = schedule;
    const store = openStore();
    const call = <T>(what: string, effect: () => Promise<T>, stopping: readonly string[] = []): Promise<T> =>
      this.#call("storage", what, effect, { stopping });
    return {
      clock: {
        now: () => schedule.now(),
        sleep: (milliseconds, signal) =>
          new Promise((wake) => {
            schedule.after(milliseconds, () => this.#step(wake));
            signal?.addEventListener("abort", () => wake(), { once: true });
          }),
      },
      entropy: {
        epoch: () => epoch(`epoch-${dice.fraction()}`),
        owner: () => owner(`${this.name}-${dice.fraction()}`),
        fraction: () => dice.fraction(),
      },
      store: {
        load: (cluster) =>
          call("load", () => {
            this.#readAt = schedule.now();
            return store.load(cluster);
          }),
        finished: (loaded, sets) => call("finished", () => store.finished(loaded, sets)),
        bodies: (loaded, aside) => call("bodies", () => store.bodies(loaded, aside)),
        missing: (loaded) => call("missing", () => store.missing(loaded)),
        stage: (record, changes, previous) =>
          call("stage", () => store.stage(record, changes, previous), stoppedBy(record, previous?.record)),
        save: (record, changes, previous, how) =>
          call("save", () => store.save(record, changes, previous, how), stoppedBy(record, previous?.record)),
        collect: (cluster, now, how) => call("collect", () => store.collect(cluster, now, how)),
      },
      history: {
        append: (cluster, row) => call("append history", () => history.append(cluster, row)),
        read: (cluster, from, to, limit) =>
          call("read history", () => history.read(cluster, from, to, limit)),
        prune: (cluster, before) => call("prune history", () => history.prune(cluster, before)),
      },
      documents: memoryDocuments(),
      triggers: memoryTriggerLog(),
      // The archive never fails: plans and nodes are kept after all calls that may fail, and no process depends on them.
      plans: memoryPlanArchive(),
      nodeHistory: memoryNodeHistory(),
      breaker: {
        refusedAt: (credential) => call("read breaker", () => breaker.refusedAt(credential)),
        note: (credential, at) => call("note refusal", () => breaker.note(credential, at)),
        clear: (credential) => call("clear breaker", () => breaker.clear(credential)),
      },
      queue: {
        wake: (cluster, at, id) => call("queue wake", () => queue.wake(cluster, at, id)),
        reject: (message) => call("queue reject", () => queue.reject(message)),
        rejected: () => call("read rejected", () => queue.rejected()),
        poison: () => call("read poison", () => queue.poison()),
        takePoison: (most) => call("take poison", () => queue.takePoison(most)),
        dropPoison: (message) => call("drop poison", () => queue.dropPoison(message)),
        resend: (text, seconds) => call("queue resend", () => queue.resend(text, seconds)),
      },
      sites: new Map([[this.#shared.cluster, this.site]]),
      log: (event, fields) => this.#shared.trace(this.name, () => `${event} ${JSON.stringify(fields)}`),
      policyOf: () => Promise.resolve(policy),
    };
  }

  #send(request: TransportRequest): Promise<Answer> {
    const { noteRequest, weather, answer } = this.#shared;
    const endpoint = endpointOf(request);
    const handle = (): Answer => {
      if (!this.#hasOldSecret()) return brokenAnswer(weather().lasting, endpoint) ?? answer(request);
      this.#shared.met("refused");
      return REFUSED;
    };
    const written = (): void => noteRequest(request, this.#readAt);
    const { inTime } = request;
    const sent: Sent = {
      written,
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(inTime === undefined ? {} : { inTime }),
    };
    return this.#call("cyclecloud", operationOf(request), async () => handle(), sent);
  }

  /** One call. The seed decides when it arrives, whether its answer arrives, and whether the process survives it. */
  #call<T>(
    link: Link,
    what: string,
    effect: () => Promise<T>,
    { endpoint, stopping = [], inTime, written }: Sent,
  ): Promise<T> {
    const { schedule, weather, trace, atAwait, standing } = this.#shared;
    const { dice } = schedule;
    const { crash, loss, slow, freeze, lasting } = weather();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    if (!this.#alive) return promise;
    const fail = (how: { readonly notSent?: boolean } = {}): void =>
      this.#step(() => reject(new PortError("unreachable", what, "no answer", undefined, how)));
    if (this.#isCutOff(link, what, fail)) return promise;
    const span = (): number => {
      const [least, most] = (dice.chance(slow) ? SLOW_MS : USUAL_MS)[link];
      return dice.whole(least, most);
    };
    /** Storage takes a request at once. CycleCloud takes it when it does not stand still. */
    const arrive = (take: (heldMs: number) => void): void => {
      if (link === "storage" || endpoint === undefined) take(0);
      else standing.arrive(EFFECTS.includes(endpoint), take);
    };
    const arriveIn = (milliseconds: number): void =>
      schedule.after(milliseconds, () => arrive(() => void effect()));
    if (dice.chance(freeze)) this.#freeze(dice.whole(2000, LONGEST_FREEZE_MS));
    if (dice.chance(crash)) {
      const arrives = dice.chance(0.5);
      trace(this.name, () => `${what}: never returns, ${arrives ? "arrives" : "is not sent"}`);
      if (arrives) {
        written?.();
        arriveIn(span());
      }
      this.crash();
      return promise;
    }
    if (dice.chance(loss)) {
      const fate = dice.pick(["lost", "unanswered", "late"]);
      trace(this.name, () => `${what}: ${fate}`);
      written?.();
      const [least, most] = TIMEOUT_MS[link];
      schedule.after(dice.whole(least, most), fail);
      if (fate === "unanswered") arriveIn(span());
      if (fate === "late") arriveIn(span() + dice.whole(1000, 20_000));
      return promise;
    }
    const waitsMs = this.#waitsBefore();
    if (waitsMs === 0) written?.();
    const trip = drawTrip(lasting, endpoint, dice);
    if (trip !== undefined) trace(this.name, () => `${what}: ${trip.words}`);
    const longer = lasting?.races !== undefined && isRaced(link, what) ? atAwait(this, stopping) : 0;
    const there = trip === undefined ? span() : trip.arrives;
    const back = (): number => (trip?.arrives === undefined ? span() : (trip.answered ?? 0) - trip.arrives);
    if (trip?.answered === undefined && trip !== undefined) schedule.after(trip.givesUp, fail);
    if (there === undefined) return promise;
    if (lasting?.standstills !== undefined && link === "cyclecloud") schedule.after(limitOf(lasting), fail);
    const take = (heldMs: number): void => {
      const answer = effect();
      answer.catch(() => undefined);
      if (trip !== undefined && trip.answered === undefined) return;
      schedule.after(back() + heldMs, () => this.#step(() => void answer.then(resolve, reject)));
    };
    const goOut = (): void => schedule.after(there + longer, () => arrive(take));
    if (waitsMs === 0) goOut();
    else
      schedule.after(waitsMs, () => {
        if (!this.#alive) return;
        // As a transport does, in the turn in which it writes.
        if (inTime?.() === false) return fail({ notSent: true });
        written?.();
        goOut();
      });
    return promise;
  }

  /** Whether a link is cut. Then the call fails, and nothing of it arrives. */
  #isCutOff(link: Link, what: string, fail: (how?: { readonly notSent?: boolean }) => void): boolean {
    const { schedule, weather, trace } = this.#shared;
    const { lasting } = weather();
    const at = (schedule.now() - ORIGIN) / 1000;
    const cut = lasting?.cuts?.find(
      (one) => one.host === this.#position && one.link === link && isDuring(one, at),
    );
    if (cut === undefined) return false;
    const { dice } = schedule;
    this.#shared.met("cutOff");
    trace(this.name, () => `${what}: cut off`);
    const [least, most] = TIMEOUT_MS.storage;
    const limit = link === "storage" ? dice.whole(least, most) : limitOf(lasting);
    // A connection that is open already shows nothing until the limit.
    if (cut.how === "refused") schedule.after(dice.whole(...REFUSED_MS), () => fail({ notSent: true }));
    else if (dice.chance(0.5)) schedule.after(limit, fail);
    else schedule.after(Math.min(limit, CONNECT_MS), () => fail({ notSent: true }));
    return true;
  }

  /** The process may stand still while it makes a call. Returns how long it does so before the request is written, in ms. */
  #waitsBefore(): number {
    const { schedule } = this.#shared;
    this.#mayFreeze();
    const frozenMs = this.#frozenUntil - schedule.now();
    return this.freezes && frozenMs > 0 && schedule.dice.chance(0.5) ? frozenMs : 0;
  }
}

function limitOf(lasting: Lasting | undefined): number {
  return lasting?.callLimitSeconds === undefined ? LIMIT_MS : lasting.callLimitSeconds * 1000;
}

/** The nodes whose stops this save commits. */
function stoppedBy({ intents }: ClusterRecord, previous: ClusterRecord | undefined): readonly string[] {
  const before = new Set(previous?.intents.map(({ id }) => id));
  return intents.flatMap(({ id, effect }) =>
    effect.kind === "terminate" && !before.has(id) ? effect.nodes : [],
  );
}

/** The calls of a plan: the save of the record, and calls to CycleCloud. */
function isRaced(link: Link, what: string): boolean {
  return link === "cyclecloud" || what === "stage" || what === "save";
}

/** How an invocation ended. */
export type Ended<T> =
  | { readonly kind: "returned"; readonly result: T }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "crashed" };

function describeEnd(how: Ended<unknown>): string {
  if (how.kind === "returned") return JSON.stringify(how.result, briefly)?.slice(0, 160) ?? "returns";
  return how.kind === "threw" ? `throws ${String(how.error)}` : "lost with its process";
}

function briefly(key: string, value: unknown): unknown {
  return key === "plan" || key === "record" ? undefined : value;
}

export function clockText(at: number): string {
  return new Date(at).toISOString().slice(11, 23);
}
