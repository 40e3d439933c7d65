import { POLICY } from "./rig.ts";
import type { Held, SetBook } from "./set-book.ts";

interface Gap {
  /** What was said or taken by then may be older than the gap, so it does not count as pushed again. */
  readonly noticed: number;
}

interface Pause extends Gap {
  readonly until: number;
  /** Empty: no set can end the pause, so it lasts its full time. */
  readonly awaiting: readonly string[];
}

const LONGEST_GAP_MS = 120_000;
const REST_MS = 300_000;
/** A node may be newer than an observation that is older than this. */
const LOOK_TELLS_MS = 45_000;
/** Nodes that an earlier record began may show for this long after a new record was made. */
const FORGOTTEN_MS = 1000 * (POLICY.callLimitSeconds + POLICY.lagSeconds);

/**
 * Whether scale-down rests (docs/protocol.md, Recovery): after more than two intervals without a plan, until every set that was in force has
 * been pushed again, or for five minutes. A push counts if it came more than two intervals after the last plan.
 */
export class Rest {
  #bornAt: number | undefined;
  #lastPlanAt: number | undefined;
  #restsUntil: number | undefined;
  #pause: Pause | undefined;

  /** A plan is made at this moment. `book`: as it is after the previous plan. `restsUntil`: the app needs no observation before then. */
  plan(book: Pick<SetBook, "sets" | "parts">, now: number, restsUntil: number | undefined): void {
    const { sets } = book;
    const isAfterGap = this.isBlind(now);
    const noticed = this.#blindFrom;
    this.#bornAt ??= now;
    this.#lastPlanAt = now;
    this.#restsUntil = restsUntil;
    if (this.#pause !== undefined && (now >= this.#pause.until || this.#isOver(this.#pause, sets)))
      this.#pause = undefined;
    if (isAfterGap) this.#begin({ noticed: Math.min(noticed, now) }, book, now);
    else if (this.#pause !== undefined)
      this.#pause = { ...this.#pause, awaiting: missing(this.#pause, sets, this.#pause.awaiting) };
  }

  isResting(sets: ReadonlyMap<string, Held>, now: number): boolean {
    return this.#pause !== undefined && now < this.#pause.until && !this.#isOver(this.#pause, sets);
  }

  /** Whether scale-down rests in the plan of this moment. */
  get inPlan(): boolean {
    return this.#pause !== undefined;
  }

  /** The last plan is too old to say what is needed. */
  isBlind(now: number): boolean {
    return this.#lastPlanAt === undefined || now > this.#blindFrom;
  }

  /** The last observation is too old, or the record too new, to say that a node does not exist. */
  isStale(now: number): boolean {
    const [last = now, born = now] = [this.#lastPlanAt, this.#bornAt];
    return now - last > LOOK_TELLS_MS || now - born < FORGOTTEN_MS;
  }

  get #blindFrom(): number {
    const last = this.#lastPlanAt ?? Number.POSITIVE_INFINITY;
    // A rest that was planned may end a minute late.
    const planned = this.#restsUntil === undefined ? 0 : this.#restsUntil - last + 60_000;
    return last + Math.max(LONGEST_GAP_MS, planned);
  }

  /** Waits for each set that was in force. If all have been pushed again by now, this gap causes no rest. */
  #begin(gap: Gap, { sets, parts }: Pick<SetBook, "sets" | "parts">, now: number): void {
    const inForce = [...sets].filter(([, held]) => held.live).map(([name]) => name);
    // A set that asked for nothing is not awaited, unless it reported something: only pools do here.
    const reports = new Set(parts.filter(({ part, live }) => part === "pools" && live).map(({ set }) => set));
    const asking = inForce.filter((name) => sets.get(name)?.entries.length !== 0 || reports.has(name));
    const awaiting = missing(gap, sets, asking);
    const lastsFully = this.#pause?.awaiting.length === 0;
    if (inForce.length > 0 && awaiting.length === 0 && !lastsFully) return;
    this.#pause = { ...gap, until: now + REST_MS, awaiting: lastsFully ? [] : awaiting };
  }

  #isOver(pause: Pause, sets: ReadonlyMap<string, Held>): boolean {
    return pause.awaiting.length > 0 && missing(pause, sets, pause.awaiting).length === 0;
  }
}

/** The names whose sets were not pushed again since the gap. */
function missing(
  { noticed }: Gap,
  sets: ReadonlyMap<string, Held>,
  names: readonly string[],
): readonly string[] {
  return names.filter((name) => {
    const held = sets.get(name);
    return held === undefined || saidAt(held) <= noticed || held.takenAt <= noticed;
  });
}

/** The latest moment at which its sender certainly said this: its revision, or the first of two renewals with that revision. */
const saidAt = ({ sentAt, revision, repeatedAt = revision }: Held): number =>
  Math.min(sentAt, Math.max(revision, repeatedAt));
