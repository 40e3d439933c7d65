import type { BookedNode } from "./node-book.ts";

/** What nodes that call themselves unhealthy are told. `either`: the model does not know how many the app has counted. */
export type Word = "stop" | "stay" | "either";

interface Asked {
  readonly array: string;
  readonly at: number;
  /** Told that it goes: the app has counted it. Otherwise it may have. */
  readonly went: boolean;
}

const HOUR_MS = 3_600_000;
/** The app counts stops of five minutes as if all had come with the last. */
const SLOT_MS = 300_000;
const FEWEST = 3;

/** Of nodes that called themselves unhealthy: how many of an array went within the hour, 10 % of its nodes at most, or 3 if that is more. */
export class UnhealthyBook {
  #asked: Asked[] = [];

  /** Before they ask: what all of them are to be told. `nodes`: all of the array, as far as we can know. */
  wordFor(askers: readonly BookedNode[], nodes: readonly BookedNode[], now: number): Word {
    const [first] = askers;
    if (first === undefined) return "either";
    const of = this.#asked.filter(({ array }) => array === first.array);
    const certain = of.filter(({ at, went }) => went && now - at < HOUR_MS).length;
    const possible = of.filter(({ at }) => now - at < HOUR_MS + SLOT_MS).length;
    const size = nodes.filter(({ array }) => array === first.array).length;
    if (possible + askers.length <= FEWEST) return "stop";
    return certain >= Math.max(FEWEST, Math.ceil(size / 10)) ? "stay" : "either";
  }

  note(array: string, at: number, went: boolean): void {
    this.#asked = [...this.#asked.filter((one) => at - one.at < HOUR_MS + SLOT_MS), { array, at, went }];
  }
}
