import type { Entry } from "./steps.ts";

/** A message as its sender means it, with the times that it gets at the door. */
export interface Letter {
  readonly set: string;
  readonly revision: number;
  /** Orders messages of one revision: the queue's message id, or nothing. */
  readonly tieBreak: string;
  /** Of two demands with one revision and tie-break the one with the larger mark counts. */
  readonly mark: string;
  readonly sentAt: number;
  readonly interval: number;
  readonly entries: readonly Entry[];
}

/** What is held of a request set. */
export interface Held extends Letter {
  readonly expiresAt: number;
  /** False once a plan has seen that its time was over: it asks for nothing, and keeps its revision. */
  readonly live: boolean;
}

export type Answer = "accepted" | "older" | "stale";

/** The rules of request sets (issue 5, section 2), in plain words: the higher revision counts, and everything dies by itself. */
export class SetBook {
  readonly #sets = new Map<string, Held>();
  /** No set is valid longer; a lapsed one keeps its revision for so long. */
  readonly #longest: number;

  constructor(longestSeconds: number) {
    this.#longest = longestSeconds;
  }

  get sets(): ReadonlyMap<string, Held> {
    return this.#sets;
  }

  /** What the sender of a message is told. */
  take(letter: Letter, now: number): Answer {
    const interval = Math.min(letter.interval, this.#longest);
    const expiresAt = letter.sentAt + interval * 1000;
    if (expiresAt <= now) return "stale";
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
    this.#sets.set(letter.set, { ...letter, interval, expiresAt, live: true });
    return "accepted";
  }

  /** A plan is made at this moment: what has run out asks for nothing any more, and what ran out long ago is forgotten. */
  lapse(now: number): void {
    for (const [name, held] of this.#sets) {
      if (held.expiresAt > now) continue;
      if (held.expiresAt + this.#longest * 1000 <= now) this.#sets.delete(name);
      else if (held.live) this.#sets.set(name, { ...held, live: false });
    }
  }

  /** The sets that count at a moment. */
  inForce(now: number): readonly Held[] {
    return [...this.#sets.values()].filter((held) => held.live && held.expiresAt > now);
  }
}

function compareLetters(a: Letter, b: Letter): number {
  return a.revision - b.revision || compare(a.tieBreak, b.tieBreak) || compare(a.mark, b.mark);
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
