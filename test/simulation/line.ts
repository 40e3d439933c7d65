import { reconcileCluster } from "../../src/app/reconcile/reconcile-cluster.ts";
import type { DemandQueue } from "../../src/app/ports/demand-queue.ts";
import { PortError } from "../../src/app/ports/port-error.ts";
import type { RequestSetUpdate } from "../../src/domain/demand.ts";
import { tickByWake } from "../../src/app/tick.ts";
import { wakeId } from "../../src/domain/ids.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import type { Ended, Instance } from "./instance.ts";
import type { Schedule } from "./schedule.ts";

type Body =
  | { readonly kind: "update"; readonly update: RequestSetUpdate }
  | { readonly kind: "wake"; readonly id?: string };

interface Message {
  readonly body: Body;
  readonly name: string;
  dequeued: number;
}

/** A message whose handler's process crashed is visible again after this time. */
const VISIBILITY_MS = 60_000;
/** A message whose handler threw is delivered again after this time. */
const RETRY_MS = 3000;
/** After this many deliveries the host moves a message to the poison queue. */
const MOST_DELIVERIES = 5;

/** The queue of demand messages and the function behind it. Messages arrive at least once, in any order, and again after a crash. */
export class Line implements Pick<DemandQueue, "wake"> {
  readonly #schedule: Schedule;
  readonly #instance: () => Instance | undefined;
  readonly #stormy: () => boolean;
  readonly #defect: (error: unknown) => void;
  #wakes = 0;

  constructor(
    schedule: Schedule,
    instance: () => Instance | undefined,
    stormy: () => boolean,
    defect: (error: unknown) => void,
  ) {
    this.#schedule = schedule;
    this.#instance = instance;
    this.#stormy = stormy;
    this.#defect = defect;
  }

  /** Puts a demand message into the queue. It may arrive late, after its successors, or twice. With `rushTo` it arrives at once. */
  send(update: RequestSetUpdate, rushTo?: Instance): void {
    const { dice } = this.#schedule;
    const name = `message ${update.set}@${update.revision.value % 1_000_000}`;
    if (rushTo !== undefined)
      return this.#deliver({ body: { kind: "update", update }, name, dequeued: 0 }, rushTo);
    const copies = this.#stormy() && dice.chance(0.08) ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      const late = this.#stormy() && dice.chance(0.1);
      const delay = late ? dice.whole(2000, 45_000) : dice.whole(20, 1200);
      this.#deliverAfter(delay, { body: { kind: "update", update }, name, dequeued: 0 });
    }
  }

  async wake(_cluster: string, at: number, id?: string): Promise<void> {
    const delay = at - this.#schedule.now() + this.#schedule.dice.whole(0, 600);
    const body: Body = { kind: "wake", ...(id === undefined ? {} : { id }) };
    this.#deliverAfter(delay, { body, name: `wake ${(this.#wakes += 1)}`, dequeued: 0 });
  }

  #deliverAfter(milliseconds: number, message: Message): void {
    this.#schedule.after(milliseconds, () => this.#deliver(message));
  }

  #deliver(message: Message, rushTo?: Instance): void {
    const instance = rushTo ?? this.#instance();
    if (instance === undefined) return this.#deliverAfter(1000, message);
    message.dequeued += 1;
    // The host copies a message that failed too often to the poison queue, where it is tried once more.
    const poison = message.dequeued > MOST_DELIVERIES;
    let isHeld = true;
    instance.invoke(
      message.name,
      () => (poison ? handlePoison(instance, message.body) : handleDemand(instance, message.body)),
      (how) => {
        if (isHeld) this.#ended(message, how);
        isHeld = false;
      },
    );
    // A host that stands still does not keep its message from the others.
    if (!instance.freezes) return;
    this.#schedule.after(VISIBILITY_MS, () => {
      if (!isHeld || !instance.standsStill) return;
      isHeld = false;
      this.#deliver(message);
    });
  }

  #ended(message: Message, how: Ended<void>): void {
    if (how.kind === "crashed") return this.#deliverAfter(VISIBILITY_MS, message);
    if (how.kind === "returned") {
      // The acknowledgement may fail, too. Then a handled message arrives again.
      if (this.#stormy() && this.#schedule.dice.chance(0.02)) this.#deliverAfter(VISIBILITY_MS, message);
      return;
    }
    this.#defect(how.error);
    this.#deliverAfter(RETRY_MS, message);
  }
}

/** Too many saves of the record conflicted. This is no defect: the message is delivered again. */
export class Contended extends Error {}

/** The work of functions/demand.ts once the message has been read. */
async function handleDemand(instance: Instance, body: Body): Promise<void> {
  if (body.kind === "wake")
    return body.id === undefined
      ? reconcile(instance)
      : void (await tickByWake(instance.app, instance.site, wakeId(body.id)));
  const recorded = await instance.recorder.record(body.update);
  if (recorded.kind === "contended") throw new Contended();
  if (recorded.kind === "accepted") await reconcile(instance, recorded.record);
}

/** The work of functions/reconcile.ts. The message does not fail if storage or network prevented the plan. */
async function reconcile({ app, site }: Instance, known?: ClusterRecord): Promise<void> {
  try {
    await reconcileCluster(app, site, "demand", known);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
  }
}

/** The work of functions/poison.ts for a message with its own revision. */
async function handlePoison(instance: Instance, body: Body): Promise<void> {
  if (body.kind === "wake") return;
  const recorded = await instance.recorder.record(body.update);
  if (recorded.kind === "contended") throw new Contended();
  await instance.app.ports.queue.wake(body.update.cluster, instance.app.ports.clock.now());
}
