import { gzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import { describeCluster } from "../../src/app/describe/describe-cluster.ts";
import type { Ports, Site } from "../../src/app/ports/ports.ts";
import { PortError } from "../../src/app/ports/port-error.ts";
import { clusterName, setName } from "../../src/domain/ids.ts";
import type { MemoryDoor } from "../support/memory-door.ts";
import { openMemoryDoor } from "../support/memory-door.ts";
import { processorMs } from "../support/processor-time.ts";

/**
 * A message never makes its function throw because of its content. It is acknowledged, put aside with a reason, or tried again if storage
 * failed.
 */

const DEMO = clusterName("demo");
const jobs = (requestSet: string) => ({
  version: 1,
  cluster: "demo",
  requestSet,
  jobs: [{ name: "a", constraints: { ncpus: 1 } }],
});

/** Nested JSON lists, as text and as the Functions library parses it. */
const nested = (levels: number) =>
  `{"version":1,"cluster":"demo","nodearrays":${"[".repeat(levels)}${"]".repeat(levels)}}`;

/** A store whose saves fail if they hold a certain set. */
const failingOn =
  (set: string, error: Error) =>
  (ports: Ports): Ports => ({
    ...ports,
    store: {
      ...ports.store,
      save: (record, ...rest) =>
        record.sets.has(setName(set)) ? Promise.reject(error) : ports.store.save(record, ...rest),
    },
  });

/** A cluster whose CycleCloud adapter fails in an unforeseen way. */
const failingStatus =
  (failure: () => Error | undefined) =>
  (ports: Ports): Ports => {
    const sites = [...ports.sites].map(([name, site]): [typeof name, Site] => {
      const { cyclecloud } = site;
      const status: typeof cyclecloud.status = (cluster, now) => {
        const error = failure();
        return error === undefined ? cyclecloud.status(cluster, now) : Promise.reject(error);
      };
      return [name, { ...site, cyclecloud: { ...cyclecloud, status } }];
    });
    return { ...ports, sites: new Map(sites) };
  };

describe("a message on which the app fails", () => {
  test("is put aside after the first failure, with the name of the error", async () => {
    const door = openMemoryDoor(failingOn("odd", new RangeError("Invalid string length")));
    await door.deliver(jobs("odd"));
    expect(await door.rejected()).toMatchObject([
      {
        messageId: "message-1",
        problems: [{ found: "a message on which the app failed: RangeError: Invalid string length" }],
        text: JSON.stringify(jobs("odd")),
      },
    ]);
  });

  test("takes no other message with it that came at the same time", async () => {
    const door = openMemoryDoor(failingOn("odd", new RangeError("Invalid string length")));
    await Promise.all(["first", "odd", "last"].map((set) => door.deliver(jobs(set))));
    expect(await door.rejected()).toMatchObject([{ text: JSON.stringify(jobs("odd")) }]);
    const stored = await door.composed.app.ports.store.load(DEMO);
    expect([...(stored?.record.sets.keys() ?? [])].toSorted()).toEqual(["first", "last"]);
  });

  test("by the storage's fault is left to the host, which delivers it again", async () => {
    const error = new PortError("unreachable", "save", "no answer");
    const door = openMemoryDoor(failingOn("odd", error));
    await expect(door.deliver(jobs("odd"))).rejects.toBe(error);
    expect(await door.rejected()).toEqual([]);
  });

  test.each([{ levels: 100 }, { levels: 5000 }, { levels: 30_000 }])(
    "nested $levels levels deep, as the library parses it: put aside with its text and its depth named",
    async ({ levels }) => {
      const door = openMemoryDoor();
      const text = nested(levels);
      await door.deliver(JSON.parse(text));
      await door.deliver(text);
      const rejected = await door.rejected();
      const problems = [{ expected: "at most 64 levels of nesting" }];
      expect(rejected).toHaveLength(2);
      for (const { text: kept, ...one } of rejected) {
        expect(one).toMatchObject({ problems });
        expect(text.startsWith(kept.slice(0, 60_000))).toBe(true);
        expect(kept.length).toBeGreaterThan(Math.min(text.length - 1, 60_000));
      }
    },
  );
});

describe("a plan that fails", () => {
  test("fails no message; it is a trouble of its cluster, until a plan is made again", async () => {
    let error: Error | undefined = new TypeError("cannot read of undefined");
    const door = openMemoryDoor(failingStatus(() => error));
    await door.deliver(jobs("good"));
    expect(await door.rejected()).toEqual([]);
    const health = async () => (await describeCluster(door.composed.app, DEMO))["health"];
    expect(await health()).toMatchObject({
      ok: false,
      trouble: { kind: "failed", message: "TypeError: cannot read of undefined" },
      notes: expect.arrayContaining([
        "the app itself failed, and tries again at each tick: TypeError: cannot read of undefined",
      ]),
    });
    door.clock.advance(60);
    await door.tick();
    expect(door.events).toContainEqual(expect.objectContaining({ event: "tick-failed", kind: "defect" }));

    error = undefined;
    door.clock.advance(60);
    await door.tick();
    expect((await health()).trouble).toBeUndefined();
    expect(await describeCluster(door.composed.app, DEMO)).toMatchObject({ plan: { demands: 1 } });
  });

  test("by the network's fault fails no message either, as its demand is durable", async () => {
    const error = new PortError("unreachable", "read bodies", "no answer");
    const door = openMemoryDoor((ports) => ({
      ...ports,
      store: { ...ports.store, bodies: () => Promise.reject(error) },
    }));
    await door.deliver(jobs("good"));
    expect(door.events).toContainEqual(
      expect.objectContaining({ event: "reconcile-failed", kind: "unreachable" }),
    );
    expect((await door.composed.app.ports.store.load(DEMO))?.record.sets.size).toBe(1);
  });

  test("of one cluster leaves the tick of the others alone", async () => {
    const other = clusterName("other");
    const door = openMemoryDoor((ports) => {
      const failing = failingStatus(() => new TypeError("a defect"))(ports);
      const [site] = [...failing.sites.values()];
      if (site === undefined) throw new Error("no site");
      return { ...ports, sites: new Map([...ports.sites, [other, { ...site, cluster: other }]]) };
    });
    await door.tick();
    const outcomes = door.events.filter(({ event }) => event === "tick");
    expect(outcomes).toMatchObject([
      { cluster: "other", outcome: "failed" },
      { cluster: "demo", outcome: "planned" },
    ]);
  });
});

describe("a wake message", () => {
  const wake = (ahead: number, now: number) => ({
    version: 1,
    cluster: "demo",
    wake: true,
    at: now + ahead * 1000,
  });

  test("that is 2 s early is waited for", async () => {
    const door = openMemoryDoor();
    const begun = door.clock.now();
    await door.deliver(wake(2, begun));
    expect(door.clock.now() - begun).toBeGreaterThanOrEqual(2000);
    expect(door.composed.queue.drain().filter((item) => !("id" in item))).toEqual([]);
    expect(door.events.filter(({ event }) => event === "plan")).toHaveLength(1);
  });

  test.each([{ ahead: 3 }, { ahead: 60 }, { ahead: 3600 }])(
    "that is $ahead s early goes back into the queue until then, and holds no place meanwhile",
    async ({ ahead }) => {
      const door = openMemoryDoor();
      const begun = door.clock.now();
      await door.deliver(wake(ahead, begun));
      expect(door.clock.now()).toBe(begun);
      expect(door.composed.queue.drain()).toEqual([
        { kind: "wake", cluster: "demo", at: begun + ahead * 1000 },
      ]);
      expect(door.events.filter(({ event }) => event === "plan")).toEqual([]);
    },
  );

  test.each([{ at: Date.UTC(2026, 0, 1, 1, 0, 1) }, { at: 8_640_000_000_000_000 }])(
    "for $at, more than an hour ahead, is refused",
    async ({ at }) => {
      const door = openMemoryDoor();
      await door.deliver({ version: 1, cluster: "demo", wake: true, at });
      expect(door.composed.queue.drain()).toEqual([]);
      expect(await door.rejected()).toMatchObject([
        {
          cluster: "demo",
          problems: [
            {
              path: "at",
              found: String(at),
              expected:
                "milliseconds since 1970, at most an hour ahead of 2026-01-01T00:00:00.000Z (1767229200000)",
            },
          ],
        },
      ]);
    },
  );
});

test("of a flood of refused messages three at a time are put aside, and all of them", async () => {
  const door = openMemoryDoor();
  const { queue } = door.composed;
  const reject = queue.reject.bind(queue);
  let together = 0;
  let most = 0;
  vi.spyOn(queue, "reject").mockImplementation(async (message) => {
    together += 1;
    most = Math.max(most, together);
    await new Promise((resolve) => setImmediate(resolve));
    together -= 1;
    return reject(message);
  });
  await Promise.all(Array.from({ length: 24 }, () => door.deliver({ version: 1, cluster: "demo", jobs: 5 })));
  expect(most).toBe(3);
  expect(await door.rejected()).toHaveLength(24);
});

test("messages that nobody can read are shown at a bounded rate, and all are in demand-rejected", async () => {
  const door = openMemoryDoor();
  const bad = { version: 1, cluster: "demo", jobs: 5 };
  for (let sent = 0; sent < 30; sent += 1) await door.deliver(bad);
  const shown = async () => (await door.composed.app.ports.store.load(DEMO))?.record.rejections.length;
  expect(await door.rejected()).toHaveLength(30);
  expect(await shown()).toBe(10);
  const loads = vi.spyOn(door.composed.app.ports.store, "load");
  for (let sent = 0; sent < 30; sent += 1) await door.deliver(bad);
  expect(loads).not.toHaveBeenCalled();
  expect(await shown()).toBe(10);
  door.clock.advance(60);
  await door.deliver(bad);
  expect(await shown()).toBe(11);
});

describe("more demand than a cluster may hold", () => {
  test("goes to the rejected messages with what was found and allowed, also after the host gave up on it", async () => {
    const door = openMemoryDoor();
    const many = {
      ...jobs("many"),
      jobs: Array.from({ length: 100_000 }, (_, index) => ({ name: `${index}` })),
    };
    await door.deliver(many);
    await door.deliver({ ...many, requestSet: "more", jobs: many.jobs.slice(1) });
    const over = { ...many, requestSet: "over", revision: door.clock.now(), jobs: many.jobs.slice(0, 2) };
    await door.deliver(over);
    door.composed.queue.addPoison(gzipSync(JSON.stringify(over)).toString("base64"));
    await door.tick();
    const problem = {
      found: "200001 jobs with this message",
      expected: "at most 200000 jobs in a cluster; a set that lapses or is deleted makes room",
    };
    const rejected = { cluster: "demo", set: "over", problems: [problem] };
    expect(await door.rejected()).toMatchObject([rejected, rejected]);
    const stored = await door.composed.app.ports.store.load(DEMO);
    expect([...(stored?.record.sets.keys() ?? [])]).toEqual(["many", "more"]);
  });

  test("by one sender, in jobs: half of the cluster is left for others, without rules", async () => {
    const door = openMemoryDoor();
    await door.deliver({ ...jobs("evil"), jobs: Array.from({ length: 199_999 }, () => ({})) });
    await door.deliver({
      ...jobs("evil"),
      jobs: Array.from({ length: 199_999 }, (_, at) => ({ name: `${at}` })),
    });
    await door.deliver({ ...jobs("pbs"), jobs: [{ name: "a" }, { name: "b" }] });
    expect(await door.rejected()).toMatchObject([
      { set: "evil", problems: [{ expected: expect.stringMatching(/^at most 100000 jobs.*half/) }] },
    ]);
    expect(await setsOf(door)).toEqual(["evil", "pbs"]);
  });

  test("in sets that ask for nothing: those have a bound of their own", async () => {
    const door = openMemoryDoor();
    for (let set = 0; set <= 1000; set += 100)
      await Promise.all(
        Array.from({ length: Math.min(100, 1001 - set) }, (_, at) =>
          door.deliver({ ...jobs(`evil-${set + at}`), expirationInterval: 86_400, jobs: [] }),
        ),
      );
    await door.deliver(jobs("pbs"));
    expect(await door.rejected()).toMatchObject([
      { set: "evil-1000", problems: [{ found: expect.stringMatching(/^1001 .*that ask for nothing/) }] },
    ]);
    expect(await setsOf(door)).toContain("pbs");
  });
});

const setsOf = async ({ composed }: MemoryDoor): Promise<readonly string[]> =>
  [...((await composed.app.ports.store.load(DEMO))?.record.sets.keys() ?? [])].toSorted();

test("a message from demand-poison with long texts that begin like sizes takes less than a second of processor time", async () => {
  const door = openMemoryDoor();
  const mem = `memory::${"1".repeat(30_000)}.${"1".repeat(30_000)}!`;
  const revision = door.clock.now();
  const sized = { ...jobs("sized"), jobs: [{ name: "a" }, { name: "b", constraints: { mem } }], revision };
  door.composed.queue.addPoison(JSON.stringify(sized));
  const before = processorMs();
  await door.tick();
  expect(processorMs() - before).toBeLessThan(1000);
  expect(await describeCluster(door.composed.app, DEMO)).toMatchObject({
    demand: [{ requestSet: "sized", demands: 1, rejectedJobs: [{ name: "b" }] }],
  });
});

test("a message from demand-poison that never came to an end is put aside unread", async () => {
  const unread: string[] = [];
  const door = openMemoryDoor((ports) => ({
    ...ports,
    queue: {
      ...ports.queue,
      // The state after three processes crashed while they read the message.
      takePoison: async (most) =>
        (await ports.queue.takePoison(most)).map((message) => ({ ...message, taken: 4 })),
      reject: (message) => {
        unread.push(message.text);
        return ports.queue.reject(message);
      },
    },
  }));
  door.composed.queue.addPoison(JSON.stringify({ ...jobs("heavy"), revision: door.clock.now() }));
  await door.tick();
  expect(unread).toHaveLength(1);
  expect(await door.rejected()).toMatchObject([
    { problems: [{ found: "a message that was begun 3 times and never dealt with" }] },
  ]);
  expect((await door.composed.app.ports.store.load(DEMO))?.record.sets.size).toBe(0);
  expect(await door.composed.queue.poison()).toEqual({ count: 0 });
});
