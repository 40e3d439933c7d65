import * as fc from "fast-check";
import { expect, test } from "vitest";
import { MinHeap } from "../../../src/local/workload/min-heap.ts";

test("what goes in comes out in order, whatever the order of pushes and pops", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer(), { nil: "pop" })), (steps) => {
      const heap = new MinHeap<number>((a, b) => a < b);
      const model: number[] = [];
      for (const step of steps) {
        if (typeof step === "number") {
          heap.push(step);
          model.push(step);
          model.sort((a, b) => a - b);
        } else expect(heap.pop()).toBe(model.shift());
        expect([heap.peek(), heap.size]).toEqual([model[0], model.length]);
      }
    }),
  );
});
