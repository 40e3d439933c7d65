import { expect, test } from "vitest";
import { describeRequestSet } from "../../../src/app/describe/describe-request-set.ts";
import { reconcileCluster } from "../../../src/app/reconcile/reconcile-cluster.ts";
import { digest, setName } from "../../../src/domain/ids.ts";
import type { SetEntry } from "../../../src/domain/request-sets.ts";
import { plusSeconds } from "../../../src/domain/units.ts";
import { IS_DEEP } from "../../property/runs.ts";
import type { TableApp } from "../../support/app-on-table.ts";
import { appOnTable, DEMO, SleepersClock } from "../../support/app-on-table.ts";
import type { MemoryTable } from "../../support/memory-table.ts";
import { memoryTable } from "../../support/memory-table.ts";

/** Request sets that are over do not burden those that live (docs/protocol.md, Storage). */
const ORIGIN = Date.UTC(2026, 0, 1);
const DAY = 86_400;

interface Stage extends TableApp {
  readonly clock: SleepersClock;
  readonly table: MemoryTable;
}

function open(): Stage {
  const clock = new SleepersClock(ORIGIN);
  const table = memoryTable(clock);
  return { ...appOnTable(clock, table), clock, table };
}

/** One set of each job of a day, all over; and one that lives. A plan has been made. */
async function withFinished(count: number): Promise<Stage> {
  const stage = open();
  const { app, clock, push, site } = stage;
  await push({ requestSet: "lives", jobs: [], expirationInterval: 3600 });
  const current = await app.ports.store.load(DEMO);
  if (current === undefined) throw new Error("no record");
  const sets = new Map(current.record.sets);
  for (let number = 0; number < count; number += 1) {
    const acceptedAt = plusSeconds(clock.now(), -((number * 80_000) / count) - 600);
    const entry: SetEntry = {
      revision: { value: acceptedAt - 137, tieBreak: "" },
      intervalSeconds: 300,
      sentAt: plusSeconds(acceptedAt, -0.137),
      acceptedAt,
      expiresAt: plusSeconds(acceptedAt, 300),
      digest: digest((number * 7919).toString(16).padStart(16, "0").repeat(4)),
      live: false,
    };
    sets.set(setName(`job-${number}.pbs-server`), entry);
  }
  await app.ports.store.save({ ...current.record, sets }, {}, current);
  expect(await reconcileCluster(app, site, "tick")).toMatchObject({ kind: "planned" });
  return stage;
}

/** The cost of one of these renewals: bytes written, and the median of processor milliseconds. */
async function costOfRenewal({ clock, push, table }: Stage, renewals = 15) {
  const spent: number[] = [];
  await push({ requestSet: "lives", jobs: [], expirationInterval: 3600 });
  table.reset();
  for (let number = 0; number < renewals; number += 1) {
    await clock.sleep(1_000);
    const before = process.cpuUsage();
    await push({ requestSet: "lives", jobs: [], expirationInterval: 3600 });
    const { user, system } = process.cpuUsage(before);
    spent.push((user + system) / 1000);
  }
  return {
    bytes: table.counts.bytesWritten / renewals,
    milliseconds: spent.toSorted((a, b) => a - b)[Math.floor(renewals / 2)] ?? 0,
  };
}

/** Of the sets of a day. */
const MANY = IS_DEEP ? 100_000 : 10_000;

test(`with ${MANY} finished sets a renewal writes less than 64 KiB and takes less than 20 ms more than with none`, async () => {
  const alone = await costOfRenewal(await withFinished(0));
  const stage = await withFinished(MANY);
  const crowded = await costOfRenewal(stage);
  expect(crowded.bytes - alone.bytes).toBeLessThan(64 * 1024);
  expect(crowded.milliseconds - alone.milliseconds).toBeLessThan(20);

  // A set that is new, or finished, needs one body of many to be read: no more than that.
  stage.table.reset();
  const before = process.cpuUsage();
  await stage.push({ requestSet: "new", jobs: [] });
  const { user, system } = process.cpuUsage(before);
  expect(stage.table.counts.bytesWritten).toBeLessThan(64 * 1024);
  expect((user + system) / 1000).toBeLessThan(60);

  // Another finished set in a plan: one body of many is written for it, not all of them.
  const { record } = (await stage.app.ports.store.load(DEMO)) ?? {};
  expect(record?.sets.size).toBe(52);
});

