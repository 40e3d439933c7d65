import { handleDemand } from "../../functions/demand.ts";
import { handleSnapshot } from "../../functions/snapshot.ts";
import { createStopDesk } from "../../src/app/autostop/answer-autostop.ts";
import type { App } from "../../src/app/process/lanes.ts";
import { createLanes } from "../../src/app/process/lanes.ts";
import { createRecorder } from "../../src/app/demand/record-demand.ts";
import type { Composition, MemoryComposition } from "../../src/compose.ts";
import type { Policy } from "../../src/domain/policy.ts";
import { drainMicrotasks } from "../../src/local/play/virtual-clock.ts";
import type { VirtualClock } from "../../src/local/play/virtual-clock.ts";
import { MINUTE_MS, ORIGIN } from "./stage-options.ts";
import type { MemoryDemandQueue } from "../../src/adapters/memory/demand-queue.ts";
type QueuedItem = ReturnType<MemoryDemandQueue["drain"]>[number];

type Wake = Extract<QueuedItem, { kind: "wake" }>;
type Delivery = Parameters<typeof handleDemand>[2];

/**
 * The functions host of a stage. Its timer fires at each full minute and its runs never overlap (docs/platform.md). Queue messages are
 * delivered in their order, at once; while the host is down they wait.
 */
export class StageHost {
  /** How often each wake message arrives. */
  wakesArrive: "once" | "never" | "twice" = "once";
  readonly #clock: VirtualClock;
  readonly #queues: readonly MemoryComposition["queue"][];
  #composed: Composition;
  #wakes: readonly Wake[] = [];
  #undelivered: (() => Promise<unknown>)[] = [];
  #nextTickAt = ORIGIN;
  #isTicking = false;
  #isUp = true;
  #timerIsOn = true;
  #failure: { readonly error: unknown } | undefined;

  constructor(composed: Composition, queues: readonly MemoryComposition["queue"][], clock: VirtualClock) {
    this.#composed = composed;
    this.#queues = queues;
    this.#clock = clock;
  }

  get composed(): Composition {
    return this.#composed;
  }

  get isUp(): boolean {
    return this.#isUp;
  }

  /** The policy of all clusters from now on. The process keeps its lanes. */
  configure(policy: Policy): void {
    const { ports, lanes } = this.#composed.app;
    this.#replaceApp({ ports: { ...ports, policyOf: () => Promise.resolve(policy) }, lanes });
  }

  /** Hands a message to the demand function, as soon as the host is up. Resolves when the function has returned. */
  deliver(message: object, delivery: Delivery): Promise<void> {
    const work = () => handleDemand(this.#composed, message, delivery);
    if (this.#isUp) return work();
    return new Promise((resolve, reject) => {
      this.#undelivered.push(() => {
        const delivered = work();
        delivered.then(resolve, reject);
        return delivered;
      });
    });
  }

  /** Stops the host: no timer and no callbacks, and messages wait in their queue. */
  stop(): void {
    this.#isUp = false;
  }

  /** Starts the host. A new process shares the ports with the old one, and nothing else. */
  start(isNew: boolean): void {
    if (isNew) this.#replaceApp({ ports: this.#composed.app.ports, lanes: createLanes() });
    this.#isUp = true;
    const waiting = this.#undelivered;
    this.#undelivered = [];
    for (const deliver of waiting) this.watch(deliver());
  }

  stopTimer(): void {
    this.#timerIsOn = false;
  }

  startTimer(): void {
    this.#timerIsOn = true;
    this.#nextTickAt = nextMinute(this.#clock.now());
  }

  /** When the timer fires or a wake message arrives next. Infinity if neither is due. */
  nextEventAt(now: number): number {
    const tickAt = this.#timerIsOn && this.#nextTickAt > now ? this.#nextTickAt : Number.POSITIVE_INFINITY;
    return Math.min(tickAt, ...this.#wakes.map(({ at }) => Number(at)));
  }

  /** Runs what is due. Throws the first error of a function or of a watched promise. */
  async runDue(now: number): Promise<void> {
    if (this.#isUp && this.#timerIsOn && this.#nextTickAt <= now && !this.#isTicking) this.#tick(now);
    this.#takeWakes();
    const due = this.#wakes.filter(({ at }) => at <= now);
    this.#wakes = this.#wakes.filter(({ at }) => at > now);
    const copies = { never: 0, once: 1, twice: 2 }[this.wakesArrive];
    for (const { cluster, id } of due.flatMap((wake) => Array.from({ length: copies }, () => wake))) {
      const message = { version: 1, cluster, wake: true, ...(id === undefined ? {} : { id }) };
      const delivery = { invocationId: "wake", triggerMetadata: { insertionTime: new Date(now) } };
      this.watch(this.deliver(message, delivery));
    }
    await drainMicrotasks();
    this.#takeWakes();
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** Makes the next {@link runDue} throw if this promise is rejected. */
  watch(work: Promise<unknown>): void {
    work.catch((error: unknown) => (this.#failure ??= { error }));
  }

  #replaceApp(app: App): void {
    this.#composed = {
      ...this.#composed,
      app,
      recorder: createRecorder(app),
      stopDesk: createStopDesk(app),
    };
  }

  #tick(now: number): void {
    this.#isTicking = true;
    this.watch(
      handleSnapshot(this.#composed).finally(() => {
        this.#isTicking = false;
        this.#nextTickAt = nextMinute(this.#clock.now());
      }),
    );
    this.#nextTickAt = nextMinute(now);
  }

  #takeWakes(): void {
    const items = this.#queues.flatMap((queue) => queue.drain());
    this.#wakes = [...this.#wakes, ...items.flatMap((item) => (item.kind === "wake" ? [item] : []))];
  }
}

function nextMinute(now: number): number {
  return (Math.floor(now / MINUTE_MS) + 1) * MINUTE_MS;
}
