import type { Entry, PartName } from "./steps.ts";

/** A message as its sender means it, with the times that the door gives it. */
export interface Letter extends Stamp {
  /** Of two demands with the same revision and tie-break, the one with the larger mark counts. */
  readonly mark: string;
  readonly entries: readonly Entry[];
  /** DELETE: the set ends at once. */
  readonly ends?: true;
}

interface Stamp {
  readonly set: string;
  readonly revision: number;
  /** Orders messages of one revision: the queue's message id, or empty. */
  readonly tieBreak: string;
  readonly sentAt: number;
  readonly interval: number;
}

/** A message without demand. Each of its parts always has the same content. */
export interface Aside extends Stamp {
  readonly parts: readonly PartName[];
}

/** A part that came without demand, as it is held. */
export interface HeldPart extends Stamp {
  readonly part: PartName;
  readonly expiresAt: number;
  readonly live: boolean;
}

/** A request set, as it is held. */
export interface Held extends Letter {
  readonly expiresAt: number;
  readonly takenAt: number;
  /** When it was sent before, if it was sent again 30 s later or more. */
  readonly repeatedAt?: number | undefined;
  /** False once a plan has seen that it has expired: it asks for nothing, and keeps its revision. */
  readonly live: boolean;
}

export type Answer = "accepted" | "older" | "stale";

/** A revision may be this many seconds ahead of the app's clock (docs/demand.md). */
const AHEAD = 300;

/** Two messages that were sent this far apart did not wait together. */
const APART_MS = 30_000;

/** The rules of request sets (docs/demand.md, Expiry, order and clocks): the higher revision counts, and everything expires. */
export class SetBook {
  readonly #sets = new Map<string, Held>();
  readonly #parts = new Map<string, HeldPart>();
  /** Maximum validity of a set, in seconds. A lapsed set keeps its revision for this time and {@link AHEAD}. */
  readonly #longest: number;

  constructor(longestSeconds: number) {
    this.#longest = longestSeconds;
  }

  get sets(): ReadonlyMap<string, Held> {
    return this.#sets;
  }

  /** Parts that came without demand, and are at least as new as the demand of their set. */
  get parts(): readonly HeldPart[] {
    return [...this.#parts.values()];
  }

  /** Takes a message. Returns the answer to its sender. */
  take(letter: Letter, now: number): Answer {
    const interval = Math.min(letter.interval, this.#longest);
    const expiresAt = letter.sentAt + interval * 1000;
    if (expiresAt <= now || this.#isForgotten(letter, now)) return "stale";
    const held = this.#sets.get(letter.set);
    const order = held === undefined ? 1 : compareLetters(letter, held);
    if (order < 0) return "older";
    const isRepeat = held !== undefined && order === 0 && held.live;
    const isOver = letter.ends === true;
    const end = isOver ? now : expiresAt;
    // A repeated message changes nothing, unless it makes the same demand last longer. So does the end of a set that asks for nothing, if it
    // has the set's revision: whichever comes first, the set goes on.
    if (isRepeat && (held.expiresAt > end || (held.expiresAt === end && held.sentAt >= letter.sentAt)))
      return "accepted";
    const isApart = order === 0 && held !== undefined && letter.sentAt - held.sentAt >= APART_MS;
    const repeatedAt = isApart ? held.sentAt : order === 0 ? held?.repeatedAt : undefined;
    this.#sets.set(letter.set, {
      ...letter,
      interval,
      expiresAt: end,
      takenAt: now,
      repeatedAt,
      live: !isOver,
    });
    // A demand replaces all parts of its set that came before it.
    for (const [key, part] of this.#parts)
      if (part.set === letter.set && compareStamps(part, letter) < 0) this.#parts.delete(key);
    return "accepted";
  }

  /** The same for a message without demand. Each part is taken or left by itself. */
  takeAside(aside: Aside, now: number): Answer {
    const interval = Math.min(aside.interval, this.#longest);
    const expiresAt = aside.sentAt + interval * 1000;
    if (expiresAt <= now || this.#isForgotten(aside, now)) return "stale";
    const { parts, ...stamp } = aside;
    const taken = parts.filter((part) => this.#takePart({ ...stamp, interval, part, expiresAt, live: true }));
    return taken.length > 0 ? "accepted" : "older";
  }

  /**
   * Whether a message is so old that a later one may have been forgotten. It counts only if it is no older than something that is held of
   * its set.
   */
  #isForgotten(stamp: Stamp, now: number): boolean {
    const held = [this.#sets.get(stamp.set), ...this.parts.filter(({ set }) => set === stamp.set)];
    const renews = held.some((known) => known !== undefined && compareStamps(stamp, known) >= 0);
    return stamp.revision < now - this.#longest * 1000 && !renews;
  }

  #takePart(part: HeldPart): boolean {
    const key = `${part.set}/${part.part}`;
    const demand = this.#sets.get(part.set);
    if (demand !== undefined && compareStamps(part, demand) < 0) return false;
    const held = this.#parts.get(key);
    if (held !== undefined && compareStamps(part, held) < 0) return false;
    const isRepeat = held?.live === true && compareStamps(part, held) === 0;
    if (!isRepeat || held.expiresAt < part.expiresAt) this.#parts.set(key, part);
    return true;
  }

  /** A plan is made at this moment. Expired sets and parts ask for nothing any more, and those that expired long ago are forgotten. */
  lapse(now: number): void {
    for (const [name, held] of this.#sets) {
      if (held.expiresAt > now) continue;
      if (held.expiresAt + (this.#longest + AHEAD) * 1000 <= now) this.#sets.delete(name);
      else if (held.live) this.#sets.set(name, { ...held, live: false });
    }
    for (const [key, part] of this.#parts) {
      if (part.expiresAt > now) continue;
      if (part.expiresAt + (this.#longest + AHEAD) * 1000 <= now) this.#parts.delete(key);
      else if (part.live) this.#parts.set(key, { ...part, live: false });
    }
  }

  /** The sets that are in force at a moment. */
  inForce(now: number): readonly Held[] {
    return [...this.#sets.values()].filter((held) => held.live && held.expiresAt > now);
  }
}

function compareLetters(a: Letter, b: Letter): number {
  return compareStamps(a, b) || compare(a.mark, b.mark);
}

function compareStamps(a: Stamp, b: Stamp): number {
  return a.revision - b.revision || compare(a.tieBreak, b.tieBreak);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
