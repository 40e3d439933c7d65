/** A binary min-heap. Equal elements are removed in the order in which they were added. */
export class Heap<T> {
  readonly #order: (a: T, b: T) => number;
  readonly #entries: { readonly value: T; readonly sequence: number }[] = [];
  #sequence = 0;

  constructor(order: (a: T, b: T) => number) {
    this.#order = order;
  }

  get size(): number {
    return this.#entries.length;
  }

  peek(): T | undefined {
    return this.#entries[0]?.value;
  }

  push(value: T): void {
    this.#entries.push({ value, sequence: this.#sequence++ });
    let at = this.#entries.length - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#comesBefore(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  pop(): T | undefined {
    const first = this.#entries[0];
    const last = this.#entries.pop();
    if (first === undefined || last === undefined) return undefined;
    if (this.#entries.length > 0) {
      this.#entries[0] = last;
      this.#sink();
    }
    return first.value;
  }

  #sink(): void {
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      let least = at;
      if (left < this.#entries.length && this.#comesBefore(left, least)) least = left;
      if (right < this.#entries.length && this.#comesBefore(right, least)) least = right;
      if (least === at) return;
      this.#swap(at, least);
      at = least;
    }
  }

  #comesBefore(a: number, b: number): boolean {
    const x = this.#entries[a];
    const y = this.#entries[b];
    if (x === undefined || y === undefined) return false;
    const order = this.#order(x.value, y.value);
    return order < 0 || (order === 0 && x.sequence < y.sequence);
  }

  #swap(a: number, b: number): void {
    const x = this.#entries[a];
    const y = this.#entries[b];
    if (x === undefined || y === undefined) return;
    this.#entries[a] = y;
    this.#entries[b] = x;
  }
}
