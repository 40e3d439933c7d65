import { describe, expect, test } from "vitest";
import type { ClusterRecord } from "../../src/domain/record.ts";
import { oneArray } from "./clusters.ts";
import { HostsStage } from "./hosts-stage.ts";
import { ORIGIN } from "./stage-options.ts";
import { Stage } from "./stage.ts";

const HOUR = 3600;
const holding = (count: number) => ({
  version: 1 as const,
  cluster: "demo",
  expirationInterval: 86_400,
  nodearrays: [{ Name: "execute", TargetCount: count }],
});

/** When CycleCloud was asked for its status after that moment, in seconds since the beginning. */
const looksAfter = (stage: Stage, from: number): readonly number[] =>
  stage
    .eventsOf("status-read")
    .map(({ at }) => (at - ORIGIN) / 1000)
    .filter((at) => at > from);

/** A cluster that holds one node, for ten minutes and then an hour. Returns its observations in the hour. */
async function looksOfAnHour(change: (stage: Stage) => void): Promise<readonly number[]> {
  const stage = new Stage({ simulator: oneArray("demo") });
  change(stage);
  await stage.pass(1);
  await stage.push(holding(1));
  await stage.pass(600 - 1 + HOUR);
  return looksAfter(stage, 600);
}

describe("a cluster with demand is looked at once a minute", () => {
  test.each([
    { name: "by the timer", change: () => undefined, first: 660 },
    {
      name: "by wake messages where the timer is silent",
      change: (one: Stage) => one.stopTimer(),
      first: 605,
    },
    {
      name: "by the timer where no wake message arrives",
      change: (one: Stage) => void (one.wakesArrive = "never"),
      first: 660,
    },
    {
      name: "by the timer where each wake message comes twice",
      change: (one: Stage) => void (one.wakesArrive = "twice"),
      first: 660,
    },
    {
      name: "by wake messages that come twice where the timer is silent",
      change: (one: Stage) => {
        one.stopTimer();
        one.wakesArrive = "twice";
      },
      first: 605,
    },
  ])("$name", async ({ change, first }) => {
    const looks = await looksOfAnHour(change);
    expect(looks).toEqual(Array.from({ length: 60 }, (_, minute) => first + 60 * minute));
  });
});

test("a timer that stops is followed by the wake message within four minutes, and the loop goes on each minute", async () => {
  const stage = new Stage({ simulator: oneArray("demo") });
  await stage.push(holding(1));
  await stage.pass(610);
  stage.stopTimer();
  await stage.pass(600);
  const looks = looksAfter(stage, 605);
  expect(looks[0]).toBeLessThanOrEqual(600 + 245);
  expect(looks.slice(1).map((at, index) => at - (looks[index] ?? 0))).toEqual(
    Array.from({ length: looks.length - 1 }, () => 60),
  );
  expect((await stage.state("demo")).health.ok).toBe(true);
});

test("neither timer nor wake message: health says that ticks are late, although demand has its looks", async () => {
  const stage = new Stage({ simulator: oneArray("demo") });
  await stage.push(holding(1));
  await stage.pass(610);
  stage.stopTimer();
  stage.wakesArrive = "never";
  await stage.pass(290);
  await stage.push(holding(2));
  await stage.pass(10);
  const { health } = await stage.state("demo");
  expect(health.ok).toBe(false);
  expect(health.notes).toContain(
    "a tick was due at 2026-01-01T00:11:00.000Z, and neither the timer nor its wake message has come: do the functions snapshot and demand run?",
  );
});

describe("the timer is silent and the queue was emptied: the loop begins again", () => {
  test.each([
    { name: "by a probe of health", call: (stage: Stage) => stage.probe("demo") },
    {
      name: "by the question of a node",
      call: (stage: Stage) => stage.ask(stage.readyNodes[0] ?? { stopUrl: "", instanceId: "" }),
    },
    { name: "by a renewal of demand", call: (stage: Stage) => stage.push(holding(1)) },
  ])("$name", async ({ call }) => {
    const stage = new Stage({ simulator: oneArray("demo") });
    await stage.push(holding(1));
    await stage.pass(610);
    stage.stopTimer();
    stage.wakesArrive = "never";
    await stage.pass(600);
    stage.wakesArrive = "once";
    await stage.pass(300);
    expect(looksAfter(stage, 605)).toEqual([]);
    await call(stage);
    await stage.pass(310);
    // At once, and then 5 s after each full minute.
    const looks = looksAfter(stage, 605);
    expect(looks.slice(0, 2)).toEqual([1510, 1565]);
    expect(looks.slice(1)).toEqual([1565, 1625, 1685, 1745, 1805]);
  });
});

