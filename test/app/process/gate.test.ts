import { expect, test } from "vitest";
import type { Clock } from "../../../src/app/ports/ports.ts";
import { Gate } from "../../../src/app/process/gate.ts";
import { instant } from "../../../src/domain/units.ts";

/** A clock whose sleeps end when a test says so. */
class HeldClock implements Clock {
  readonly sleeping: (() => void)[] = [];

  now = () => instant(0);

  sleep = (_milliseconds: number, signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      this.sleeping.push(resolve);
      signal?.addEventListener("abort", () => resolve());
    });
}

/** Resolves to what an entry has come to by now. */
async function stateOf(entry: Promise<unknown>): Promise<"in" | "refused" | "waits"> {
  const settled = entry.then((leave) => (leave === undefined ? "refused" : "in"));
  for (let turns = 0; turns < 5; turns += 1) await Promise.resolve();
  return Promise.race([settled, Promise.resolve("waits" as const)]);
}

const openGate = () => ({ gate: new Gate({ small: 10, large: 100 }), clock: new HeldClock() });

test("who finds no room waits until others leave, in the order in which they came", async () => {
  const { gate, clock } = openGate();
  const first = await gate.enter("large", 60, clock);
  const second = gate.enter("large", 60, clock);
  const third = gate.enter("large", 30, clock);
  expect(await stateOf(second)).toBe("waits");
  // It would fit, but then the second could wait for ever.
  expect(await stateOf(third)).toBe("waits");
  first?.();
  expect(await stateOf(second)).toBe("in");
  expect(await stateOf(third)).toBe("in");
});

test("what is small does not wait for what is large", async () => {
  const { gate, clock } = openGate();
  await gate.enter("large", 100, clock);
  expect(await stateOf(gate.enter("large", 1, clock))).toBe("waits");
  expect(await stateOf(gate.enter("small", 10, clock))).toBe("in");
});

test("what is heavier than its lane enters it alone", async () => {
  const { gate, clock } = openGate();
  const other = await gate.enter("small", 1, clock);
  const heavy = gate.enter("small", 50, clock);
  expect(await stateOf(heavy)).toBe("waits");
  other?.();
  expect(await stateOf(heavy)).toBe("in");
  expect(await stateOf(gate.enter("small", 1, clock))).toBe("waits");
});

test("who has waited long enough is sent away, and does not keep the next one waiting", async () => {
  const { gate, clock } = openGate();
  await gate.enter("large", 60, clock);
  const heavy = gate.enter("large", 60, clock, 10);
  const light = gate.enter("large", 40, clock, 10);
  expect(await stateOf(heavy)).toBe("waits");
  clock.sleeping[0]?.();
  expect(await stateOf(heavy)).toBe("refused");
  expect(await stateOf(light)).toBe("in");
});

test("leaving twice frees the room once", async () => {
  const { gate, clock } = openGate();
  const first = await gate.enter("large", 60, clock);
  await gate.enter("large", 40, clock);
  first?.();
  first?.();
  await gate.enter("large", 60, clock);
  expect(await stateOf(gate.enter("large", 40, clock))).toBe("waits");
});
