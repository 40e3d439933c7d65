import type { Instance } from "./instance.ts";
import type { Machines } from "./machines.ts";
import type { Schedule } from "./schedule.ts";
import type { Writer } from "./writers.ts";

/** A call takes this much longer if something arrives at another instance meanwhile. */
const RACED_MS = [300, 5000] as const;
/** Chance that something arrives while a stop is saved. */
const RACED_STOPS = 0.7;

interface World {
  readonly schedule: Schedule;
  readonly instances: readonly (Instance | undefined)[];
  readonly writers: readonly Writer[];
  readonly machines: Machines;
}

/** Reports and questions that come at one instance while another saves a plan or asks CycleCloud. */
export class Races {
  readonly #world: World;
  readonly #share: number;
  /** Messages that are sent now reach this instance at once. */
  rushTo: Instance | undefined;

  constructor(world: World, share: number) {
    this.#world = world;
    this.#share = share;
  }

  /**
   * A call of this instance begins that stops these nodes, and something may arrive at another instance meanwhile. Returns how many
   * milliseconds longer the call takes.
   */
  meet(at: Instance, stopping: readonly string[]): number {
    const { schedule, instances } = this.#world;
    const { dice } = schedule;
    const others = instances.filter((one) => one !== undefined && one !== at);
    const other = others[dice.whole(0, others.length - 1)];
    if (other === undefined || !dice.chance(stopping.length > 0 ? RACED_STOPS : this.#share)) return 0;
    const longer = dice.whole(...RACED_MS);
    schedule.after(dice.whole(1, Math.floor(longer / 2)), () => this.#come(other, stopping));
    return longer;
  }

  #come(other: Instance, stopping: readonly string[]): void {
    if (!other.alive) return;
    const { schedule, writers, machines } = this.#world;
    this.rushTo = other;
    const writer = schedule.dice.pick([undefined, ...writers.filter((one) => "poke" in one)]);
    if (writer?.poke === undefined) machines.askNow(other, stopping);
    else writer.poke(stopping);
    this.rushTo = undefined;
  }
}
