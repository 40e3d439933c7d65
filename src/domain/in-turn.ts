/** How far ahead of the expected entry we search when a caller skips some. */
const NEAR = 8;

/**
 * Looks up entries of a Map for a caller that asks mostly in the Map's own order: then no search is needed. Each plan asks for thousands of
 * nodes several times, always in the order of the status, which is also the ledger's order.
 */
export class InTurn<K, V> {
  readonly #map: ReadonlyMap<K, V>;
  readonly #keys: readonly K[];
  readonly #values: readonly V[];
  #next = 0;

  /** Keys must not be added or removed meanwhile. Later changes of values may not be seen. */
  constructor(map: ReadonlyMap<K, V>) {
    this.#map = map;
    this.#keys = [...map.keys()];
    this.#values = [...map.values()];
  }

  /** Returns what the Map returns. */
  get(key: K): V | undefined {
    const at = this.#next;
    if (this.#keys[at] === key) {
      this.#next = at + 1;
      return this.#values[at];
    }
    const found = this.#map.get(key);
    if (found !== undefined) this.#catchUp(key);
    return found;
  }

  #catchUp(key: K): void {
    for (let at = this.#next + 1; at <= this.#next + NEAR; at += 1) {
      if (this.#keys[at] !== key) continue;
      this.#next = at + 1;
      return;
    }
  }
}
