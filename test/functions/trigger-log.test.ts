import { expect, test } from "vitest";
import { PortError } from "../../src/app/ports/port-error.ts";
import { clusterName } from "../../src/domain/ids.ts";
import { openMemoryDoor } from "../support/memory-door.ts";

/** How it shows from outside that the platform calls the timer and the queue function. */

const demo = clusterName("demo");

test("a wake message with an id is noted when it comes through; one without leaves the note", async () => {
  const { composed, deliver, clock } = openMemoryDoor();
  const { triggers } = composed.app.ports;
  expect(await triggers.lastWake(demo)).toBeUndefined();
  const at = clock.now();
  await deliver({ version: 1, cluster: "demo", wake: true, id: "a" });
  expect(await triggers.lastWake(demo)).toEqual({ id: "a", at });
  await deliver({ version: 1, cluster: "demo", wake: true });
  expect(await triggers.lastWake(demo)).toEqual({ id: "a", at });
});

test("one that comes too early goes back with its id, and is not noted yet", async () => {
  const { composed, deliver, clock } = openMemoryDoor();
  const at = clock.now() + 60_000;
  await deliver({ version: 1, cluster: "demo", wake: true, at, id: "early" });
  expect(await composed.app.ports.triggers.lastWake(demo)).toBeUndefined();
  expect(composed.queue.drain()).toEqual([{ kind: "wake", cluster: "demo", at, id: "early" }]);
});

test("an id that is no label is refused", async () => {
  const { deliver, rejected } = openMemoryDoor();
  await deliver({ version: 1, cluster: "demo", wake: true, id: "x".repeat(201) });
  expect((await rejected()).map(({ problems }) => problems.map(({ path }) => path))).toEqual([["id"]]);
});

test("the timer notes each tick, whatever the observation finds", async () => {
  const { composed, tick, clock } = openMemoryDoor();
  const { triggers } = composed.app.ports;
  expect(await triggers.timerAt()).toBeUndefined();
  await tick();
  const first = await triggers.timerAt();
  clock.advance(60);
  await tick();
  expect(((await triggers.timerAt()) ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(60_000);
});

test("a note that storage refuses is logged, and the tick does its work", async () => {
  const door = openMemoryDoor((ports) => ({
    ...ports,
    triggers: {
      ...ports.triggers,
      noteTimer: () => Promise.reject(new PortError("throttled", "note timer", "busy")),
    },
  }));
  await door.tick();
  expect(door.events).toContainEqual({
    event: "timer-not-noted",
    kind: "throttled",
    message: "note timer: busy",
  });
  expect((await door.composed.app.ports.store.load(demo))?.record.plan).toBe(1);
});
