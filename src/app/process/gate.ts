import type { Bytes } from "../../domain/units.ts";
import type { Seconds } from "../../domain/units.ts";
import type { Clock } from "../ports/ports.ts";

/** Leaves the gate. Calls after the first do nothing. */
export type Leave = () => void;

/** A lane of a gate: who is in it, and who waits in front of it. */
interface Lane {
  readonly room: Bytes;
  taken: Bytes;
  readonly waiting: Waiting[];
}

interface Waiting {
  readonly weight: Bytes;
  readonly enter: (leave: Leave) => void;
}

/**
 * Bounds what many need of one memory at the same time (docs/protocol.md, Memory). What is small has a lane that what is large cannot fill. In each lane
 * they enter in the order in which they came. What is heavier than its lane enters it alone.
 */
export class Gate {
  readonly #lanes: { readonly small: Lane; readonly large: Lane };
  #first = 0;

  constructor(room: { readonly small: Bytes; readonly large: Bytes }) {
    const lane = (bytes: Bytes): Lane => ({ room: bytes, taken: 0, waiting: [] });
    this.#lanes = { small: lane(room.small), large: lane(room.large) };
  }

  /** Whether anything is under way to which what is large gives way: something small, or {@link runFirst}. */
  get hasFirst(): boolean {
    return this.#first > 0 || this.#lanes.small.taken > 0;
  }

  /** Runs work that needs no room, and to which what is large gives way. */
  async runFirst<T>(work: () => Promise<T>): Promise<T> {
    this.#first += 1;
    try {
      return await work();
    } finally {
      this.#first -= 1;
    }
  }

  /** Waits for room, for at most `seconds` (absent: as long as it takes). Undefined: there was none. */
  async enter(
    lane: "small" | "large",
    weight: Bytes,
    clock: Clock,
    seconds?: Seconds,
  ): Promise<Leave | undefined> {
    const chosen = this.#lanes[lane];
    const entered = Promise.withResolvers<Leave>();
    const one: Waiting = { weight, enter: entered.resolve };
    chosen.waiting.push(one);
    admit(chosen);
    if (!chosen.waiting.includes(one) || seconds === undefined) return entered.promise;
    const over = new AbortController();
    const timeout = clock.sleep(seconds * 1000 * (clock.speed ?? 1), over.signal).then(() => undefined);
    const leave = await Promise.race([entered.promise, timeout]);
    over.abort("over");
    if (leave !== undefined) return leave;
    const at = chosen.waiting.indexOf(one);
    if (at < 0) return entered.promise;
    chosen.waiting.splice(at, 1);
    // The next one may be lighter.
    admit(chosen);
    return undefined;
  }
}

function admit(lane: Lane): void {
  for (let [next] = lane.waiting; next !== undefined; [next] = lane.waiting) {
    const { weight, enter } = next;
    if (lane.taken > 0 && lane.taken + weight > lane.room) return;
    lane.waiting.shift();
    lane.taken += weight;
    let isIn = true;
    enter(() => {
      if (!isIn) return;
      isIn = false;
      lane.taken -= weight;
      admit(lane);
    });
  }
}