describe("a cluster that is empty, without demand,", () => {
  test.each([
    { name: "by the timer", change: () => undefined, expected: [900, 1800, 2700, 3600] },
    {
      name: "by wake messages",
      change: (one: Stage) => one.stopTimer(),
      expected: [905, 1805, 2705, 3605],
    },
  ])("is looked at four times an hour $name, which is no outage", async ({ change, expected }) => {
    const stage = new Stage({ simulator: oneArray("demo") });
    await stage.pass(590);
    change(stage);
    await stage.pass(HOUR - 590 + 10);
    expect(looksAfter(stage, 600)).toEqual(expected);
    const { health, nextLookAt } = await stage.state("demo");
    expect(health).toMatchObject({ ok: true, notes: [] });
    expect(health.restingUntil).toBeUndefined();
    expect(nextLookAt).toBe("2026-01-01T01:15:00.000Z");
  });

  test("is looked at at once for demand, and then each minute", async () => {
    const stage = new Stage({ simulator: oneArray("demo") });
    await stage.pass(1000);
    await stage.push(holding(1));
    await stage.pass(130);
    expect(looksAfter(stage, 901)).toEqual([1000, 1020, 1080]);
    expect(stage.eventsOf("node-created")).toHaveLength(1);
  });
});

const looksOf = ({ simulator }: HostsStage, from: number): readonly number[] =>
  simulator.log
    .flatMap((event) => (event.kind === "status-read" ? [(event.at - ORIGIN) / 1000] : []))
    .filter((at) => at > from);

test("two hosts, the first of which dies before its look is saved: the second looks each minute", async () => {
  const stage = new HostsStage({ simulator: oneArray("demo") });
  stage.push(holding(1));
  await stage.pass(605);
  dieAtSave(stage, 2, "before");
  await stage.pass(600);
  expect(stage.hosts.map(({ isAlive }) => isAlive)).toEqual([false, true]);
  expect(looksOf(stage, 605)).toEqual(Array.from({ length: 10 }, (_, minute) => 660 + 60 * minute));
});

describe.each(["before", "after"] as const)(
  "a host dies %s the record names the next wake message,",
  (when) => {
    test("and its timer never comes back: a message ticks within five minutes, then one each minute", async () => {
      const stage = new HostsStage({ simulator: oneArray("demo") });
      stage.push(holding(1));
      await stage.pass(605);
      // The ticks of four minutes. In one of them the timer sends a wake message.
      const before = (await stage.record())?.pendingWake;
      dieAtSave(stage, 1, when, (record) => record.pendingWake?.id !== before?.id);
      for (let seconds = 0; seconds < 300 && stage.hosts[0]?.isAlive === true; seconds += 1)
        await stage.pass(1);
      expect(stage.hosts[0]?.isAlive).toBe(false);
      stage.timerIsOn = false;
      const died = stage.seconds;
      await stage.pass(540);
      const looks = looksOf(stage, died);
      expect(looks[0]).toBeLessThanOrEqual(died + 305);
      expect(looks.slice(1).map((at, index) => at - (looks[index] ?? 0))).toEqual(
        looks.slice(1).map(() => 60),
      );
      expect(looks.length).toBeGreaterThan(4);
    });

    test("which a wake message had brought: the next one ticks a minute later", async () => {
      const stage = new HostsStage({ simulator: oneArray("demo") });
      stage.timerIsOn = false;
      stage.push(holding(1));
      await stage.pass(610);
      const before = looksOf(stage, 0).at(-1) ?? 0;
      dieAtSave(stage, 1, when);
      await stage.pass(300);
      expect(stage.hosts.map(({ isAlive }) => isAlive)).toEqual([false, true]);
      expect(looksOf(stage, before)).toEqual([2, 3, 4, 5].map((minutes) => before + 60 * minutes));
    });
  },
);

/** Kills the first host at its n-th save from now on, before or after the save takes effect. Only saves that `counts` accepts are counted. */
function dieAtSave(
  stage: HostsStage,
  nth: number,
  when: "before" | "after",
  counts: (record: ClusterRecord) => boolean = () => true,
): void {
  let left = nth;
  stage.interference = {
    save: (host, _changes, save, record) => {
      if (host !== stage.hosts[0] || !counts(record)) return save();
      left -= 1;
      if (left > 0) return save();
      if (when === "before") host.die();
      return host.isAlive ? save().finally(() => host.die()) : new Promise(() => undefined);
    },
  };
}
