import type { ArrayName, NodeId } from "../../domain/ids.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { plusSeconds, secondsBetween } from "../../domain/units.ts";

/** The share of an array, and of all arrays together, that ends within {@link WINDOW_SECONDS}. */
const SHARE_ENDED = 0.1;
const FEWEST_OF_ARRAY = 1;
const FEWEST_TOGETHER = 3;
const WINDOW_SECONDS: Seconds = 600;

/** How many nodes that are down may still end. What earlier plans ended is counted from the ledger, whatever came of it. */
export class DownRoom {
  readonly #now: Instant;
  readonly #ended: Map<NodeId, { readonly array: ArrayName; readonly at: Instant }>;
  readonly #sizes = new Map<ArrayName | undefined, number>();

  /** `members`: nodes of ours that were Ready and are wanted. */
  constructor(ledger: Ledger, members: readonly { readonly known: LedgerNode }[], now: Instant) {
    this.#now = now;
    this.#ended = new Map();
    ledger.forEach(({ nodeId, array, endedAt }) => {
      if (endedAt !== undefined && secondsBetween(endedAt, now) < WINDOW_SECONDS)
        this.#ended.set(nodeId, { array, at: endedAt });
    });
    const counted = new Map(members.map(({ known }) => [known.nodeId, known.array]));
    this.#ended.forEach(({ array }, id) => counted.set(id, array));
    counted.forEach((array) => {
      for (const scope of [undefined, array]) this.#sizes.set(scope, (this.#sizes.get(scope) ?? 0) + 1);
    });
  }

  /** Counts one node that ends now. Otherwise the moment at which there may be room. A node that was counted before has its room. */
  take({ nodeId, array }: LedgerNode): Instant | undefined {
    if (!this.#ended.has(nodeId)) {
      const fullUntil =
        this.#fullUntil(array, FEWEST_OF_ARRAY) ?? this.#fullUntil(undefined, FEWEST_TOGETHER);
      if (fullUntil !== undefined) return fullUntil;
    }
    this.#ended.set(nodeId, { array, at: this.#now });
    return undefined;
  }

  /** When the first of those that ended leaves the window. Undefined if there is room now. */
  #fullUntil(scope: ArrayName | undefined, fewest: number): Instant | undefined {
    const ended = [...this.#ended.values()].filter(({ array }) => scope === undefined || array === scope);
    const most = Math.max(fewest, Math.floor((this.#sizes.get(scope) ?? 0) * SHARE_ENDED));
    if (ended.length < most) return undefined;
    const first = ended.reduce((least, { at }) => (at < least ? at : least), this.#now);
    return plusSeconds(first, WINDOW_SECONDS);
  }
}
