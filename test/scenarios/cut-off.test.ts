import { describe, expect, test } from "vitest";
import { tickInTime } from "../../src/app/tick.ts";
import { target } from "./clusters.ts";
import type { CutOff } from "./cut-off-stage.ts";
import { CutOffStage, DAY, playDemand, playIdle, playLeft, stageOf } from "./cut-off-stage.ts";
import { BOUNDS } from "./mutants-cut-off.ts";

/** An instance that does not reach CycleCloud takes nothing from the others (docs/protocol.md, Instances that are cut off). */

const HOWS = ["hangs", "refused", "old password"] as const satisfies readonly CutOff["how"][];
const MEDIAN_SECONDS = 3;

/** The value in the middle. */
const median = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length / 2)] ?? Infinity;

describe.each(HOWS)("one of two hosts, which has the timer, for ten minutes: %s", (how) => {
  test.each(["put", "queue"] as const)("demand that comes by %s to both is served in seconds", async (by) => {
    const { waits, gap, beyond, calls } = await playDemand({ how, seed: 1 }, { by });
    expect(waits.length).toBeGreaterThan(8);
    expect(median(waits)).toBeLessThan(MEDIAN_SECONDS);
    expect(waits.at(-1)).toBeLessThan(BOUNDS.wait);
    expect(gap).toBeLessThan(BOUNDS.gap);
    expect(beyond).toBe(0);
    // It goes on trying, every two minutes; a refused password every five.
    expect(calls).toBeGreaterThanOrEqual(2);
    expect(calls).toBeLessThanOrEqual(how === "old password" ? 3 : BOUNDS.calls);
  });

  test("without new demand observations go on, and idle nodes that ask both hosts go", async () => {
    const { gap, ...stops } = await playIdle({ how, seed: 1 });
    expect(gap).toBeLessThan(BOUNDS.gap);
    expect(stops).toEqual({ stopped: 6, open: 0 });
  });
});

test("one of two hosts does not reach storage for ten minutes: the other serves all, and a silent timer costs four minutes at most", async () => {
  const served = await playDemand({ how: "no storage", seed: 1 });
  expect(served.waits.at(-1)).toBeLessThan(BOUNDS.wait);
  expect(served.beyond).toBe(0);
  const { gap, ...stops } = await playIdle({ how: "no storage", seed: 1 });
  expect(gap).toBeLessThan(240);
  expect(stops).toEqual({ stopped: 6, open: 0 });
});

const alone = [
  { hosts: 2, how: "hangs" },
  { hosts: 2, how: "refused" },
  { hosts: 1, how: "hangs" },
  { hosts: 1, how: "refused" },
] as const;

test.each(alone)(
  "all hosts ($hosts): $how. They go on trying, and the demand is served within a minute and a half after it",
  async ({ hosts, how }) => {
    const { recovered, beyond, calls } = await playDemand({ how, seed: 1, hosts, cut: hosts });
    expect(recovered).toBeLessThan(90);
    expect(beyond).toBe(0);
    // At least one each two minutes. At most three a minute for each host.
    expect(calls).toBeGreaterThanOrEqual(5);
    expect(calls).toBeLessThanOrEqual(30 * hosts);
  },
);

test("a new record, and the host with the timer never reached CycleCloud: the other one is asked, and demand is served", async () => {
  const stage = new CutOffStage({ how: "hangs", seed: 2 });
  stage.begin();
  await stage.pass(5);
  stage.push(target("demo", 3, DAY), stage.hosts[0]);
  await stage.pass(BOUNDS.wait);
  expect(stage.count("node-created")).toBe(3);
});

test("the host that reached CycleCloud dies: the one that did not goes on trying, and serves the demand when it reaches it", async () => {
  const stage = await stageOf(2, { how: "refused", seed: 1 });
  stage.begin();
  await stage.pass(200);
  const [, other] = stage.hosts;
  other?.die();
  const before = stage.calls.length;
  stage.push(target("demo", 5, { ...DAY, revision: stage.clock.now() }));
  await stage.pass(240);
  expect(stage.calls.length).toBeGreaterThan(before + 1);
  stage.end();
  await stage.pass(90);
  expect(stage.count("node-created")).toBe(5);
});

test("its wake messages are lost as well: it takes a tick that is a minute late", async () => {
  expect(await playLeft({ how: "refused", seed: 1 })).toBeLessThan(BOUNDS.recovered);
});

test("a node that asks a host without a way to CycleCloud: a needed one stays, an idle one is to ask again, and the next host stops it", async () => {
  const stage = await stageOf(2, { how: "hangs", seed: 1 });
  const [cut, other] = stage.hosts;
  const [first, second] = stage.readyNodes;
  if (first === undefined || second === undefined) throw new Error("two nodes are up");
  stage.begin();
  await stage.pass(130);
  expect(await stage.told(first, cut)).toMatchObject({ status: 409 });
  stage.push(target("demo", 1, { ...DAY, revision: stage.clock.now() }), other);
  await stage.pass(5);
  // It is not closed for a stop that cannot be sent.
  expect(await stage.told(second, cut)).toMatchObject({
    status: 503,
    undrain: false,
    why: expect.stringContaining("does not reach CycleCloud"),
  });
  expect((await stage.record())?.intents).toEqual([]);
  expect(await stage.told(second, other)).toEqual({ status: 200 });
  // What the other host did is in the record.
  expect(await stage.told(second, cut)).toEqual({ status: 200 });
});

test("a stop that gets no connection is known at once not to have been sent", async () => {
  const stage = await stageOf(2, { how: "refused", seed: 1 });
  const [cut] = stage.hosts;
  const [node] = stage.readyNodes;
  if (node === undefined) throw new Error("a node is up");
  stage.push(target("demo", 1, { ...DAY, revision: stage.clock.now() }));
  await stage.pass(61);
  stage.begin();
  expect(await stage.told(node, cut)).toMatchObject({ status: 503, undrain: true });
  expect((await stage.record())?.intents).toEqual([]);
  // Once the other host has observed, the next question waits for no other stop that fails.
  await stage.pass(90);
  expect(await stage.told(node, cut)).toMatchObject({ status: 503, undrain: false });
});

test("a tick that a person asks for is tried on the host that was asked", async () => {
  const stage = await stageOf(2, { how: "refused", seed: 1 });
  stage.begin();
  await stage.pass(130);
  const before = stage.calls.length;
  const { app } = stage.hosts[0]?.composed ?? {};
  const [site] = app?.ports.sites.values() ?? [];
  if (app === undefined || site === undefined) throw new Error("a host has a cluster");
  const ticked = tickInTime(app, site);
  await stage.pass(10);
  expect((await ticked).outcome).toMatchObject({ kind: "troubled", failure: { kind: "unreachable" } });
  expect(stage.calls).toHaveLength(before + 1);
});

test("the cut ends: the host observes, and stops nodes, again", async () => {
  const stage = await stageOf(2, { how: "hangs", seed: 1 });
  const [cut, other] = stage.hosts;
  stage.begin();
  await stage.pass(300);
  stage.end();
  stage.push(target("demo", 1, { ...DAY, revision: stage.clock.now() }), other);
  await stage.pass(180);
  const [node] = stage.readyNodes;
  if (node === undefined) throw new Error("a node is up");
  expect(await stage.told(node, cut)).toEqual({ status: 200 });
});
