import { describe, expect, test } from "vitest";
import { drainMicrotasks, VirtualClock } from "../../../src/local/play/virtual-clock.ts";

/** Sleepers write their names when they wake. */
function sleepers(clock: VirtualClock, sleeps: Readonly<Record<string, number>>): string[] {
  const woken: string[] = [];
  for (const [name, milliseconds] of Object.entries(sleeps))
    void clock.sleep(milliseconds).then(() => woken.push(name));
  return woken;
}

describe("a virtual clock", () => {
  test("stands still until it is set, and never goes back", () => {
    const clock = new VirtualClock(1_000);
    expect(clock.now()).toBe(1_000);
    clock.moveTo(2_500);
    clock.moveTo(2_000);
    expect(clock.now()).toBe(2_500);
  });

  test("says when its first sleeper wants to wake", async () => {
    const clock = new VirtualClock(1_000);
    expect(clock.nextWakeAt()).toBeUndefined();
    sleepers(clock, { late: 500, early: 200 });
    expect(clock.nextWakeAt()).toBe(1_200);
    clock.moveTo(1_200);
    expect(clock.nextWakeAt()).toBe(1_500);
    clock.moveTo(9_000);
    expect(clock.nextWakeAt()).toBeUndefined();
  });

  test("wakes at once whose sleep is ended, and waits for him no longer", async () => {
    const clock = new VirtualClock(0);
    const ended = new AbortController();
    const woken: string[] = [];
    void clock.sleep(100, ended.signal).then(() => woken.push("ended"));
    void clock.sleep(200).then(() => woken.push("other"));
    ended.abort();
    await drainMicrotasks();
    expect(woken).toEqual(["ended"]);
    expect(clock.nextWakeAt()).toBe(200);
    clock.moveTo(200);
    await drainMicrotasks();
    expect(woken).toEqual(["ended", "other"]);
    await clock.sleep(100, ended.signal);
    expect(clock.nextWakeAt()).toBeUndefined();
  });

  test("wakes who is due, in the order of their moments, and nobody else", async () => {
    const clock = new VirtualClock(0);
    const woken = sleepers(clock, { third: 300, first: 100, second: 200, fourth: 301 });
    await drainMicrotasks();
    expect(woken).toEqual([]);
    clock.moveTo(300);
    await drainMicrotasks();
    expect(woken).toEqual(["first", "second", "third"]);
    clock.moveTo(301);
    await drainMicrotasks();
    expect(woken).toEqual(["first", "second", "third", "fourth"]);
  });

  test("a sleep of nothing, or less, ends when the clock is next set, even to where it is", async () => {
    const clock = new VirtualClock(50);
    const woken = sleepers(clock, { zero: 0, negative: -10 });
    expect(clock.nextWakeAt()).toBe(50);
    clock.moveTo(50);
    await drainMicrotasks();
    expect(woken).toEqual(["zero", "negative"]);
  });

  test("who sleeps again on waking waits for the next setting", async () => {
    const clock = new VirtualClock(0);
    let naps = 0;
    void (async () => {
      for (; naps < 3; naps += 1) await clock.sleep(10);
    })();
    clock.moveTo(25);
    await drainMicrotasks();
    expect(naps).toBe(1);
    expect(clock.nextWakeAt()).toBe(35);
  });
});
