import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { inTurns } from "../../functions/reading.ts";
import { createLanes } from "../../src/app/process/lanes.ts";

/** A work of this many slices of a millisecond; `done` counts them. */
function longWork(slices: number) {
  const counted = { done: 0 };
  const work = (function* () {
    for (; counted.done < slices; counted.done += 1) {
      for (const until = performance.now() + 1; performance.now() < until;);
      yield;
    }
    return "read";
  })();
  return { counted, work };
}

/** A work of many short steps. */
async function manySteps(steps: number): Promise<void> {
  for (let step = 0; step < steps; step += 1) await setImmediate();
}

test("what goes first does not wait for a slice at each of its steps, and the long work ends all the same", async () => {
  const lanes = createLanes();
  const { counted, work } = longWork(400);
  const read = inTurns({ lanes }, work);
  await lanes.reading.runFirst(() => manySteps(300));
  expect(counted.done).toBeLessThan(150);
  expect(await read).toBe("read");
});

test("what never ends takes half of the time", async () => {
  const lanes = createLanes();
  const stop = Promise.withResolvers<void>();
  const first = lanes.reading.runFirst(() => stop.promise);
  const { work } = longWork(100);
  expect(await inTurns({ lanes }, work)).toBe("read");
  stop.resolve();
  await first;
});
