import type { SetEntries } from "../../src/domain/request-sets.ts";
import type { DemandMessage } from "../../src/wire/message/message.ts";
import type { Books } from "./books.ts";
import { contentOf, partsOf } from "./messages.ts";
import type { Delivered, Parcel } from "./rig.ts";
import { CLUSTER } from "./shape.ts";
import type { Deed, Entry, PartName } from "./steps.ts";

type Push = Extract<Deed, { kind: "push" }>;
type SetAside = Extract<Deed, { kind: "aside" }>;

/** A removed set keeps its revision for this long, in seconds. */
const REMOVED_SECONDS = 86_400;

/** Delivers messages to the app and to the model, and compares the answers and the request sets that both hold. */
export class MessageCheck {
  readonly #books: Books;
  /** The last demand of each set. */
  readonly #last = new Map<string, { readonly parcel: Parcel; readonly entries: readonly Entry[] }>();

  constructor(books: Books) {
    this.#books = books;
  }

  async push(deed: Push, index: number): Promise<void> {
    const parcel = this.#pack(deed, index, contentOf(this.#books.shape, deed.entries));
    this.#last.set(setAt(deed.set), { parcel, entries: deed.entries });
    await this.#deliver(parcel, deed.entries);
  }

  /** A message without demand. */
  async setAside(deed: SetAside, index: number): Promise<void> {
    const { rig, sets } = this.#books;
    const parcel = this.#pack(deed, index, partsOf(deed.parts));
    const stamp = this.#stampOf(parcel);
    const { now } = rig;
    await this.#compareAnswer(parcel, await rig.deliver(parcel), () =>
      sets.takeAside({ ...stamp, parts: deed.parts }, now),
    );
  }

  /** The set's last demand once more, as a new message. */
  async renew(set: number, index: number): Promise<void> {
    const last = this.#last.get(setAt(set));
    if (last === undefined) return;
    const { revision: _old, ...message } = last.parcel.message;
    const parcel = { ...last.parcel, message, id: `m${index}`, insertedAt: this.#books.rig.now };
    await this.#deliver(parcel, last.entries);
  }

  /** The set's last demand once more, as the same message. */
  async redeliver(set: number): Promise<void> {
    const last = this.#last.get(setAt(set));
    if (last !== undefined) await this.#deliver(last.parcel, last.entries);
  }

  async remove(index: number): Promise<void> {
    const { rig, sets } = this.#books;
    const { now } = rig;
    const set = setAt(index);
    const letter = {
      set,
      revision: now,
      tieBreak: "",
      sentAt: now,
      interval: REMOVED_SECONDS,
      entries: [],
      ends: true,
    } as const;
    await this.#compareAnswer(`DELETE ${set}`, await rig.remove(set), (mark) =>
      sets.take({ ...letter, mark }, now),
    );
  }

  /** Compares the sets and the separate parts that the app and the model hold. */
  async compareSets(): Promise<void> {
    const { rig, sets, score } = this.#books;
    const record = await rig.record();
    const ours = [...sets.sets.values()].map(
      ({ set, revision, expiresAt, live }) => `${set}: revision ${revision}, until ${expiresAt}, ${live}`,
    );
    const theirs = [...(record?.sets ?? [])].map(
      ([set, { revision, expiresAt, live }]) =>
        `${set}: revision ${revision.value}, until ${expiresAt}, ${live}`,
    );
    score.compare("sets", theirs.toSorted(), ours.toSorted());
    const ourParts = sets.parts.map(
      ({ set, part, revision, expiresAt, live }) => `${set} ${part}: ${revision}, ${expiresAt}, ${live}`,
    );
    const theirParts = [
      ...linesOfPart("report", record?.separateReports),
      ...linesOfPart("pools", record?.separatePools),
    ];
    score.compare("parts", theirParts.toSorted(), ourParts.toSorted());
  }

  #pack(deed: Push | SetAside, index: number, content: Partial<DemandMessage>): Parcel {
    const { rig, sets } = this.#books;
    const set = setAt(deed.set);
    const { now } = rig;
    const held = sets.sets.get(set)?.revision ?? now;
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
    const { rig, sets } = this.#books;
    const stamp = this.#stampOf(parcel);
    const { now } = rig;
    await this.#compareAnswer(parcel, await rig.deliver(parcel), (mark) =>
      sets.take({ ...stamp, mark, entries }, now),
    );
  }

  /** The set of a message, how new it is, and how long it is valid. */
  #stampOf({ door, message, id, insertedAt }: Parcel) {
    const { now } = this.#books.rig;
    const sentAt = door === "queue" ? insertedAt : now;
    const implicit =
      door === "queue"
        ? { revision: Math.floor(sentAt / 1000) * 1000, tieBreak: id }
        : { revision: now, tieBreak: "" };
    const stamp = message.revision === undefined ? implicit : { revision: message.revision, tieBreak: "" };
    return { set: message.requestSet ?? "", ...stamp, sentAt, interval: message.expirationInterval ?? 0 };
  }

  /** Compares the app's answer with the model's. Only then may a plan be made. */
  async #compareAnswer(
    what: Parcel | string,
    delivered: Delivered,
    take: (mark: string) => string,
  ): Promise<void> {
    const { score } = this.#books;
    const expected = take(delivered.mark);
    score.count("answers");
    if (delivered.answer !== expected)
      score.differ(`${JSON.stringify(what)} is ${delivered.answer}, the model says ${expected}`);
    await delivered.follow();
  }
}

function linesOfPart(part: PartName, entries: SetEntries | undefined): readonly string[] {
  return [...(entries ?? [])].map(
    ([set, { revision, expiresAt, live }]) => `${set} ${part}: ${revision.value}, ${expiresAt}, ${live}`,
  );
}

const setAt = (index: number): string => `set${index}`;
