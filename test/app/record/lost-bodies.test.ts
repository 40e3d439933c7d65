import { describe, expect, test } from "vitest";
import { tableRecordStore } from "../../../src/adapters/tables/record-store.ts";
import { describeCluster } from "../../../src/app/describe/describe-cluster.ts";
import { loadWhole } from "../../../src/app/record/load-record.ts";
import { PortError } from "../../../src/app/ports/port-error.ts";
import { reconcileCluster } from "../../../src/app/reconcile/reconcile-cluster.ts";
import { setName } from "../../../src/domain/ids.ts";
import type { TableApp } from "../../support/app-on-table.ts";
import { appOnTable, DEMO, SleepersClock } from "../../support/app-on-table.ts";
import type { MemoryTable } from "../../support/memory-table.ts";
import { memoryTable } from "../../support/memory-table.ts";

/** Rows of a table that are gone although the record names them (docs/protocol.md, Storage). */
const ORIGIN = Date.UTC(2026, 0, 1);
const PARTITION = "cluster-demo";

interface Stage {
  readonly clock: SleepersClock;
  readonly table: MemoryTable;
  readonly first: TableApp;
  /** Another process, which remembers nothing. */
  readonly restart: () => TableApp;
}

/** Two small sets in one pack, a set so large that it has a body of its own, and five nodes that are coming. */
async function open(): Promise<Stage> {
  const clock = new SleepersClock(ORIGIN);
  const table = memoryTable(clock);
  const first = appOnTable(clock, table);
  await first.push({
    requestSet: "small",
    nodearrays: [{ Name: "execute", TargetCount: 5 }],
    expirationInterval: 3600,
  });
  await first.push({ requestSet: "other", jobs: [job("one")], expirationInterval: 3600 });
  const many = Array.from({ length: 1_500 }, (_, number) => ({
    ...job(`job-${number}`),
    constraints: { ncpus: 10_000 },
  }));
  await first.push({ requestSet: "large", jobs: many, expirationInterval: 3600 });
  await tick(first);
  return { clock, table, first, restart: () => appOnTable(clock, table, first.simulator) };
}

const job = (name: string) => ({ name, iterations: 1, constraints: { ncpus: 1 } });

/** The outcome of a tick. It has no deadline, because each sleep moves this clock. */
async function tick({ app, site }: TableApp): Promise<string> {
  try {
    return (await reconcileCluster(app, site, "tick")).kind;
  } catch (error) {
    if (error instanceof PortError) return "failed";
    throw error;
  }
}

async function stored({ app }: TableApp) {
  const loaded = await app.ports.store.load(DEMO);
  if (loaded === undefined) throw new Error("no record");
  return loaded;
}

/** Removes the rows of a body. */
async function lose({ table, clock }: Stage, which: "ledger" | "seen" | "pack"): Promise<void> {
  const loaded = await tableRecordStore(table, clock).load(DEMO);
  const index = loaded?.version.index;
  const ref = which === "pack" ? index?.packs.find((pack) => pack !== undefined) : index?.[which];
  if (ref === undefined) throw new Error(`there is no ${which}`);
  for (const key of table.keys(PARTITION, `b-${ref.id}`, `b-${ref.id}~`)) await table.remove(PARTITION, key);
}

async function troubles({ app }: TableApp): Promise<string> {
  return JSON.stringify((await describeCluster(app, DEMO))["troubles"]);
}

const created = ({ simulator }: TableApp): number =>
  simulator.log.filter(({ kind }) => kind === "node-created").length;

