import type { ClusterRecord } from "../../src/domain/record.ts";
import type { Violate } from "./verdict.ts";
import type { Bounds } from "./weather.ts";

const MINUTE_MS = 60_000;
/** Maximum number of observations that begin within a minute. */
const MOST_OBSERVATIONS = 13;
/** Two more calls may arrive within a minute, because a process may stand still between reserving an observation and sending its call. */
const STATUS_CALLS_PER_MINUTE = MOST_OBSERVATIONS + 2;
/** An intent lasts at most 15 minutes, and until the next plan: one whose observation was saved this long after the commit. */
const OLDEST_INTENT_MS = 900_000 + 90_000;

/** What pace is judged by: needs and nodes. */
export interface Counts {
  /** The number of nodes of the array that were needed all the time from that moment until now, within its limit. */
  leastNeed(array: string, from: number): number;
  countReady(array: string): number;
  countLive(array: string): number;
  /** Nodes that went by themselves since that moment. */
  countLost(array: string, since: number): number;
}

/** Counts observations and calls that come too often, intents that last too long, and demand that waits too long. */
export class PaceJudge {
  readonly #bounds: Bounds;
  readonly #counts: Counts;
  readonly #now: () => number;
  readonly #violate: Violate;
  /** When the observations of the last minute began. */
  #observations: readonly number[] = [];
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

  /** The shared store has saved this record. `isObserved`: with a new observation. */
  saved({ lookedAt, intents }: ClusterRecord, isObserved: boolean): void {
    if (lookedAt !== undefined) this.#observed(lookedAt);
    if (!isObserved) return;
    // Intents end when an observation begins. Its host may stand still for minutes before it saves.
    const began = lookedAt ?? this.#now();
    for (const { id, committedAt } of intents) {
      if (began - committedAt < OLDEST_INTENT_MS || this.#old.has(id)) continue;
      this.#old.add(id);
      this.#violate(
        "oldIntents",
        1,
        `${id} was still an intent for an observation that began ${began - committedAt} ms after its commit`,
      );
    }
  }

  /** Storage has lost when the last observations began. */
  forget(): void {
    this.#observations = [];
    this.#calls.length = 0;
  }

  statusSent(): void {
    const now = this.#now();
    this.#calls.push(now);
    while ((this.#calls[0] ?? now) <= now - MINUTE_MS) this.#calls.shift();
    const calls = this.#calls.length;
    if (calls > STATUS_CALLS_PER_MINUTE)
      this.#violate("statusCallsTooMany", 1, `${calls} status calls in 60 s`);
  }

  /** Called now and then: counts demand that has been in force for long and is not met. */
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

  #observed(at: number): void {
    if (at === this.#observations.at(-1)) return;
    this.#observations = [...this.#observations.filter((one) => one > at - MINUTE_MS), at];
    const count = this.#observations.length;
    if (count > MOST_OBSERVATIONS) this.#violate("looksTooSoon", 1, `${count} looks in a minute`);
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
