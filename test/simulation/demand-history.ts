import type { ClusterRecord } from "../../src/domain/record.ts";
import type { Told } from "./needs.ts";
import type { Violate } from "./verdict.ts";

const MET_TIMES = 3;
/** A plan is not held up by new demand for longer. */
const MET_MS = 5000;

/**
 * Which messages were in force at each moment of a run: those that the shared store held. Counts revisions that went back. Times are in
 * milliseconds.
 */
export class DemandHistory {
  readonly #now: () => number;
  readonly #violate: Violate;
  /** All messages that were sent, by set and revision. */
  readonly #told = new Map<string, Told>();
  /** What was in force from each moment on, oldest first. */
  readonly #history: { readonly at: number; readonly told: readonly Told[] }[] = [];
  /** The highest revision that was saved of each part of each set. */
  readonly #revisions = new Map<string, number>();
  #setsSeen: ClusterRecord["sets"] | undefined;
  #reportsSeen: ClusterRecord["sets"] | undefined;

  constructor(now: () => number, violate: Violate) {
    this.#now = now;
    this.#violate = violate;
  }

  /** A sender has sent this message. */
  sent(told: Told): void {
    this.#told.set(`${told.set}@${told.revision}`, told);
  }

  /** The shared store has saved this record. */
  saved({ sets, separateReports }: ClusterRecord): void {
    if (sets === this.#setsSeen && separateReports === this.#reportsSeen) return;
    this.#setsSeen = sets;
    this.#reportsSeen = separateReports;
    const inForce = [...this.#toldBy(sets, "demand"), ...this.#toldBy(separateReports, "report")];
    this.#history.push({ at: this.#now(), told: inForce });
  }

  /** Storage has lost the record or set it back: nothing is in force until the next save, and revisions may be lower. */
  forget(): void {
    this.#revisions.clear();
    this.#history.push({ at: this.#now(), told: [] });
  }

  /** The need at each moment between `from` and `until` at which it can change: at `from`, when a message came, and when one expired. */
  needs(from: number, until: number, need: (told: readonly Told[]) => number): readonly number[] {
    const needs: number[] = [];
    for (let index = this.#history.length - 1; index >= 0; index -= 1) {
      const { at, told } = this.#history[index] ?? { at: 0, told: [] };
      const begin = Math.max(at, from);
      const end = Math.min(this.#history[index + 1]?.at ?? until, until);
      const moments = [
        begin,
        ...told.map((one) => one.expiresAt).filter((when) => when > begin && when <= end),
      ];
      for (const moment of moments) needs.push(need(told.filter((one) => one.expiresAt > moment)));
      if (at <= from) return needs;
    }
    return [...needs, 0];
  }

  /**
   * From when on the demand counts on which a plan may rest that was decided at this moment: a plan that has met new demand three times is
   * saved with the creates that it had (docs/protocol.md, Plans).
   */
  basisOf(decidedAt: number): number {
    const met = this.#history.filter(({ at }) => at <= decidedAt && at > decidedAt - MET_MS);
    return met.length < MET_TIMES ? decidedAt : (met.at(-MET_TIMES)?.at ?? decidedAt) - 1;
  }

  /** When the newest report that was in force at that moment was sent. Undefined if none was. */
  lastReportBefore(at: number): number | undefined {
    const times = this.inForce(at).flatMap((told) => (told.reports ? [told.sentAt] : []));
    return times.length === 0 ? undefined : Math.max(...times);
  }

  /** The messages that were in force at that moment. */
  inForce(at: number): readonly Told[] {
    const saved = this.#history.findLast((entry) => entry.at <= at)?.told ?? [];
    return saved.filter((told) => told.expiresAt > at);
  }

  /** The messages that came between these two moments. */
  cameBetween(from: number, until: number): readonly Told[] {
    return this.#history.flatMap(({ at, told }) => (at >= from && at <= until ? told : []));
  }

  /** The messages that are held as this part of their sets. */
  #toldBy(entries: ClusterRecord["sets"], part: string): readonly Told[] {
    return [...entries].flatMap(([set, { revision }]) => {
      const before = this.#revisions.get(`${set} ${part}`) ?? 0;
      if (revision.value < before) this.#violate("revisionsLost", 1, `${set} ${part} went back`);
      this.#revisions.set(`${set} ${part}`, revision.value);
      const told = this.#told.get(`${set}@${revision.value}`);
      return told === undefined ? [] : [told];
    });
  }
}
