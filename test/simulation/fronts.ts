import type { Schedule } from "./schedule.ts";

/** Time between two jams of a sender, and their length, in seconds. */
const BETWEEN = [60, 900] as const;
const LENGTH = [60, 600] as const;
/** What was queued arrives within this time, in any order. */
const BURST_MS = 2000;

/** Share of a jam's messages that never arrive: all callers have given up by then. */
const LOST = [0, 0, 0.6, 0.9] as const;

interface Jam {
  readonly from: number;
  readonly until: number;
  readonly lost: number;
}

/**
 * What waits in front of a host that starts, stands still or is overrun. While the way of a sender is jammed, all its messages wait, and
 * then come together.
 */
export class Fronts {
  readonly #schedule: Schedule;
  readonly #share: number;
  readonly #stormy: () => boolean;
  readonly #met: () => void;
  /** By sender. Undefined: its way is never jammed. */
  readonly #jams = new Map<string, Jam | undefined>();

  constructor(schedule: Schedule, share: number, stormy: () => boolean, met: () => void) {
    this.#schedule = schedule;
    this.#share = share;
    this.#stormy = stormy;
    this.#met = met;
  }

  /** How long a message of this sender waits from now on, in ms. 0 if it does not; undefined if it never arrives. */
  waitOf(sender: string): number | undefined {
    if (this.#share === 0 || !this.#stormy()) return 0;
    const { dice } = this.#schedule;
    const now = this.#schedule.now();
    if (!this.#jams.has(sender))
      this.#jams.set(sender, dice.chance(this.#share) ? this.#jamAfter(now) : undefined);
    let jam = this.#jams.get(sender);
    while (jam !== undefined && jam.until <= now) this.#jams.set(sender, (jam = this.#jamAfter(jam.until)));
    if (jam === undefined || now < jam.from) return 0;
    this.#met();
    if (dice.chance(jam.lost)) return undefined;
    return jam.until - now + dice.whole(0, BURST_MS);
  }

  #jamAfter(moment: number): Jam {
    const { dice } = this.#schedule;
    const from = moment + 1000 * dice.whole(...BETWEEN);
    return { from, until: from + 1000 * dice.whole(...LENGTH), lost: dice.pick(LOST) };
  }
}
