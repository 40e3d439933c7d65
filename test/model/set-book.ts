import type { Entry, PartName } from "./steps.ts";

/** A message as its sender means it, with the times that it gets at the door. */
export interface Letter extends Stamp {
  /** Of two demands with one revision and tie-break the one with the larger mark counts. */
  readonly mark: string;
  readonly entries: readonly Entry[];
  /** DELETE: the set is over at once. */
  readonly ends?: true;
}

interface Stamp {
  readonly set: string;
  readonly revision: number;
  /** Orders messages of one revision: the queue's message id, or nothing. */
  readonly tieBreak: string;
  readonly sentAt: number;
  readonly interval: number;
}

/** A message without demand. What its parts say is always the same. */
export interface Aside extends Stamp {
  readonly parts: readonly PartName[];
}

/** What is held of a part that came without demand. */
export interface HeldPart extends Stamp {
  readonly part: PartName;
  readonly expiresAt: number;
  readonly live: boolean;
}

/** What is held of a request set. */
export interface Held extends Letter {
  readonly expiresAt: number;
  readonly takenAt: number;
  /** False once a plan has seen that its time was over: it asks for nothing, and keeps its revision. */
  readonly live: boolean;
}

export type Answer = "accepted" | "older" | "stale";

/** A revision may be this many seconds ahead of the app's clock (docs/demand.md). */
const AHEAD = 300;

/** The rules of request sets (issue 5, section 2), in plain words: the higher revision counts, and everything dies by itself. */
export class SetBook {
  readonly #sets = new Map<string, Held>();
  readonly #parts = new Map<string, HeldPart>();
  /** No set is valid longer; a lapsed one keeps its revision for this time and {@link AHEAD}. Seconds. */
  readonly #longest: number;

  constructor(longestSeconds: number) {
    this.#longest = longestSeconds;
  }

  get sets(): ReadonlyMap<string, Held> {
    return this.#sets;
  }

  /** What came without demand, and is at least as new as the demand of its set. */
  get parts(): readonly HeldPart[] {
    return [...this.#parts.values()];
  }

  /** What the sender of a message is told. */
  take(letter: Letter, now: number): Answer {
    const interval = Math.min(letter.interval, this.#longest);
    const expiresAt = letter.sentAt + interval * 1000;
    if (expiresAt <= now || this.#isForgotten(letter, now)) return "stale";
    const held = this.#sets.get(letter.set);
    const order = held === undefined ? 1 : compareLetters(letter, held);
    if (order < 0) return "older";
    const isRepeat = held !== undefined && order === 0 && held.live;
    // A repeated message adds nothing, unless it makes the same demand last longer.
    if (
      isRepeat &&
      (held.expiresAt > expiresAt || (held.expiresAt === expiresAt && held.sentAt >= letter.sentAt))
    )
      return "accepted";
    const isOver = letter.ends === true;
    const end = isOver ? now : expiresAt;
    this.#sets.set(letter.set, { ...letter, interval, expiresAt: end, takenAt: now, live: !isOver });
    // A demand says everything of its set: what came before it by itself is over.
    for (const [key, part] of this.#parts)
      if (part.set === letter.set && compareStamps(part, letter) < 0) this.#parts.delete(key);
    return "accepted";
  }

  /** The same for a message without demand: each part is taken or left by itself. */
  takeAside(aside: Aside, now: number): Answer {
    const interval = Math.min(aside.interval, this.#longest);
    const expiresAt = aside.sentAt + interval * 1000;
    if (expiresAt <= now || this.#isForgotten(aside, now)) return "stale";
    const { parts, ...stamp } = aside;
    const taken = parts.filter((part) => this.#takePart({ ...stamp, interval, part, expiresAt, live: true }));
    return taken.length > 0 ? "accepted" : "older";
  }

  /** So old that what came after it may have been forgotten; it counts only if it is no older than something that is held of its set. */
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

  /** A plan is made at this moment: what has run out asks for nothing any more, and what ran out long ago is forgotten. */
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

  /** The sets that count at a moment. */
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
