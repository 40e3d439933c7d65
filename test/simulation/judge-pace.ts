import type { ClusterRecord } from "../../src/domain/record.ts";
import type { Violate } from "./judge.ts";
import type { Bounds } from "./weather.ts";

const LOOKS_PER_MINUTE = 13;
/** A process may stand still between reserving a look and sending its call: two calls more may meet in a minute. */
const STATUS_CALLS_PER_MINUTE = 15;
/** No intent lasts for ever: 15 minutes, and until the next plan. */
const OLDEST_INTENT_MS = 900_000 + 180_000;

/** What the judge of nodes knows, as far as pace is judged by it. */
export interface Counts {
  /** The least that was asked of the array all the time from then to now, within its limit. */
  leastNeed(array: string, from: number): number;
  countReady(array: string): number;
  countLive(array: string): number;
  /** Nodes that went by themselves since then. */
  countLost(array: string, since: number): number;
}

/** Counts looks, calls, old intents, and demand that waits too long. */
export class PaceJudge {
  readonly #bounds: Bounds;
  readonly #counts: Counts;
  readonly #now: () => number;
  readonly #violate: Violate;
  readonly #looks: number[] = [];
  readonly #calls: number[] = [];
  readonly #old = new Set<string>();
  readonly #lateSince = new Map<string, number>();
  readonly #begun: number;
  #lookedAt: number | undefined;

  constructor(bounds: Bounds, counts: Counts, now: () => number, violate: Violate) {
    this.#bounds = bounds;
    this.#counts = counts;
    this.#now = now;
    this.#violate = violate;
    this.#begun = now();
  }

  saved({ lookedAt, intents }: ClusterRecord): void {
    if (lookedAt !== undefined && lookedAt !== this.#lookedAt) {
      this.#lookedAt = lookedAt;
      this.#count(this.#looks, LOOKS_PER_MINUTE, "looksTooMany", "looks");
    }
    for (const { id, committedAt } of intents) {
      if (this.#now() - committedAt < OLDEST_INTENT_MS || this.#old.has(id)) continue;
      this.#old.add(id);
      this.#violate(
        "oldIntents",
        1,
        `${id} is still an intent ${this.#now() - committedAt} ms after its commit`,
      );
    }
  }

  /** Storage has lost how many looks there were. */
  forget(): void {
    this.#looks.length = 0;
    this.#calls.length = 0;
  }

  statusSent(): void {
    this.#count(this.#calls, STATUS_CALLS_PER_MINUTE, "statusCallsTooMany", "status calls");
  }

  /** Demand that has been in force for long is looked at now and then. */
  sample(arrays: readonly string[]): void {
    const { createdSeconds, readySeconds, forgiveSeconds = 0 } = this.#bounds;
    for (const array of arrays) {
      const lost = this.#counts.countLost(array, this.#now() - forgiveSeconds * 1000);
      if (createdSeconds !== undefined)
        this.#checkDeadline(array, createdSeconds, this.#counts.countLive(array) + lost, "waited");
      if (readySeconds !== undefined)
        this.#checkDeadline(array, readySeconds, this.#counts.countReady(array) + lost, "late");
    }
  }

  #checkDeadline(array: string, seconds: number, there: number, kind: "waited" | "late"): void {
    const now = this.#now();
    const from = now - seconds * 1000;
    if (from < this.#begun) return;
    const need = this.#counts.leastNeed(array, from);
    const key = `${kind} ${array}`;
    if (there >= need) {
      this.#lateSince.delete(key);
      return;
    }
    if (this.#lateSince.has(key)) return;
    this.#lateSince.set(key, now);
    const words = kind === "late" ? "are Ready" : "are there";
    this.#violate(
      kind,
      1,
      `${there} of ${need} nodes ${words} in ${array}, ${seconds} s after they were asked for`,
    );
  }

  #count(times: number[], most: number, kind: "looksTooMany" | "statusCallsTooMany", what: string): void {
    const now = this.#now();
    times.push(now);
    while ((times[0] ?? now) <= now - 60_000) times.shift();
    if (times.length > most) this.#violate(kind, 1, `${times.length} ${what} in 60 s`);
  }
}
