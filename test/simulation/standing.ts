import type { Schedule } from "./schedule.ts";
import type { Standstills } from "./weather.ts";

type StandingSpell = Standstills["spells"][number];

/** A time in which CycleCloud stood still, in ms. */
export interface Stood {
  readonly from: number;
  readonly until: number;
}

/** Reads that were held are answered within this time. */
const READ_MS = 50;
/** How long after a change a spell begins that begins later. */
const LATER_MS = [5000, 60_000] as const;

interface World {
  readonly schedule: Schedule;
  readonly standstills: Standstills | undefined;
  /** No standstill begins that would end after this moment. */
  readonly endsBy: number;
  readonly stood: (spell: Stood) => void;
}

/**
 * The process of CycleCloud, which stands still now and then: it accepts connections and answers nothing, and its nodes make no progress. When
 * it goes on it does what lies in its sockets, also for callers that have given up.
 */
export class Standing {
  readonly #world: World;
  readonly #spells: StandingSpell[];
  /** The spell that begins with the next change. */
  #armed: StandingSpell | undefined;
  #now: Stood | undefined;
  #behindMs = 0;

  constructor(world: World) {
    this.#world = world;
    this.#spells = [...(world.standstills?.spells ?? [])];
    this.#arm();
  }

  /** How far CycleCloud's own clock is behind: it does not run while it stands still. */
  get behindMs(): number {
    return this.#now === undefined
      ? this.#behindMs
      : this.#behindMs + this.#world.schedule.now() - this.#now.from;
  }

  /** When something that is due at this moment of CycleCloud's own clock happens. */
  happensAt(due: number): number {
    return this.#now === undefined ? due + this.#behindMs : Number.POSITIVE_INFINITY;
  }

  /** A request arrives. `handle` is called when CycleCloud handles it: now, later or never. It gets how long the answer is held, in ms. */
  arrive(isChange: boolean, handle: (heldMs: number) => void): void {
    const { schedule } = this.#world;
    if (isChange && this.#armed?.begins === "before") this.#begin(this.#armed);
    if (this.#now !== undefined) return this.#hold(isChange, this.#now.until, handle);
    const armed = isChange ? this.#armed : undefined;
    this.#armed = isChange ? undefined : this.#armed;
    if (armed?.begins === "later")
      schedule.after(schedule.dice.whole(...LATER_MS), () => void this.#begin(armed));
    const now = schedule.now();
    // The change was handled before CycleCloud stood still.
    handle(armed?.begins === "after" ? (this.#begin(armed)?.until ?? now) - now : 0);
  }

  #hold(isChange: boolean, until: number, handle: (heldMs: number) => void): void {
    const { schedule, standstills } = this.#world;
    const { lateSeconds = 0, never = 0 } = standstills ?? {};
    const { dice } = schedule;
    if (isChange && dice.chance(never)) return;
    const late = isChange ? dice.whole(0, lateSeconds * 1000) : dice.whole(0, READ_MS);
    schedule.at(until + late, () => handle(0));
  }

  /** Prepares the next spell. */
  #arm(): void {
    const next = this.#spells.shift();
    if (next === undefined) return;
    this.#world.schedule.after(next.afterSeconds * 1000, () => {
      if (next.begins === "at once") this.#begin(next);
      else this.#armed = next;
    });
  }

  #begin({ seconds }: StandingSpell): Stood | undefined {
    const { schedule, endsBy, stood } = this.#world;
    this.#armed = undefined;
    const from = schedule.now();
    const until = from + seconds * 1000;
    if (until > endsBy) return undefined;
    const spell = { from, until };
    this.#now = spell;
    stood(spell);
    schedule.at(until, () => {
      this.#behindMs += until - from;
      this.#now = undefined;
      this.#arm();
    });
    return spell;
  }
}
