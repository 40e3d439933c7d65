import type { TransportRequest } from "../../src/adapters/cyclecloud/transport.ts";
import type { SimulatorEvent } from "../../src/simulator/events.ts";
import type { Books } from "./books.ts";
import { MessageCheck } from "./message-check.ts";
import { Misfortune } from "./misfortune.ts";
import { NodeBook, placeOf } from "./node-book.ts";
import { PlanCheck } from "./plan-check.ts";
import type { CreateRead } from "./read-create.ts";
import { readCreate } from "./read-create.ts";
import { Rest } from "./rest.ts";
import type { OpenStore } from "./rig.ts";
import { POLICY, Rig } from "./rig.ts";
import type { Played } from "./score.ts";
import { Score } from "./score.ts";
import { SetBook } from "./set-book.ts";
import type { ClusterShape } from "./shape.ts";
import type { Deed, Sequence } from "./steps.ts";
import { StopCheck } from "./stop-check.ts";
import { UnhealthyBook } from "./unhealthy-book.ts";

/** Time to come to rest at the end: longer than the longest pause of a bucket. */
const CALM_SECONDS = 2400;
const CALM_SLICE_SECONDS = 120;

/** Plays a sequence through the app and through the model, step by step. */
export async function play({ shape, steps }: Sequence, openStore: OpenStore): Promise<Played> {
  const game = new Game(shape, openStore);
  for (const [index, step] of steps.entries()) {
    await game.act(step, index);
    await game.pass(step.pause);
    if (game.score.differs) return game.score.played(`step ${index + 1} of ${steps.length}`);
  }
  await game.comeToRest();
  return game.score.played("at the end");
}

/** One sequence: the app in its rig, and the model beside it. */
class Game {
  readonly score = new Score();
  readonly #books: Books;
  readonly #messages: MessageCheck;
  readonly #plans: PlanCheck;
  readonly #stops: StopCheck;

  constructor(shape: ClusterShape, openStore: OpenStore) {
    const nodes = new NodeBook();
    const rig = new Rig(shape, openStore, {
      planned: (plan, before, after) => this.#plans.planned(plan, before, after),
      happened: (event) => this.#happened(event),
      sent: (request) => this.#sent(request),
      failed: (request) => this.#failed(request),
    });
    this.#books = {
      shape,
      rig,
      nodes,
      sets: new SetBook(POLICY.maxExpirationSeconds),
      rest: new Rest(),
      unhealthy: new UnhealthyBook(),
      misfortune: new Misfortune(shape, rig.simulator, nodes),
      keyOfGroup: new Map(),
      score: this.score,
    };
    this.#messages = new MessageCheck(this.#books);
    this.#plans = new PlanCheck(this.#books);
    this.#stops = new StopCheck(this.#books);
  }

  async pass(seconds: number): Promise<void> {
    await this.#books.rig.pass(seconds);
    await this.#messages.compareSets();
  }

  async act(deed: Deed, index: number): Promise<void> {
    const { rig, misfortune } = this.#books;
    rig.simulator.advance();
    switch (deed.kind) {
      case "push":
        return this.#messages.push(deed, index);
      case "aside":
        return this.#messages.setAside(deed, index);
      case "renew":
        return this.#messages.renew(deed.set, index);
      case "redeliver":
        return this.#messages.redeliver(deed.set);
      case "remove":
        return this.#messages.remove(deed.set);
      case "wait":
        return;
      case "jump":
        return rig.jump(deed.seconds);
      case "ask":
        return this.#stops.ask(deed);
      default:
        misfortune.bring(deed);
    }
  }

  /** Nothing fails any more. Soon everything is as the model says, and a further plan changes nothing. */
  async comeToRest(): Promise<void> {
    const { shape, rig, misfortune } = this.#books;
    misfortune.end();
    for (let passed = 0; passed < CALM_SECONDS; passed += CALM_SLICE_SECONDS) {
      await this.pass(CALM_SLICE_SECONDS);
      const record = await rig.record();
      const isPaused = record?.backoffs.some(({ until }) => until > rig.now) ?? true;
      // Where nodes fail, there is always one more to be replaced.
      const isSound = shape.bootFailureShare + shape.neverBootShare === 0;
      const { last } = this.#plans;
      const isDone = last?.wasCompared === true && (!isSound || last.plan.creates.length === 0);
      if (this.score.differs || (isDone && !isPaused && !misfortune.isBlurred(rig.now))) return;
    }
    const creates = this.#plans.last?.plan.creates.length ?? 0;
    this.score.differ(`the app does not come to rest: its last plan creates ${creates} times`);
  }

  #happened(event: SimulatorEvent): void {
    const { rig, nodes, misfortune } = this.#books;
    nodes.see(event);
    if (event.kind !== "status-read") return;
    if (misfortune.noteLook()) misfortune.blur(rig.now);
    else nodes.list();
  }

  #sent({ path, body }: TransportRequest): void {
    if (!path.endsWith("/create")) return;
    const create = readCreate(body);
    if (create !== undefined) this.#books.nodes.sent(create.requestId, placesOf(create));
  }

  #failed({ path, body }: TransportRequest): void {
    const { rig, nodes, misfortune } = this.#books;
    misfortune.blur(rig.now);
    const create = path.endsWith("/create") ? readCreate(body) : undefined;
    if (create !== undefined) for (const place of placesOf(create)) nodes.trouble(place);
  }
}

const placesOf = ({ sets }: CreateRead): readonly string[] =>
  sets.map(({ array, type }) => placeOf(array, type));
