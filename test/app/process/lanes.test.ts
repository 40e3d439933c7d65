import { expect, test } from "vitest";
import { describeCluster } from "../../../src/app/describe/describe-cluster.ts";
import { reconcileCluster } from "../../../src/app/reconcile/reconcile-cluster.ts";
import { VirtualClock, drainMicrotasks } from "../../../src/local/play/virtual-clock.ts";
import type { TableApp } from "../../support/app-on-table.ts";
import { appOnTable, DEMO } from "../../support/app-on-table.ts";
import type { MemoryTable } from "../../support/memory-table.ts";
import { memoryTable } from "../../support/memory-table.ts";

/** Who waits while a plan's bodies are written (docs/protocol.md, Record and commits). */
const ORIGIN = Date.UTC(2026, 0, 1);
/** A body row of a plan takes so long to write; a manifest and the pack of a small set take no time. */
const SLOW_MS = 4_000;

interface Stage extends TableApp {
  readonly clock: VirtualClock;
  readonly table: MemoryTable;
}

/** A cluster with 60 nodes wanted, and a table in which large rows are slow. */
async function open(): Promise<Stage> {
  const clock = new VirtualClock(ORIGIN);
  const fast = memoryTable(clock);
  let isSlow = false;
  const table: MemoryTable = {
    ...fast,
    async put(partition, rowKey, values) {
      const { d0 } = values;
      if (isSlow && d0 instanceof Uint8Array && d0.length > 600) await clock.sleep(SLOW_MS);
      return fast.put(partition, rowKey, values);
    },
  };
  const stage = { ...appOnTable(clock, table), clock, table };
  await stage.push({
    requestSet: "target",
    nodearrays: [{ Name: "execute", TargetCount: 60 }],
    expirationInterval: 3600,
  });
  await runUntil(clock, reconcileCluster(stage.app, stage.site, "tick"));
  isSlow = true;
  clock.moveTo(ORIGIN + 60_000);
  return stage;
}

/** Moves the clock by 5 ms at a time until the work has ended, and calls `each` at every tenth step. */
async function runUntil<T>(
  clock: VirtualClock,
  work: Promise<T>,
  each: () => void = () => undefined,
): Promise<T> {
  let ended = false;
  const end = () => (ended = true);
  work.then(end, end);
  for (let steps = 0; ; steps += 1) {
    // Packing takes time that the clock does not know.
    await new Promise((done) => setTimeout(done, 2));
    await drainMicrotasks();
    if (ended) return work;
    if (steps > 20_000) throw new Error("it does not end");
    if (steps % 10 === 0) each();
    clock.moveTo(clock.now() + 5);
  }
}

/** Does something again and again, as long as asked, and notes how long each took. */
function timed(clock: VirtualClock, call: () => Promise<unknown>) {
  const took: number[] = [];
  const under: Promise<unknown>[] = [];
  return {
    took,
    under,
    begin: () => {
      const begun = clock.now();
      under.push(call().then(() => took.push(clock.now() - begun)));
    },
  };
}

test("renewals and state pages do not wait while a plan's bodies take seconds, and the plan is saved", async () => {
  const stage = await open();
  const { app, clock, push, site } = stage;
  const renewals = timed(clock, () => push({ requestSet: "renewed", jobs: [], expirationInterval: 600 }));
  const pages = timed(clock, () => describeCluster(app, site.cluster));
  await push({ requestSet: "renewed", jobs: [], expirationInterval: 600 });
  const planned = reconcileCluster(app, site, "tick");
  expect(
    await runUntil(clock, planned, () => {
      renewals.begin();
      pages.begin();
    }),
  ).toMatchObject({ kind: "planned" });
  await Promise.all([...renewals.under, ...pages.under]);
  // The bodies of one plan: snapshot, ledger and plan are written side by side.
  expect(renewals.took.length).toBeGreaterThanOrEqual(SLOW_MS / 50);
  // They take no time of this clock but what the machine is slow in packing them.
  expect(Math.max(...renewals.took)).toBeLessThan(SLOW_MS / 2);
  expect(Math.max(...pages.took)).toBeLessThan(SLOW_MS / 2);
});

test("demand that changes all the time does not keep plans from being saved", async () => {
  const stage = await open();
  const { app, clock, push, site } = stage;
  let iterations = 0;
  const changes = timed(clock, () =>
    push({
      requestSet: "changes",
      jobs: [{ name: "job", iterations: ++iterations, constraints: { ncpus: 1 } }],
    }),
  );
  const planOf = async () => (await app.ports.store.load(DEMO))?.record.plan ?? 0;
  const before = await planOf();
  for (let minute = 0; minute < 3; minute += 1) {
    await runUntil(clock, reconcileCluster(app, site, "tick"), changes.begin);
    clock.moveTo(clock.now() + 10_000);
  }
  await Promise.all(changes.under);
  expect((await planOf()) - before).toBeGreaterThanOrEqual(2);
});

test("bodies that were written before a collection are written again", async () => {
  const stage = await open();
  const { app, clock, site, table } = stage;
  const planned = reconcileCluster(app, site, "tick");
  const collected = await stagedThenCollected(stage, planned);
  expect(collected).toBeGreaterThan(0);
  await runUntil(clock, planned);
  const cold = appOnTable(clock, table);
  const loaded = await cold.app.ports.store.load(DEMO);
  expect(loaded && (await cold.app.ports.store.bodies(loaded))).toBeDefined();
});

/** Waits until the plan's bodies are written, and removes them all as a collector would that took them for old garbage. */
async function stagedThenCollected({ clock, table }: Stage, planned: Promise<unknown>): Promise<number> {
  const partition = "cluster-demo";
  const old = new Set(table.keys(partition, "b-", "b."));
  const isNew = (key: string): boolean => !old.has(key);
  const original = table.replace.bind(table);
  let removed = 0;
  Object.assign(table, {
    async replace(...row: Parameters<MemoryTable["replace"]>) {
      const garbage = table.keys(partition, "b-", "b.").filter(isNew);
      const record = await table.read(partition, "record");
      if (removed === 0 && garbage.length > 0 && record !== undefined) {
        const values = { collection: "another" };
        await table.removeTogether(partition, garbage, { rowKey: "record", etag: record.etag, values });
        removed = garbage.length;
      }
      return original(...row);
    },
  });
  await runUntil(clock, planned);
  return removed;
}
