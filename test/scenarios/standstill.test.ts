import { describe, expect, test } from "vitest";
import { oneArray, target } from "./clusters.ts";
import { HostsStage } from "./hosts-stage.ts";
import { playAccepted, playBoot, playCreate, playNeeded, playStop, playUnseen } from "./standstill-stage.ts";

/** CycleCloud stands still and then does what lies in its sockets (docs/protocol.md, Standstills). `npm run test:deep` plays more lengths. */

const cases = [60, 10, 90].flatMap((callLimitSeconds) =>
  [140, 300].flatMap((seconds) => [12, 36].map((phase) => ({ callLimitSeconds, seconds, phase }))),
);

describe.each(cases)(
  "it stands still for $seconds s at second $phase of a minute, with a limit of $callLimitSeconds s for each call",
  (standstill) => {
    test("no node is stopped after it has opened, and none stays closed", async () => {
      expect(await playStop(standstill)).toEqual({ open: 0, closed: 0 });
    });

    test("no node is made twice, and none is missing in the end", async () => {
      expect(await playCreate(standstill)).toBe(25);
    });
  },
);

test("a CycleCloud that always takes 40 s: the same", async () => {
  const slow = { seconds: 200, callSeconds: 40, phase: 12 };
  expect(await playStop(slow)).toEqual({ open: 0, closed: 0 });
  expect(await playCreate(slow)).toBe(25);
});

test.each([
  { seconds: 80, answersSeconds: 2, phase: 9 },
  { seconds: 84, answersSeconds: 5, phase: 7 },
  { seconds: 88, answersSeconds: 2, phase: 9 },
])(
  "a status is answered $answersSeconds s before it stands still for $seconds s with a stop, which takes effect 40 s late: no node is stopped after it has opened",
  async (standstill) => {
    const late = { ...standstill, lateSeconds: 40, demandSeconds: 114 };
    expect(await playStop(late)).toEqual({ open: 0, closed: 0 });
  },
);

test.each([0, 24, 48])(
  "the instance that asked for nodes ends while it waits, and the next one finds CycleCloud quick again, at second %s: none is made twice",
  async (phase) => {
    expect(await playUnseen({ seconds: 230, lateSeconds: 40, phase })).toBe(25);
  },
);

test.each([12, 36])(
  "it stands still while nodes boot, for longer than their boot timeout, at second %s: none is made again",
  async (phase) => {
    expect(await playBoot({ seconds: 250, phase })).toBe(5);
  },
);

test.each([12, 36])(
  "it accepts a stop, stands still, and stops the node 40 s after that, at second %s: the node is not told to open, although demand returned",
  async (phase) => {
    expect(await playAccepted({ seconds: 200, phase, lateSeconds: 40 })).toEqual({ status: 200 });
  },
);

test.each([140, 300])(
  "one of two nodes is being stopped when it begins to stand still for %s s: the other one, which is needed, is not stopped",
  async (seconds) => {
    expect(await playNeeded({ seconds })).toBe(1);
  },
);

test("a question that waited 200 s in front of a host stops no node; one at once does", async () => {
  const day = { expirationInterval: 86_400 };
  const stage = new HostsStage({ simulator: oneArray("demo") });
  await stage.pass(10);
  stage.push(target("demo", 2, day));
  await stage.pass(300);
  stage.push(target("demo", 0, { ...day, revision: stage.clock.now() }));
  await stage.pass(60);
  const [node] = stage.readyNodes;
  if (node === undefined) throw new Error("no node is up");
  const asked = (secondsAgo: number) => ({ asked: String(stage.clock.now() - 1000 * secondsAgo) });
  expect(await stage.told(node, stage.hosts[0], asked(200))).toMatchObject({ status: 503, undrain: false });
  await stage.pass(60);
  expect(stage.count("terminate-accepted")).toBe(0);
  expect(await stage.told(node, stage.hosts[1], asked(0))).toEqual({ status: 200 });
});
