export type Tally = { readonly count: number; readonly cores: number };

const nothing: Tally = { count: 0, cores: 0 };

/** Counts nodes and cores for each key of a limit. Adding and removing take time in proportion to the number of given keys. */
export class Usage {
  readonly #tallies = new Map<string, Tally>();

  get(key: string): Tally {
    return this.#tallies.get(key) ?? nothing;
  }

  /** `nodes` is 1 for a node that is added and -1 for one that is removed. `cores` are those of one node. */
  add(keys: readonly string[], nodes: 1 | -1, cores: number): void {
    for (const key of keys) {
      const before = this.get(key);
      const after = { count: before.count + nodes, cores: before.cores + nodes * cores };
      if (after.count === 0) this.#tallies.delete(key);
      else this.#tallies.set(key, after);
    }
  }

  /** The keys in use that begin with `prefix`, with their tallies, in the order of first use. */
  list(prefix: string): readonly (readonly [string, Tally])[] {
    return [...this.#tallies].filter(([key]) => key.startsWith(prefix));
  }
}