describe("a lost row", () => {
  test.each(["ledger", "seen"] as const)(
    "of the %s: nothing else is lost, and a minute later plans go on",
    async (which) => {
      const stage = await open();
      const before = await stored(stage.first);
      await lose(stage, which);
      const app = stage.restart();
      await stage.clock.sleep(60_000);
      expect(await tick(app)).toBe("failed");
      await stage.clock.sleep(61_000);
      expect(await tick(stage.restart())).toBe("planned");

      const { record } = await stored(app);
      expect([...record.sets].map(([name, { live }]) => [name, live])).toEqual([
        ["small", true],
        ["other", true],
        ["large", true],
      ]);
      expect(record.epoch).not.toBe(before.record.epoch);
      expect(record.outage?.awaiting).toEqual(["small", "other", "large"]);
      expect(record.lost).toMatchObject({ bodies: 1, sets: [], nodes: true });
      expect(record.missing).toBeUndefined();
      // What was in flight stays: nothing is made twice.
      expect(created(stage.first)).toBe(5);
      const { ledger } = (await loadWhole(app.app, DEMO)).bodies;
      expect(ledger.size).toBe(5);
    },
  );

  test("of a pack: its sets lapse with a trouble and count again when they are pushed; the others stay", async () => {
    const stage = await open();
    await lose(stage, "pack");
    const app = stage.restart();
    await stage.clock.sleep(60_000);
    expect(await tick(app)).toBe("failed");
    await stage.clock.sleep(61_000);
    expect(await tick(app)).toBe("planned");
    const { record } = await stored(app);
    expect(record.sets.get(setName("small"))?.live).toBe(false);
    expect(record.sets.get(setName("other"))?.live).toBe(false);
    expect(record.sets.get(setName("large"))?.live).toBe(true);
    expect(await troubles(app)).toContain(
      "the demand of small, other is lost, and counts again when it is pushed again",
    );

    const again = {
      requestSet: "small",
      nodearrays: [{ Name: "execute", TargetCount: 5 }],
      expirationInterval: 3600,
    };
    expect(await app.push(again)).toMatchObject({ kind: "accepted", changed: true });
    expect(await tick(app)).toBe("planned");
    expect((await loadWhole(app.app, DEMO)).bodies.demands.size).toBe(2);
    expect(created(stage.first)).toBe(5);
    expect(await troubles(app)).toContain("the demand of other is lost");
  });

  test("of a pack: new demand is taken at once, and is not lost with it", async () => {
    const stage = await open();
    await lose(stage, "pack");
    const app = stage.restart();
    expect(await app.push({ requestSet: "new", jobs: [job("new")], expirationInterval: 3600 })).toMatchObject(
      {
        kind: "accepted",
        changed: true,
      },
    );
    for (let minute = 0; minute < 3; minute += 1) {
      await stage.clock.sleep(61_000);
      await tick(app);
    }
    const { record, bodies } = await loadWhole(app.app, DEMO);
    expect([...record.sets].filter(([, { live }]) => live).map(([name]) => name)).toEqual(["large", "new"]);
    expect([...bodies.demands.values()].map(({ demands }) => demands.length)).toEqual([1_500, 1]);
  });

  test("renewals all the time do not hide that it is lost", async () => {
    const stage = await open();
    await lose(stage, "ledger");
    const outcomes: string[] = [];
    for (let minute = 0; minute < 4; minute += 1) {
      for (let second = 0; second < 60; second += 1) {
        await stage.clock.sleep(1_000);
        await stage.first.push({
          requestSet: "large",
          jobs: [job(`renewed ${minute}`)],
          expirationInterval: 3600,
        });
      }
      outcomes.push(await tick(stage.restart()));
    }
    expect(outcomes).toEqual(["failed", "planned", "planned", "planned"]);
  });

  test("that some process remembers is written again, and nothing is lost", async () => {
    const stage = await open();
    const { record } = await stored(stage.first);
    await lose(stage, "ledger");
    await lose(stage, "pack");
    await stage.clock.sleep(60_000);
    expect(await tick(stage.restart())).toBe("failed");
    expect(await tick(stage.first)).toBe("planned");
    const cold = await loadWhole(stage.restart().app, DEMO);
    expect(cold.record.epoch).toBe(record.epoch);
    expect(cold.record.lost).toBeUndefined();
    expect(cold.bodies.demands.size).toBe(3);
  });

  test("that is there again within the minute is no loss", async () => {
    const stage = await open();
    const { record } = await stored(stage.first);
    const kept = new Map<string, Readonly<Record<string, unknown>>>();
    for (const key of stage.table.keys(PARTITION, "b-", "b.")) {
      const row = await stage.table.read(PARTITION, key);
      if (row !== undefined) kept.set(key, row.values);
    }
    await lose(stage, "ledger");
    const app = stage.restart();
    await stage.clock.sleep(50_000);
    expect(await tick(app)).toBe("failed");
    for (const [key, values] of kept) await stage.table.put(PARTITION, key, values);
    await stage.clock.sleep(120_000);
    expect(await tick(app)).toBe("planned");
    expect((await stored(app)).record).toMatchObject({ epoch: record.epoch });
    expect((await stored(app)).record.missing).toBeUndefined();
  });
});
