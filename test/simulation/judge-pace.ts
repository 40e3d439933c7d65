import type { ClusterRecord } from "../../src/domain/record.ts";
import type { Violate } from "./verdict.ts";
import type { Bounds } from "./weather.ts";

/** 13 looks may begin in any minute; as a process may stand still between reserving a look and sending its call, two calls more may meet. */
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

/** Counts calls, old intents, and demand that waits too long. */
export class PaceJudge {
  readonly #bounds: Bounds;
  readonly #counts: Counts;
  readonly #now: () => number;
  readonly #violate: Violate;
  readonly #calls: number[] = [];
  readonly #old = new Set<string>();
  readonly #lateSince = new Map<string, number>();
  readonly #begun: number;

  constructor(bounds: Bounds, counts: Counts, now: () => number, violate: Violate) {
    this.#bounds = bounds;
    this.#counts = counts;
    this.#now = now;
    this.#violate = violate;
    this.#begun = now();
  }

  saved({ intents }: ClusterRecord): void {
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
    this.#calls.length = 0;
  }

  statusSent(): void {
    const now = this.#now();
    this.#calls.push(now);
    while ((this.#calls[0] ?? now) <= now - 60_000) this.#calls.shift();
    const calls = this.#calls.length;
    if (calls > STATUS_CALLS_PER_MINUTE)
      this.#violate("statusCallsTooMany", 1, `${calls} status calls in 60 s`);
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
}
