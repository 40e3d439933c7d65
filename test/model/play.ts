import type { TransportRequest } from "../../src/adapters/cyclecloud/transport.ts";
import { arrayName } from "../../src/domain/ids.ts";
import { instant } from "../../src/domain/units.ts";
import type { Plan } from "../../src/domain/plan.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import type { SetEntries } from "../../src/domain/request-sets.ts";
import type { SimulatorEvent } from "../../src/simulator/events.ts";
import type { DemandMessage } from "../../src/wire/message/message.ts";
import type { Creation, Stock } from "./floors.ts";
import { linesOf } from "./floors.ts";
import type { Fill } from "./group-memory.ts";
import { fillsAfter, fillsOf, linesOfFills, unsureKeys } from "./group-memory.ts";
import { contentOf, partsOf } from "./messages.ts";
import { Misfortune } from "./misfortune.ts";
import type { BookedNode } from "./node-book.ts";
import { NodeBook, placeOf } from "./node-book.ts";
import { settleWants } from "./orders.ts";
import type { CreateRead } from "./read-create.ts";
import { readCreate } from "./read-create.ts";
import { faultOf } from "./otherwise.ts";
import { Rest } from "./rest.ts";
import { UnhealthyBook } from "./unhealthy-book.ts";
import type { Delivered, OpenStore, Parcel } from "./rig.ts";
import { POLICY, Rig } from "./rig.ts";
import { SetBook } from "./set-book.ts";
import type { ClusterShape, TypeName } from "./shape.ts";
import { CLUSTER, TYPES } from "./shape.ts";
import type { Deed, Entry, PartName, Sequence } from "./steps.ts";
import type { Moment } from "./stops.ts";
import { judgeStops } from "./stops.ts";
import { arrayAt, wantsOf } from "./wants.ts";

/** What came of a sequence. */
export interface Played {
  /** Where the app and the model disagree; the first ends the sequence, so that there is at most one and what is at its heart. */
  readonly differences: readonly string[];
  /** Plans that were compared in full, and those that were made while a failure had its after-effects. */
  readonly compared: number;
  readonly blurred: number;
  /** Of the compared ones, those in which no rule says which of several groups is completed: what they create is not compared. */
  readonly tied: number;
  /** Of the compared ones, those that are not the model's and are just as right: wants compete, and no rule says who yields. */
  readonly otherwise: number;
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
  readonly #unhealthy = new UnhealthyBook();
  readonly #keyOfGroup = new Map<string, string>();
  readonly #misfortune: Misfortune;
  readonly #last = new Map<string, { readonly parcel: Parcel; readonly entries: readonly Entry[] }>();
  readonly #differences: string[] = [];
  #blurredUntil = 0;
  /** Nodes call themselves unhealthy, and the model does not know yet what they are told. */
  #isHearing = false;
  #lastPlan: Plan | undefined;
  #lastWasCompared = false;
  #counts = { compared: 0, blurred: 0, tied: 0, otherwise: 0, answers: 0, stops: 0 };

