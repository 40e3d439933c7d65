import { describe, expect, test } from "vitest";
import type { Push } from "./messages-stage.ts";
import {
  playFrozenHost,
  playLateCreate,
  playLateQuestions,
  playLateStop,
  playPush,
  playSetClocks,
  playUnsentStop,
} from "./messages-stage.ts";

/** What waits where a host stands still counts from its own time (docs/protocol.md). `npm run test:deep` plays more lengths. */

describe("the only host stands still for five minutes, and ten idle nodes ask when it goes on", () => {
  const seconds = 300;
  /** Thirty nodes run for twenty that are wanted. Their sender repeats that while the host stands still, and wants thirty afterwards. */
  const repeats = { nodes: 30, before: 20, waits: [[5, 20]], after: [[40, 30]] } as const;
  const twice = [
    [5, 20],
    [50, 20],
  ] as const;

  test.each<{ readonly name: string; readonly push: Partial<Push> }>([
    { name: "a lower demand lay in front of it by PUT", push: {} },
    { name: "by queue", push: { byQueue: true } },
    { name: "by queue, without a revision", push: { byQueue: true, revision: "none" } },
    { name: "of a sender whose clock is ten minutes behind", push: { clockSeconds: -600 } },
    { name: "of one whose clock is a minute ahead", push: { clockSeconds: 60 } },
    { name: "of one that counts its messages from an hour ago", push: { revision: "counter-of-an-hour" } },
    { name: "a pure renewal lay there", push: { ...repeats, revision: "last-change" } },
    { name: "two lay there", push: { ...repeats, revision: "last-change", waits: twice } },
    {
      name: "two lay there and are taken 5 s apart",
      push: { ...repeats, revision: "last-change", waits: twice, takenApartSeconds: 5 },
    },
  ])("$name, and the sender's next word comes after 40 s: no node is stopped", async ({ push }) => {
    expect(await playPush({ seconds, phase: 19, ...push })).toEqual({
      stopped: 0,
      madeAgain: 0,
      firstStopSeconds: undefined,
    });
  });

  /** The sender says each minute what it said before. The nodes ask for three minutes, and again a minute after they have opened. */
  const minutely = [20, 80, 140, 200, 260, 320].map((second) => [second, 20] as const);
  test.each<{ readonly name: string; readonly push: Partial<Push>; readonly most: number }>([
    { name: "its time", push: {}, most: 72 },
    { name: "its time, a minute ahead", push: { clockSeconds: 60 }, most: 72 },
    { name: "its time, by queue", push: { byQueue: true }, most: 72 },
    { name: "the time of its last change", push: { revision: "last-change" }, most: 132 },
    { name: "none", push: { revision: "none" }, most: 72 },
    { name: "a number that is no time", push: { revision: "counter-of-a-day" }, most: 72 },
    { name: "its time, ten minutes behind", push: { clockSeconds: -600 }, most: 312 },
  ])(
    "a sender whose revision is $name goes on as before: idle nodes are stopped within $most s",
    async ({ push, most }) => {
      const { stopped, madeAgain, firstStopSeconds } = await playPush({
        seconds,
        phase: 19,
        ...repeats,
        after: minutely,
        ...push,
      });
      expect({ stopped, madeAgain }).toEqual({ stopped: 10, madeAgain: 0 });
      expect(firstStopSeconds).toBeLessThanOrEqual(most);
    },
  );
});

describe.each([60, 140, 300])(
  "a host stands still for %s s between its look at the clock and the write",
  (seconds) => {
    test("of a stop: no node is stopped that has opened meanwhile", async () => {
      expect(await playLateStop({ seconds, phase: 0 })).toEqual({ open: 0 });
    });

    test("of a create, and what another host sends of it is lost: no node is made twice", async () => {
      expect(await playLateCreate({ seconds })).toBe(25);
    });
  },
);

test("a stop that a host could not write in time was certainly not sent: its node is told so at once", async () => {
  expect(await playUnsentStop()).toMatchObject({ status: 503, undrain: true });
});

test.each([60, 200, 600])(
  "one of two hosts stands still for %s s while nodes ask and demand moves: no busy node is stopped",
  async (seconds) => {
    expect(await playFrozenHost({ seconds, phase: 7 })).toEqual({ busy: 0 });
  },
);

describe("questions wait in front of a host, and the others reach nobody", () => {
  test.each([
    { name: "the first, for 15 s", seconds: 15, waiting: [0], stopped: 3 },
    { name: "the first, for 120 s", seconds: 120, waiting: [0], stopped: 0 },
    { name: "the second, for 120 s", seconds: 120, waiting: [1], stopped: 0 },
    { name: "both, for 170 s", seconds: 170, waiting: [0, 1], stopped: 0 },
    { name: "the first, for 200 s", seconds: 200, waiting: [0], stopped: 0 },
    { name: "the second, for 220 s", seconds: 220, waiting: [1], stopped: 0 },
    { name: "both, for 220 s", seconds: 220, waiting: [0, 1], stopped: 0 },
    { name: "three, for 300 s", seconds: 300, waiting: [0, 1, 2], stopped: 0 },
    { name: "the first, for 300 s, twice", seconds: 300, waiting: [0], times: 2, stopped: 0 },
  ])("$name: no node that has opened is stopped", async ({ name: _name, stopped, ...late }) => {
    expect(await playLateQuestions(late)).toEqual({ open: 0, stopped });
  });

  test.each([100, 140])(
    "of nodes whose clocks are not known and are %s s ahead, the first and both for 220 s: the same",
    async (aheadSeconds) => {
      for (const waiting of [[0], [0, 1]])
        expect((await playLateQuestions({ seconds: 220, waiting, aheadSeconds })).open).toBe(0);
    },
  );

  test.each([0, 300, -300])(
    "of nodes whose clocks are known and were set by %s s, both for 220 s: the same",
    async (setForwardSeconds) => {
      const late = { seconds: 220, waiting: [0, 1], setForwardSeconds };
      expect((await playLateQuestions(late)).open).toBe(0);
    },
  );

  test.each([
    { setForwardSeconds: 300, most: 30 },
    // For five minutes its questions are older than the one that was told to stay.
    { setForwardSeconds: -300, most: 300 },
  ])(
    "a clock that is set by $setForwardSeconds s keeps no node: stopped within $most s",
    async ({ setForwardSeconds, most }) => {
      expect(await playSetClocks(setForwardSeconds)).toBeLessThanOrEqual(most);
    },
  );
});
