import { expect, test } from "vitest";
import { Heap } from "../../src/simulator/heap.ts";
import { seedRandom } from "../../src/simulator/random.ts";

test("elements leave in order, equal ones as they came", () => {
  const random = seedRandom(5);
  const heap = new Heap<{ at: number; label: number }>((a, b) => a.at - b.at);
  const all = Array.from({ length: 2000 }, (_, label) => ({ at: Math.floor(random() * 50), label }));
  for (const element of all) heap.push(element);
  const left = all.map(() => heap.pop());
  expect(left).toEqual([...all].sort((a, b) => a.at - b.at || a.label - b.label));
  expect(heap.pop()).toBeUndefined();
  expect(heap.size).toBe(0);
});
