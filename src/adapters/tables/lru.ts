/** Keeps recently used values, up to a total weight. */
export interface Lru<T> {
  get(key: string): T | undefined;
  /** A value heavier than the whole budget is not kept. */
  set(key: string, value: T, weight: number): void;
  delete(key: string): void;
}

/** A cache bounded by the sum of its weights. The least recently used value is removed first. */
export function createLru<T>(budget: number): Lru<T> {
  // A Map iterates in insertion order: re-inserting on use makes the first entry the least recently used.
  const entries = new Map<string, { readonly value: T; readonly weight: number }>();
  let total = 0;
  const drop = (key: string) => {
    total -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
  };
  return {
    delete: drop,
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, weight) {
      drop(key);
      if (weight > budget) return;
      entries.set(key, { value, weight });
      total += weight;
      for (const oldest of entries.keys()) {
        if (total <= budget) break;
        drop(oldest);
      }
    },
  };
}
