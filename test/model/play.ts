import type { TransportRequest } from "../../src/adapters/cyclecloud/transport.ts";
import type { StopAnswer } from "../../src/app/answer-autostop.ts";
import { arrayName } from "../../src/domain/ids.ts";
import type { Plan } from "../../src/domain/plan.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import type { SimulatorEvent } from "../../src/simulator/events.ts";
import type { Failure } from "../../src/simulator/faults.ts";
import type { DemandMessage, JobMessage, NodearrayMessage } from "../../src/wire/message.ts";
import type { Creation, Stock } from "./floors.ts";
import { linesOf, settleWants } from "./floors.ts";
import type { BookedNode } from "./node-book.ts";
import { NodeBook, placeOf } from "./node-book.ts";
import { Rest } from "./rest.ts";
import type { Delivered, OpenStore, Parcel } from "./rig.ts";
import { POLICY, Rig } from "./rig.ts";
import { SetBook } from "./set-book.ts";
import type { ClusterShape, TypeName } from "./shape.ts";
import { CLUSTER, TYPES } from "./shape.ts";
import type { Deed, Entry, Sequence } from "./steps.ts";
import type { Server } from "./stops.ts";
import { mayAllGo } from "./stops.ts";
import { arrayAt, jobName, typesAt, wantsOf } from "./wants.ts";

/** What came of a sequence. */
export interface Played {
  /** Where the app and the model disagree; the first ends the sequence, so that there is at most one and what is at its heart. */
  readonly differences: readonly string[];
  /** Plans that were compared in full, and those that were made while a failure had its after-effects. */
  readonly compared: number;
  readonly blurred: number;
  readonly answers: number;
  readonly stops: number;
}

/** After a failure nodes may be unclear for so long: a stop whose answer was lost is decided again after two minutes. */
const AFTER_EFFECTS_MS = 200_000;
/** Time to come to rest at the end: the longest pause of a bucket, and then some. */
const CALM_SECONDS = 2400;
const CALM_SLICE_SECONDS = 120;

/** Plays a sequence through the app and through the model, step by step. */
export async function play({ shape, steps }: Sequence, openStore: OpenStore): Promise<Played> {
  const game = new Game(shape, openStore);
  for (const [index, step] of steps.entries()) {
    await game.act(step, index);
    await game.pass(step.pause);
    if (game.differs) return game.played(`step ${index + 1} of ${steps.length}`);
  }
  await game.comeToRest();
  return game.played("at the end");
}

class Game {
  readonly #shape: ClusterShape;
  readonly #rig: Rig;
  readonly #sets = new SetBook(POLICY.maxExpirationSeconds);
  readonly #nodes = new NodeBook();
  readonly #rest = new Rest();
  readonly #keyOfGroup = new Map<string, string>();
  readonly #invalid = new Set<string>();
  readonly #last = new Map<string, { readonly parcel: Parcel; readonly entries: readonly Entry[] }>();
  readonly #differences: string[] = [];
  #blurredUntil = 0;
  /** The next look will show nothing; the last one did. */
  #looks: { nextIsEmpty: boolean; lastWasEmpty: boolean } = { nextIsEmpty: false, lastWasEmpty: false };
  #lastPlan: Plan | undefined;
  #lastWasCompared = false;
  #counts = { compared: 0, blurred: 0, answers: 0, stops: 0 };

