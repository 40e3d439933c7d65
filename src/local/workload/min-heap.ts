/** A binary heap. `pop` removes an item before which no other item comes. */
export class MinHeap<T> {
  readonly #items: T[] = [];
  readonly #comesBefore: (a: T, b: T) => boolean;

  constructor(comesBefore: (a: T, b: T) => boolean) {
    this.#comesBefore = comesBefore;
  }

  get size(): number {
    return this.#items.length;
  }

  /** The next item, which stays in the heap. Undefined if the heap is empty. */
  peek(): T | undefined {
    return this.#items[0];
  }

  push(item: T): void {
    const items = this.#items;
    let at = items.length;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = items[parent];
      if (above === undefined || !this.#comesBefore(item, above)) break;
      items[at] = above;
      at = parent;
    }
    items[at] = item;
  }

  pop(): T | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (last !== undefined && items.length > 0) this.#sink(last);
    return first;
  }

  #sink(item: T): void {
    const items = this.#items;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      let child = items[below];
      if (child === undefined) break;
      const right = items[below + 1];
      if (right !== undefined && this.#comesBefore(right, child)) {
        below += 1;
        child = right;
      }
      if (!this.#comesBefore(child, item)) break;
      items[at] = child;
      at = below;
    }
    items[at] = item;
  }
}
