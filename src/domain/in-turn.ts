/** If a caller skips entries, this many entries after the expected one are searched. */
const NEAR = 8;

/**
 * Finds entries of a Map without a search for a caller that asks in the Map's own order. Each plan reads the entries of thousands of nodes
 * several times, in the order of the status, which is also the order of the ledger.
 */
export class InTurn<K, V> {
  readonly #map: ReadonlyMap<K, V>;
  readonly #keys: readonly K[];
  readonly #values: readonly V[];
  #next = 0;

  /** The Map must not get or lose keys later. Later changes of values may not show. */
  constructor(map: ReadonlyMap<K, V>) {
    this.#map = map;
    this.#keys = [...map.keys()];
    this.#values = [...map.values()];
  }

  /** The same result as that of the Map. */
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