  constructor(shape: ClusterShape, openStore: OpenStore) {
    this.#shape = shape;
    this.#rig = new Rig(shape, openStore, {
      planned: (plan, before, after) => this.#planned(plan, before, after),
      happened: (event) => this.#happened(event),
      sent: (request) => this.#sent(request),
      failed: (request) => this.#failed(request),
    });
  }

  get differs(): boolean {
    return this.#differences.length > 0;
  }

  played(where: string): Played {
    return { ...this.#counts, differences: this.#differences.slice(0, 1).map((text) => `${where}: ${text}`) };
  }

  async pass(seconds: number): Promise<void> {
    await this.#rig.pass(seconds);
    await this.#compareSets();
  }

  async act(deed: Deed, index: number): Promise<void> {
    const { faults } = this.#rig.simulator;
    this.#rig.simulator.advance();
    switch (deed.kind) {
      case "push":
        return this.#push(deed, index);
      case "renew": {
        const last = this.#last.get(setAt(deed.set));
        if (last === undefined) return;
        const { revision: _old, ...message } = last.parcel.message;
        const parcel = { ...last.parcel, message, id: `m${index}`, insertedAt: this.#rig.now };
        return this.#deliver(parcel, last.entries);
      }
      case "redeliver": {
        const last = this.#last.get(setAt(deed.set));
        return last === undefined ? undefined : this.#deliver(last.parcel, last.entries);
      }
      case "remove":
        return this.#remove(setAt(deed.set));
      case "wait":
        return;
      case "jump":
        this.#rig.jump(deed.seconds);
        return;
      case "ask":
        return this.#ask(deed);
      case "vanish": {
        const there = this.#nodes.all.filter(
          (node) => node.array === arrayAt(deed.array) && node.seen !== undefined,
        );
        faults.vanish(there.slice(0, deed.count).map(({ id }) => id));
        return;
      }
      case "health": {
        const up = this.#readyIn(deed.array);
        const node = up[deed.from % Math.max(1, up.length)];
        if (node?.seen !== undefined) faults.failNode(node.id);
        return;
      }
      case "capacity": {
        const place = this.#bucketAt(deed.array, deed.type);
        if (place !== undefined) faults.setCapacity(place.array, place.type, deed.left);
        return;
      }
      case "validity": {
        const place = this.#bucketAt(deed.array, deed.type);
        if (place === undefined) return;
        faults.setInvalid(place.array, place.type, deed.valid ? undefined : "DisabledMachineType");
        if (deed.valid) this.#invalid.delete(placeOf(place.array, place.type));
        else this.#invalid.add(placeOf(place.array, place.type));
        return;
      }
      case "fault":
        faults.failNext(MATCHES[deed.on], deed.times, FAILURES[deed.how]);
        return;
      case "false-empty":
        faults.falseEmptyStatus(1);
        this.#looks.nextIsEmpty = true;
    }
  }

  /** Nothing fails any more: soon everything is as the model says, and a further plan changes nothing. */
  async comeToRest(): Promise<void> {
    const { faults } = this.#rig.simulator;
    faults.clear();
    this.#looks.nextIsEmpty = false;
    for (const { name, types } of this.#shape.arrays) {
      for (const type of types) {
        faults.setCapacity(name, type, undefined);
        faults.setInvalid(name, type, undefined);
      }
    }
    this.#invalid.clear();
    for (let passed = 0; passed < CALM_SECONDS; passed += CALM_SLICE_SECONDS) {
      await this.pass(CALM_SLICE_SECONDS);
      const record = await this.#rig.record();
      const isPaused = record?.backoffs.some(({ until }) => until > this.#rig.now) ?? true;
      // Where nodes fail, there is always one more to be replaced.
      const isSound = this.#shape.bootFailureShare + this.#shape.neverBootShare === 0;
      const isDone = this.#lastWasCompared && (!isSound || this.#lastPlan?.creates.length === 0);
      if (this.differs || (isDone && !isPaused && this.#rig.now > this.#blurredUntil)) return;
    }
    this.#differ(
      `the app does not come to rest: its last plan creates ${this.#lastPlan?.creates.length ?? 0} times`,
    );
  }

  // ------------------------------------------------------------ messages

  async #push(deed: Extract<Deed, { kind: "push" }>, index: number): Promise<void> {
    const set = setAt(deed.set);
    const { now } = this.#rig;
    const held = this.#sets.sets.get(set)?.revision ?? now;
    const { revision } = deed;
    const base = revision.kind === "from-held" ? held : now;
    const message: DemandMessage = {
      version: 1,
      cluster: CLUSTER,
      requestSet: set,
      ...(revision.kind === "none" ? {} : { revision: base + revision.milliseconds }),
      expirationInterval: deed.interval,
      ...contentOf(this.#shape, deed.entries),
    };
    const parcel: Parcel = { door: deed.door, message, id: `m${index}`, insertedAt: now };
    this.#last.set(set, { parcel, entries: deed.entries });
    await this.#deliver(parcel, deed.entries);
  }

  async #deliver(parcel: Parcel, entries: readonly Entry[]): Promise<void> {
    const { door, message, id, insertedAt } = parcel;
    const set = message.requestSet ?? "";
    const { now } = this.#rig;
    const sentAt = door === "queue" ? insertedAt : now;
    const implicit =
      door === "queue"
        ? { revision: Math.floor(sentAt / 1000) * 1000, tieBreak: id }
        : { revision: now, tieBreak: "" };
    const stamp = message.revision === undefined ? implicit : { revision: message.revision, tieBreak: "" };
    const interval = message.expirationInterval ?? 0;
    await this.#told(parcel, await this.#rig.deliver(parcel), (mark) =>
      this.#sets.take({ set, ...stamp, mark, sentAt, interval, entries }, now),
    );
  }

  async #remove(set: string): Promise<void> {
    const { now } = this.#rig;
    const letter = { set, revision: now, tieBreak: "", sentAt: now, interval: 86_400, entries: [] };
    await this.#told(`DELETE ${set}`, await this.#rig.remove(set), (mark) =>
      this.#sets.take({ ...letter, mark }, now),
    );
  }

  /** The app's answer beside the model's; only then may a plan be made. */
  async #told(what: Parcel | string, delivered: Delivered, take: (mark: string) => string): Promise<void> {
    const expected = take(delivered.mark);
    this.#counts.answers += 1;
    if (delivered.answer !== expected)
      this.#differ(`${JSON.stringify(what)} is ${delivered.answer}, the model says ${expected}`);
    await delivered.follow();
  }

  async #compareSets(): Promise<void> {
    const record = await this.#rig.record();
    const ours = [...this.#sets.sets.values()].map(
      ({ set, revision, expiresAt, live }) => `${set}: revision ${revision}, until ${expiresAt}, ${live}`,
    );
    const theirs = [...(record?.sets ?? [])].map(
      ([set, { revision, expiresAt, live }]) =>
        `${set}: revision ${revision.value}, until ${expiresAt}, ${live}`,
    );
    this.#compare("sets", theirs.toSorted(), ours.toSorted());
  }

  // ------------------------------------------------------------ plans

  #planned(plan: Plan, before: ClusterRecord | undefined, after: ClusterRecord): void {
    const { now } = this.#rig;
    this.#rest.plan(this.#sets.sets, now);
    this.#sets.lapse(now);
    if (!this.#looks.lastWasEmpty) this.#nodes.look(now);
    const isBlurred =
      now < this.#blurredUntil || (before?.intents.length ?? 0) > 0 || after.inFlight.length > 0;
    this.#lastPlan = plan;
    this.#lastWasCompared = !isBlurred;
    this.#counts[isBlurred ? "blurred" : "compared"] += 1;
    const givenUp = this.#nodes.all.filter((node) => this.#isGivenUp(node));
    for (const node of givenUp) this.#nodes.trouble(placeOf(node.array, node.type));
    if (!isBlurred) this.#comparePlan(plan, after, givenUp);
    for (const { purpose, bucket } of plan.creates) {
      if (purpose.kind === "group" && bucket.placementGroup !== undefined)
        this.#keyOfGroup.set(bucket.placementGroup, purpose.key);
    }
  }

  #comparePlan(plan: Plan, { backoffs }: ClusterRecord, givenUp: readonly BookedNode[]): void {
    const { now } = this.#rig;
    this.#compare("stopped nodes", [...plan.terminates].toSorted(), givenUp.map(({ id }) => id).toSorted());

    const paused = backoffs.filter(({ until }) => until > now).map(({ bucket }) => bucket);
    for (const { array, machineType } of paused) {
      const place = placeOf(array, machineType);
      if (!this.#nodes.isTroubled(place))
        this.#differ(`${place} is paused, and nothing ever went wrong there`);
    }
    const isShut: Stock["isShut"] = (array, type, group) =>
      this.#invalid.has(placeOf(array, type)) ||
      paused.some(
        (bucket) =>
          bucket.array === array &&
          bucket.machineType === type &&
          (bucket.placementGroup === undefined || bucket.placementGroup === group),
      );
    const gone = new Set(givenUp);
    const usable = this.#nodes.all
      .filter((node) => (node.phase === "coming" || node.phase === "ready") && !gone.has(node))
      .map(({ array, type, group, phase }) => ({ array, type, group, ready: phase === "ready" }));
    const stock = { usable, holding: this.#nodes.all, keyOfGroup: this.#keyOfGroup, isShut };
    const wants = wantsOf(this.#shape, this.#sets.inForce(now));
    const { creations, placed, tied } = settleWants(this.#shape, wants, stock);
    const got = plan.demands.map(({ set, id, placed: count, asked }) => `${set}/${id}: ${count} of ${asked}`);
    const ours = wants.map((want) => `${want.by}: ${placed.get(want) ?? 0} of ${want.count}`);
    if (tied) return;
    this.#compare(
      "creates",
      linesOf(plan.creates.map((effect) => this.#creationOf(effect))),
      linesOf(creations),
    );
    this.#compare("demands", got.toSorted(), ours.toSorted());
  }

  #creationOf({ bucket, count, purpose }: Plan["creates"][number]): Creation {
    const { array, machineType, placementGroup } = bucket;
    const type: TypeName = TYPES.find((name) => name === machineType) ?? "Small";
    if (purpose.kind !== "group") return { array, type, count };
    // A group whose nodes are all gone may be made anew, under its name.
    const isKnown = this.#nodes.all.some(({ group }) => group !== undefined && group === placementGroup);
    return { array, type, count, key: purpose.key, ...(isKnown ? { group: placementGroup } : {}) };
  }

  /** It never was up when we looked, and has failed, or taken too long. */
  #isGivenUp({ phase, seen }: BookedNode): boolean {
    if (seen === undefined || seen.wasReady) return false;
    if (phase === "failed") return !this.#rest.inPlan;
    return phase === "coming" && this.#rig.now - seen.firstAt >= POLICY.bootTimeoutSeconds * 1000;
  }

  // ------------------------------------------------------------ stops

  async #ask({ array, count, from, unhealthy }: Extract<Deed, { kind: "ask" }>): Promise<void> {
    const up = this.#readyIn(array);
    const start = from % Math.max(1, up.length);
    const askers = [...up.slice(start), ...up.slice(0, start)].slice(0, count);
    if (askers.length === 0) return;
    const stopping = new Set(this.#nodes.all.filter(({ phase }) => phase === "stopping").map(({ id }) => id));
    const answers = await this.#rig.ask(
      askers.map(({ instance = "", array: name }) => ({ instance, array: arrayName(name), unhealthy })),
    );
    this.#counts.answers += answers.length;
    this.#counts.stops += answers.filter(({ kind }) => kind === "stop").length;
    if (unhealthy) for (const { array: name, type } of askers) this.#nodes.trouble(placeOf(name, type));
    const record = await this.#rig.record();
    const isBlurred =
      this.#rig.now < this.#blurredUntil ||
      record?.suspicion !== undefined ||
      (record?.intents.length ?? 0) > 0;
    if (!isBlurred) this.#compareStops(askers, answers, unhealthy, stopping);
  }

  #compareStops(
    askers: readonly BookedNode[],
    answers: readonly StopAnswer[],
    unhealthy: boolean,
    stopping: ReadonlySet<string>,
  ): void {
    const { now } = this.#rig;
    const isUnsure = this.#rest.isBlind(now) || this.#rest.isResting(this.#sets.sets, now);
    const told = askers.map((node, index) => ({ node, answer: answers[index]?.kind ?? "none" }));
    const judged: { readonly node: BookedNode; readonly answer: string }[] = [];
    for (const { node, answer } of told) {
      const isKnown = node.seen?.instance === node.instance;
      const certain = !isKnown
        ? this.#rest.isBlind(now)
          ? "cannot-tell"
          : "unknown-instance"
        : unhealthy
          ? "stop"
          : isUnsure
            ? "cannot-tell"
            : undefined;
      if (certain === undefined) judged.push({ node, answer });
      else if (answer !== certain) this.#differ(`${node.id} is told ${answer}, the model says ${certain}`);
      if ((answer === "stop") !== (node.phase === "stopping"))
        this.#differ(`${node.id} is told ${answer}, and CycleCloud has it ${node.phase}`);
    }
    if (judged.length > 0) this.#compareChosen(judged, stopping);
  }

  /** The right number go, whichever they are: nobody has less for it, and one more could not. */
  #compareChosen(
    judged: readonly { readonly node: BookedNode; readonly answer: string }[],
    stopping: ReadonlySet<string>,
  ): void {
    const up = new Set(judged.map(({ node }) => node.id));
    const servers = this.#nodes.believed
      .filter(({ id }) => !stopping.has(id))
      .flatMap(({ id, array, type, group, seen }): readonly Server[] => {
        const isReady = up.has(id) || seen?.phase === "ready";
        const isComing = seen === undefined || seen.phase === "coming";
        return isReady || isComing ? [{ id, array, type, group, ready: isReady }] : [];
      });
    const wants = wantsOf(this.#shape, this.#sets.inForce(this.#rig.now));
    const may = (going: ReadonlySet<string>): boolean =>
      mayAllGo(this.#shape, wants, servers, this.#keyOfGroup, going);
    const going = new Set(judged.filter(({ answer }) => answer === "stop").map(({ node }) => node.id));
    if (!may(going)) this.#differ(`${[...going].join(", ")} may go together, and somebody needs one of them`);
    if (!this.#isCountable(judged, servers)) return;
    for (const { node, answer } of judged) {
      if (answer === "stop") continue;
      if (answer !== "stay") this.#differ(`${node.id} is told ${answer}, the model says stay or stop`);
      else if (may(new Set([...going, node.id])))
        this.#differ(`${node.id} is told to stay, and nobody needs it`);
    }
  }

  /** Where groups and sizes differ, which of several nodes go decides how many can: there it is only checked that nobody has less. */
  #isCountable(judged: readonly { readonly node: BookedNode }[], servers: readonly Server[]): boolean {
    const [first] = judged;
    const here = servers.filter(({ array }) => array === first?.node.array);
    if (here.some(({ group }) => group !== undefined)) return false;
    return judged.length === 1 || new Set(here.map(({ type }) => type)).size === 1;
  }

  // ------------------------------------------------------------ small things

  #readyIn(index: number): readonly BookedNode[] {
    return this.#nodes.all.filter((node) => node.array === arrayAt(index) && node.phase === "ready");
  }

  #bucketAt(array: number, type: number): { readonly array: string; readonly type: TypeName } | undefined {
    const shape = this.#shape.arrays[array];
    const name = shape?.types[type % shape.types.length];
    return shape === undefined || name === undefined ? undefined : { array: shape.name, type: name };
  }

  #happened(event: SimulatorEvent): void {
    this.#nodes.see(event);
    if (event.kind !== "status-read") return;
    this.#looks = { nextIsEmpty: false, lastWasEmpty: this.#looks.nextIsEmpty };
    if (this.#looks.lastWasEmpty) this.#blur();
  }

  #sent({ path, body }: TransportRequest): void {
    if (!path.endsWith("/create")) return;
    const create = readCreate(body);
    if (create !== undefined) this.#nodes.sent(create.requestId, placeOf(create.array, create.type));
  }

  #failed({ path, body }: TransportRequest): void {
    this.#blur();
    const create = path.endsWith("/create") ? readCreate(body) : undefined;
    if (create !== undefined) this.#nodes.trouble(placeOf(create.array, create.type));
  }

  #blur(): void {
    this.#blurredUntil = Math.max(this.#blurredUntil, this.#rig.now + AFTER_EFFECTS_MS);
  }

  #compare(what: string, app: readonly string[], model: readonly string[]): void {
    const [theirs, ours] = [app.join("; "), model.join("; ")];
    if (theirs !== ours) this.#differ(`${what}: the app has [${theirs}], the model has [${ours}]`);
  }

  #differ(text: string): void {
    this.#differences.push(text);
  }
}