  constructor(shape: ClusterShape, openStore: OpenStore) {
    this.#shape = shape;
    this.#rig = new Rig(shape, openStore, {
      planned: (plan, before, after) => this.#planned(plan, before, after),
      happened: (event) => this.#happened(event),
      sent: (request) => this.#sent(request),
      failed: (request) => this.#failed(request),
    });
    this.#misfortune = new Misfortune(shape, this.#rig.simulator, this.#nodes);
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
    this.#rig.simulator.advance();
    switch (deed.kind) {
      case "push":
        return this.#push(deed, index);
      case "aside":
        return this.#setAside(deed, index);
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
      default:
        this.#misfortune.bring(deed);
    }
  }

  /** Nothing fails any more: soon everything is as the model says, and a further plan changes nothing. */
  async comeToRest(): Promise<void> {
    this.#misfortune.end();
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
    const parcel = this.#pack(deed, index, contentOf(this.#shape, deed.entries));
    this.#last.set(setAt(deed.set), { parcel, entries: deed.entries });
    await this.#deliver(parcel, deed.entries);
  }

  async #setAside(deed: Extract<Deed, { kind: "aside" }>, index: number): Promise<void> {
    const parcel = this.#pack(deed, index, partsOf(deed.parts));
    const stamp = this.#stampOf(parcel);
    const { now } = this.#rig;
    await this.#told(parcel, await this.#rig.deliver(parcel), () =>
      this.#sets.takeAside({ ...stamp, parts: deed.parts }, now),
    );
  }

  #pack(
    deed: Extract<Deed, { kind: "push" | "aside" }>,
    index: number,
    content: Partial<DemandMessage>,
  ): Parcel {
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
      ...content,
    };
    return { door: deed.door, message, id: `m${index}`, insertedAt: now };
  }

  async #deliver(parcel: Parcel, entries: readonly Entry[]): Promise<void> {
    const stamp = this.#stampOf(parcel);
    const { now } = this.#rig;
    await this.#told(parcel, await this.#rig.deliver(parcel), (mark) =>
      this.#sets.take({ ...stamp, mark, entries }, now),
    );
  }

  /** Whose message it is, how new it is, and how long it counts. */
  #stampOf({ door, message, id, insertedAt }: Parcel) {
    const { now } = this.#rig;
    const sentAt = door === "queue" ? insertedAt : now;
    const implicit =
      door === "queue"
        ? { revision: Math.floor(sentAt / 1000) * 1000, tieBreak: id }
        : { revision: now, tieBreak: "" };
    const stamp = message.revision === undefined ? implicit : { revision: message.revision, tieBreak: "" };
    return { set: message.requestSet ?? "", ...stamp, sentAt, interval: message.expirationInterval ?? 0 };
  }

  async #remove(set: string): Promise<void> {
    const { now } = this.#rig;
    const letter = {
      set,
      revision: now,
      tieBreak: "",
      sentAt: now,
      interval: 86_400,
      entries: [],
      ends: true,
    } as const;
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
    const ourParts = this.#sets.parts.map(
      ({ set, part, revision, expiresAt, live }) => `${set} ${part}: ${revision}, ${expiresAt}, ${live}`,
    );
    const partsIn = (part: PartName, entries: SetEntries | undefined): readonly string[] =>
      [...(entries ?? [])].map(
        ([set, { revision, expiresAt, live }]) => `${set} ${part}: ${revision.value}, ${expiresAt}, ${live}`,
      );
    const theirParts = [
      ...partsIn("report", record?.separateReports),
      ...partsIn("pools", record?.separatePools),
    ];
    this.#compare("parts", theirParts.toSorted(), ourParts.toSorted());
  }

  // ------------------------------------------------------------ plans

  #planned(plan: Plan, before: ClusterRecord | undefined, after: ClusterRecord): void {
    const { now } = this.#rig;
    this.#rest.plan(this.#sets.sets, now, after.restsUntil);
    this.#sets.lapse(now);
    if (!this.#misfortune.lastLookWasEmpty) this.#nodes.look(now);
    const isBlurred =
      now < this.#blurredUntil ||
      this.#isHearing ||
      (before?.intents.length ?? 0) > 0 ||
      after.inFlight.length > 0;
    this.#lastPlan = plan;
    this.#lastWasCompared = !isBlurred;
    this.#counts[isBlurred ? "blurred" : "compared"] += 1;
    const givenUp = this.#nodes.all.filter((node) => this.#isGivenUp(node));
    for (const node of givenUp) this.#nodes.trouble(placeOf(node.array, node.type));
    this.#noteGivenUp(before, after);
    if (!isBlurred) this.#comparePlan(plan, fillsOf(before), after, givenUp);
    for (const { purpose, bucket } of plan.creates) {
      if (purpose.kind === "group" && bucket.placementGroup !== undefined)
        this.#keyOfGroup.set(bucket.placementGroup, purpose.key);
    }
  }

  #comparePlan(
    plan: Plan,
    fills: ReadonlyMap<string, Fill>,
    after: ClusterRecord,
    givenUp: readonly BookedNode[],
  ): void {
    const { now } = this.#rig;
    this.#compare("stopped nodes", [...plan.terminates].toSorted(), givenUp.map(({ id }) => id).toSorted());

    const paused = after.backoffs.filter(({ until }) => until > now).map(({ bucket }) => bucket);
    for (const { array, machineType } of paused) {
      const place = placeOf(array, machineType);
      if (!this.#nodes.isTroubled(place))
        this.#differ(`${place} is paused, and nothing ever went wrong there`);
    }
    const isInvalid: Stock["isInvalid"] = (array, type) => this.#misfortune.isInvalid(placeOf(array, type));
    const isShut: Stock["isShut"] = (array, type, group) =>
      isInvalid(array, type) ||
      paused.some(
        (bucket) =>
          bucket.array === array &&
          bucket.machineType === type &&
          (bucket.placementGroup === undefined || bucket.placementGroup === group),
      );
    const replaced = this.#replaced(givenUp);
    const closed = this.#unhealthy.closed(this.#nodes.believed, replaced, now);
    const usable = this.#nodes.believed
      .filter((node) => node.phase !== "stopping" && !replaced.has(node) && !closed.nodes.has(node))
      .map(({ array, type, group, phase }) => ({ array, type, group, ready: phase === "ready" }));
    const patientSince = now - POLICY.groupFillTimeoutSeconds * 1000;
    const known = { usable, holding: this.#nodes.believed, keyOfGroup: this.#keyOfGroup };
    const stock: Stock = { ...known, isShut, isInvalid, fills, patientSince };
    const wants = wantsOf(this.#shape, this.#sets.inForce(now));
    const outcome = settleWants(this.#shape, wants, stock);
    const { creations, placed, tied, groups } = outcome;
    const got = plan.demands.map(({ set, id, placed: count, asked }) => `${set}/${id}: ${count} of ${asked}`);
    const ours = wants.map((want) => `${want.by}: ${placed.get(want) ?? 0} of ${want.count}`);
    if (tied || !closed.isSure) {
      this.#counts.tied += 1;
      return;
    }
    const theirs = plan.creates.map((effect) => this.#creationOf(effect));
    const [made, expected] = [linesOf(theirs), linesOf(creations)].map((lines) => lines.join("; "));
    if (made !== expected) {
      const other = {
        creations: theirs,
        placed: new Map(plan.demands.map((one) => [`${one.set}/${one.id}`, one.placed])),
      };
      const fault = faultOf(this.#shape, wants, stock, other, outcome);
      this.#counts.otherwise += 1;
      if (fault !== undefined)
        this.#differ(`creates: the app has [${made}], the model has [${expected}]: ${fault}`);
      return;
    }
    this.#compare("demands", got.toSorted(), ours.toSorted());
    const unsure = unsureKeys(groups);
    const isSure = ([name]: readonly [string, Fill]): boolean =>
      !unsure.has(this.#keyOfGroup.get(name) ?? "");
    const hasNodes = (name: string): boolean => this.#nodes.believed.some(({ group }) => group === name);
    const fillsExpected = fillsAfter(fills, groups, hasNodes, now);
    this.#compare(
      "groups that lack nodes",
      linesOfFills(new Map([...fillsOf(after)].filter(isSure))),
      linesOfFills(new Map([...fillsExpected].filter(isSure))),
    );
  }

  /** Where a group is given up no other is tried for a while; that it is, is for others to compare. */
  #noteGivenUp(before: ClusterRecord | undefined, { groupFills = [] }: ClusterRecord): void {
    const { now } = this.#rig;
    const fills = fillsOf(before);
    for (const { bucket, givenUpAt } of groupFills) {
      const since = fills.get(bucket.placementGroup ?? "")?.since ?? now;
      const isDue = now - since >= POLICY.groupFillTimeoutSeconds * 1000;
      if (givenUpAt === now && isDue) this.#nodes.trouble(placeOf(bucket.array, bucket.machineType));
    }
  }

  #creationOf({ bucket, count, purpose }: Plan["creates"][number]): Creation {
    const { array, machineType, placementGroup } = bucket;
    const type: TypeName = TYPES.find((name) => name === machineType) ?? "Small";
    if (purpose.kind !== "group") return { array, type, count };
    // A group whose nodes are all gone may be made anew, under its name.
    const isKnown = this.#nodes.believed.some(({ group }) => group !== undefined && group === placementGroup);
    return { array, type, count, key: purpose.key, ...(isKnown ? { group: placementGroup } : {}) };
  }

  /** What is listed and of no use is replaced, at most a tenth of an array's nodes (at least 3) at a time; the rest counts as there. */
  #replaced(givenUp: readonly BookedNode[]): ReadonlySet<BookedNode> {
    const failed = this.#nodes.believed.filter(
      ({ phase, seen }) => phase === "failed" || (phase === "gone" && seen?.phase === "failed"),
    );
    const useless = new Set([...failed, ...givenUp]);
    return new Set(
      this.#shape.arrays.flatMap(({ name }) => {
        const here = this.#nodes.believed.filter(({ array }) => array === name);
        return here.filter((node) => useless.has(node)).slice(0, Math.max(3, Math.floor(here.length / 10)));
      }),
    );
  }

  /** The last observation showed it as failed, or as not up in time. */
  #isUselessAsSeen({ seen }: BookedNode): boolean {
    if (seen === undefined) return false;
    const isLate = this.#rig.now - seen.firstAt >= POLICY.bootTimeoutSeconds * 1000;
    return seen.phase === "failed" || (seen.phase === "coming" && !seen.wasReady && isLate);
  }

  /** It never was up when we looked, and has failed, or taken too long. */
  #isGivenUp({ phase, seen }: BookedNode): boolean {
    if (seen === undefined || seen.wasReady) return false;
    if (phase === "failed") return !this.#rest.inPlan;
    return phase === "coming" && this.#rig.now - seen.firstAt >= POLICY.bootTimeoutSeconds * 1000;
  }

  // ------------------------------------------------------------ stops

  async #ask({ array, count, from: first, unhealthy }: Extract<Deed, { kind: "ask" }>): Promise<void> {
    const up = this.#nodes.readyIn(arrayAt(array));
    const start = first % Math.max(1, up.length);
    const askers = [...up.slice(start), ...up.slice(0, start)].slice(0, count);
    if (askers.length === 0) return;
    const stopping = new Set(this.#nodes.all.filter(({ phase }) => phase === "stopping").map(({ id }) => id));
    const from = this.#rig.now;
    const known = askers.filter(({ id, seen, instance }) => !stopping.has(id) && seen?.instance === instance);
    // A node that asks without that word does not call itself unhealthy any more, whatever it is told.
    if (!unhealthy) for (const { id } of known) this.#unhealthy.hear(id, false, "", from, from);
    const moment = this.#momentOf(stopping);
    this.#isHearing = unhealthy;
    const answers = await this.#rig.ask(
      askers.map(({ instance = "", array: name }) => ({
        instance,
        array: arrayName(name),
        unhealthy,
        begin: true,
        arrivedAt: instant(this.#rig.now),
      })),
    );
    this.#isHearing = false;
    if (unhealthy)
      askers.forEach((node, index) => {
        const answer = answers[index]?.kind ?? "none";
        if (known.includes(node)) this.#unhealthy.hear(node.id, true, answer, from, this.#rig.now);
      });
    const before = askers.filter(({ id }) => !stopping.has(id));
    const word = unhealthy ? this.#unhealthy.wordFor(before, this.#nodes.believed, this.#rig.now) : undefined;
    if (unhealthy)
      askers.forEach(({ id, array: name }, index) => {
        if (!stopping.has(id)) this.#unhealthy.note(name, this.#rig.now, answers[index]?.kind === "stop");
      });
    this.#counts.answers += answers.length;
    this.#counts.stops += answers.filter(({ kind }) => kind === "stop").length;
    if (unhealthy) for (const { array: name, type } of askers) this.#nodes.trouble(placeOf(name, type));
    const record = await this.#rig.record();
    const isBlurred =
      this.#rig.now < this.#blurredUntil ||
      record?.targetStatesLackedSince !== undefined ||
      (record?.intents.length ?? 0) > 0;
    if (isBlurred) return;
    const told = askers.map((node, index) => ({ node, answer: answers[index]?.kind ?? "none" }));
    for (const difference of judgeStops(moment, told, word)) this.#differ(difference);
  }

  #momentOf(stopping: ReadonlySet<string>): Moment {
    const { now } = this.#rig;
    const nodes = this.#nodes.believed.map((node) => ({ ...node }));
    const replaced = new Set(nodes.filter((node) => this.#isUselessAsSeen(node)));
    return {
      shape: this.#shape,
      wants: wantsOf(this.#shape, this.#sets.inForce(now)),
      believed: nodes.filter(({ id }) => !stopping.has(id)),
      keyOfGroup: this.#keyOfGroup,
      closed: this.#unhealthy.closed(nodes, replaced, now),
      isBlind: this.#rest.isBlind(now),
      isStale: this.#rest.isStale(now),
      isResting: this.#rest.isResting(this.#sets.sets, now),
    };
  }

  // ------------------------------------------------------------ small things

  #happened(event: SimulatorEvent): void {
    this.#nodes.see(event);
    if (event.kind === "status-read" && this.#misfortune.noteLook()) this.#blur();
  }

  #sent({ path, body }: TransportRequest): void {
    if (!path.endsWith("/create")) return;
    const create = readCreate(body);
    if (create !== undefined) this.#nodes.sent(create.requestId, placesOf(create));
  }

  #failed({ path, body }: TransportRequest): void {
    this.#blur();
    const create = path.endsWith("/create") ? readCreate(body) : undefined;
    if (create !== undefined) for (const place of placesOf(create)) this.#nodes.trouble(place);
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

const placesOf = ({ sets }: CreateRead): readonly string[] =>
  sets.map(({ array, type }) => placeOf(array, type));

const setAt = (index: number): string => `set${index}`;
