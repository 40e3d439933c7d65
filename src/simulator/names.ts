import { Heap } from "./heap.ts";

type Series = { next: number; readonly freed: Heap<number> };
type Taken = { readonly series: string; readonly index: number } | undefined;

const placeholder = /%(?:0(\d+))?d/;

/**
 * Names of nodes. A name is unique among the nodes that exist. When its node is gone it is used again, the lowest number first
 * (cyclecloud-wire.md A.4). Taking and freeing a name take logarithmic time in the number of freed names.
 */
export class NameBook {
  readonly #taken = new Map<string, Taken>();
  readonly #series = new Map<string, Series>();

  has(name: string): boolean {
    return this.#taken.has(name);
  }

  /** Takes an exact name. The caller has checked with `has` that it is free. */
  takeExact(name: string): void {
    this.#taken.set(name, undefined);
  }

  /** The free name with the lowest number from `offset` on. `format` contains `%d` (or `%03d`) for the number. */
  takeNext(format: string, offset: number): string {
    const key = `${offset}:${format}`;
    const series = this.#series.get(key) ?? { next: offset, freed: new Heap<number>((a, b) => a - b) };
    this.#series.set(key, series);
    for (;;) {
      const index = series.freed.pop() ?? series.next++;
      const name = format.replace(placeholder, (_, width?: string) =>
        String(index).padStart(Number(width ?? 0), "0"),
      );
      if (this.#taken.has(name)) continue;
      this.#taken.set(name, { series: key, index });
      return name;
    }
  }

  free(name: string): void {
    const taken = this.#taken.get(name);
    this.#taken.delete(name);
    if (taken !== undefined) this.#series.get(taken.series)?.freed.push(taken.index);
  }
}

/** Whether a name format numbers its nodes. Without `%d` it is one exact name (cyclecloud-wire.md A.6). */
export function numbersNodes(format: string): boolean {
  return placeholder.test(format);
}
