/** How far the order of those who ask may run ahead: so many entries were left out at once. */
const NEAR = 8;

/**
 * Looks entries of a Map up for somebody who asks for them mostly in the Map's own order: then there is nothing to search. Thousands of
 * nodes are asked for several times in each plan, always in the order of the status, in which the ledger is too.
 */
export class InTurn<K, V> {
  readonly #map: ReadonlyMap<K, V>;
  readonly #keys: readonly K[];
  readonly #values: readonly V[];
  #next = 0;

  /** Keys must not come or go meanwhile; what is put under one of them may not be seen. */
  constructor(map: ReadonlyMap<K, V>) {
    this.#map = map;
    this.#keys = [...map.keys()];
    this.#values = [...map.values()];
  }

  /** The same as the Map says. */
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
