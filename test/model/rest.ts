import type { Held } from "./set-book.ts";

interface Pause {
  readonly from: number;
  readonly until: number;
  readonly awaiting: readonly string[];
}

const LONGEST_GAP_MS = 120_000;
const REST_MS = 300_000;

/**
 * Whether scale-down rests (architecture.md, Unknown): after more than two intervals without a plan, until every set that was in force
 * has been pushed again, or for five minutes.
 */
export class Rest {
  #lastPlanAt: number | undefined;
  #restsUntil: number | undefined;
  #pause: Pause | undefined;

  /** A plan is made at this moment; `sets` are those that the plan before left. `restsUntil`: until then it lets the cluster alone. */
  plan(sets: ReadonlyMap<string, Held>, now: number, restsUntil: number | undefined): void {
    const last = this.#lastPlanAt;
    const isAfterGap = this.isBlind(now);
    this.#lastPlanAt = now;
    this.#restsUntil = restsUntil;
    if (isAfterGap) {
      const from = last ?? now;
      const awaiting = [...sets].filter(([, held]) => held.live && held.sentAt <= from).map(([name]) => name);
      this.#pause = { from, until: now + REST_MS, awaiting };
      return;
    }
    const pause = this.#pause;
    if (pause === undefined) return;
    if (now >= pause.until || this.#isOver(pause, sets)) this.#pause = undefined;
    else this.#pause = { ...pause, awaiting: missing(pause, sets) };
  }

  isResting(sets: ReadonlyMap<string, Held>, now: number): boolean {
    return this.#pause !== undefined && now < this.#pause.until && !this.#isOver(this.#pause, sets);
  }

  /** Since the plan of this moment. */
  get inPlan(): boolean {
    return this.#pause !== undefined;
  }

  /** Nobody can tell what is needed: the last plan is too old. */
  isBlind(now: number): boolean {
    const last = this.#lastPlanAt;
    if (last === undefined) return true;
    // A rest that was planned may end a minute late.
    const planned = this.#restsUntil === undefined ? 0 : this.#restsUntil - last + 60_000;
    return now - last > Math.max(LONGEST_GAP_MS, planned);
  }

  #isOver(pause: Pause, sets: ReadonlyMap<string, Held>): boolean {
    return pause.awaiting.length > 0 && missing(pause, sets).length === 0;
  }
}

function missing({ from, awaiting }: Pause, sets: ReadonlyMap<string, Held>): readonly string[] {
  return awaiting.filter((name) => (sets.get(name)?.sentAt ?? 0) <= from);
}