test("finished sets refuse what is older, whether they have left the record or not, also in another process", async () => {
  const stage = await withFinished(500);
  const other = appOnTable(stage.clock, stage.table, stage.simulator);
  const acceptedAt = (number: number) => ORIGIN - ((number * 80_000) / 500) * 1000 - 600_000;
  for (const number of [0, 49, 50, 250, 499]) {
    const requestSet = `job-${number}.pbs-server`;
    const older = { requestSet, jobs: [], revision: Math.floor(acceptedAt(number) - 138) };
    expect(await other.push(older)).toMatchObject({ kind: "older" });
    expect(await other.push({ ...older, revision: older.revision + 2 })).toMatchObject({
      kind: "accepted",
      changed: false,
    });
  }
});

test("a finished set is shown as lapsed, whether it has left the record or not", async () => {
  const { app } = await withFinished(500);
  for (const number of [0, 499]) {
    expect(await describeRequestSet(app, DEMO, setName(`job-${number}.pbs-server`))).toMatchObject({
      requestSet: `job-${number}.pbs-server`,
      state: "lapsed",
      expirationInterval: 300,
    });
  }
  expect(await describeRequestSet(app, DEMO, setName("job-500.pbs-server"))).toBeUndefined();
});

test("an explicit revision from before maxExpirationInterval is stale, unless it renews what is held", async () => {
  const { clock, push } = open();
  const old = { requestSet: "fixed", jobs: [], revision: ORIGIN - DAY * 1000 - 1, expirationInterval: 300 };
  expect(await push(old)).toStrictEqual({ kind: "stale", oldest: ORIGIN - DAY * 1000 });
  const young = { ...old, revision: ORIGIN - DAY * 1000 };
  expect(await push(young)).toMatchObject({ kind: "accepted" });
  // A sender whose revision is the moment of its last change renews for days.
  await clock.sleep(DAY * 1000 - 1);
  expect(await push(young)).toMatchObject({ kind: "accepted", changed: true });
  await clock.sleep(200_000);
  expect(await push(young)).toMatchObject({ kind: "accepted", changed: false });
  expect(await push(old)).toMatchObject({ kind: "stale" });
});

test("each finished set costs bodies of its own size, and what need not be remembered goes", async () => {
  const stage = await withFinished(20_000);
  const { app, clock, push, site, table } = stage;
  const finish = async (from: number) => {
    for (let number = from; number < from + 60; number += 1)
      await push({ requestSet: `short-${number}`, jobs: [], expirationInterval: 1 });
    await clock.sleep(60_000);
    await reconcileCluster(app, site, "tick");
  };
  await finish(0);
  table.reset();
  await finish(60);
  // 60 sets and more leave; 20,000 sets are in 32 bodies of some 25 KiB.
  expect(table.counts.bytesWritten).toBeLessThan(1_500 * 1024);

  // Two days later all of them are forgotten but those of the last day.
  await clock.sleep(2 * DAY * 1000);
  await push({ requestSet: "lives", jobs: [], expirationInterval: 3600 });
  for (let number = 1000; number < 1000 + 200; number += 1)
    await push({ requestSet: `later-${number}`, jobs: [], expirationInterval: 1 });
  await clock.sleep(60_000);
  await reconcileCluster(app, site, "tick");
  const loaded = await app.ports.store.load(DEMO);
  if (loaded === undefined) throw new Error("no record");
  const names = Array.from({ length: 20_000 }, (_, number) => setName(`job-${number}.pbs-server`));
  expect((await app.ports.store.finished(loaded, names)).size).toBeLessThan(2_000);
});