const MATCHES = {
  status: { method: "GET", pathIncludes: "/status" },
  create: { pathIncludes: "/nodes/create" },
  terminate: { pathIncludes: "/nodes/terminate" },
  operations: { pathIncludes: "/operations" },
  nodes: { method: "GET", pathIncludes: "/nodes" },
} as const;

const FAILURES: Readonly<Record<Extract<Deed, { kind: "fault" }>["how"], Failure>> = {
  "drop-request": { dropRequest: true },
  "drop-answer": { dropAnswer: true },
  "500": { status: 500 },
  "500-after": { status: 500, afterEffect: true },
  "409": { status: 409 },
};

const setAt = (index: number): string => `set${index}`;

function contentOf(
  shape: ClusterShape,
  entries: readonly Entry[],
): Pick<DemandMessage, "nodearrays" | "jobs"> {
  const targets = entries.flatMap((entry) => (entry.kind === "job" ? [] : [targetMessage(shape, entry)]));
  const jobs = entries.flatMap((entry) => (entry.kind === "job" ? [entry] : []));
  return {
    nodearrays: targets,
    jobs: jobs.map((entry, index) => jobMessage(shape, entry, targets.length + index)),
  };
}

function targetMessage(shape: ClusterShape, entry: Exclude<Entry, { kind: "job" }>): NodearrayMessage {
  const types = typesAt(shape, entry.array, entry.types);
  const common = { Name: arrayAt(entry.array), ...(types.length === 0 ? {} : { MachineType: types }) };
  if (entry.kind === "target") {
    return entry.unit === "nodes"
      ? { ...common, TargetCount: entry.count }
      : { ...common, TargetCoreCount: entry.count };
  }
  const { groups: TargetGroupCount, size } = entry;
  return entry.unit === "nodes"
    ? { ...common, TargetGroupCount, GroupInstanceCount: size }
    : { ...common, TargetGroupCount, GroupCoreCount: size };
}

function jobMessage(
  shape: ClusterShape,
  entry: Extract<Entry, { kind: "job" }>,
  position: number,
): JobMessage {
  const [type = "Small"] = shape.arrays[entry.array]?.types ?? [];
  return {
    name: jobName(position),
    iterations: entry.slots,
    constraints: [{ ncpus: 1, "node.nodearray": arrayAt(entry.array), "node.vm_size": type }],
  };
}

/** What a create asks for, read from the wire. */
function readCreate(
  body: unknown,
): { readonly requestId: string; readonly array: string; readonly type: string } | undefined {
  if (typeof body !== "object" || body === null || !("requestId" in body) || !("sets" in body))
    return undefined;
  const set: unknown = Array.isArray(body.sets) ? body.sets[0] : undefined;
  if (typeof set !== "object" || set === null || !("nodearray" in set) || !("definition" in set))
    return undefined;
  const { definition, nodearray } = set;
  if (typeof definition !== "object" || definition === null || !("machineType" in definition))
    return undefined;
  return {
    requestId: String(body.requestId),
    array: String(nodearray),
    type: String(definition.machineType),
  };
}
