import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTable } from "../../src/adapters/tables/open-table.ts";
import { spawnAzurite } from "../support/spawn-azurite.ts";
import { LargeCluster } from "./large-cluster.ts";
import type { Cost } from "./store-meter.ts";

/**
 * Alone: DEEP=1 npx vitest run --config test/deep/vitest.config.ts test/deep/scale
 * The bound is a second on a quiet machine of two cores. Here others may be at work, so that what is judged is processor time, ours and the
 * emulator's: as they take turns, that is the time on a quiet machine, but for what runs side by side.
 */
const BOUND_MS = 1000;
const ROW_KIBIBYTES = 700;
/** Calls of a reconcile whose bodies take no row of their own: reserve the observation (read, write), decide (read, write). */
const FIXED_OPERATIONS = 4;
/** Ledger, snapshot and plan; the manifest twice and the packs of a cold load: each may begin a row that it does not fill. */
const BEGUN_ROWS = { warm: 3, cold: 15 };

let azurite: Awaited<ReturnType<typeof spawnAzurite>>;
beforeAll(async () => {
  azurite = await spawnAzurite();
});
afterAll(() => azurite.close());

async function settled(table: string, sets: number): Promise<LargeCluster> {
  const { connectionString } = azurite;
  const cluster = new LargeCluster(
    openTable({ kind: "connection-string", connectionString }, { name: table }),
    sets,
  );
  await cluster.prepare();
  await cluster.push(0, sets, sets);
  for (let minute = 0; minute < 5; minute += 1) {
    expect(await cluster.reconcile()).toBe("planned");
    cluster.pass(60);
  }
  expect(cluster.countNodes()).toBe(5 * sets);
  return cluster;
}

/** Each set is renewed every five minutes, sixteen messages at a time; a few change what they ask for, and change it back. */
async function renewForAnHour(cluster: LargeCluster, sets: number): Promise<void> {
  for (let minute = 0; minute < 60; minute += 1) {
    for (let quarter = 0; quarter < 4; quarter += 1) {
      const from = (minute * sets) / 5 + (quarter * sets) / 20;
      await cluster.push(from, from + sets / 20, 16);
      cluster.pass(15);
    }
    cluster.pass(1);
    await cluster.push(minute * 7, minute * 7 + 3, 1, minute % 2);
    // The next renewals are later than these: of one moment the digest would decide.
    cluster.pass(1);
    expect(await cluster.reconcile()).toBe("planned");
    if (minute % 10 === 9) await cluster.collect();
  }
}

test("2,000 request sets and 10,000 nodes: a reconcile reads and writes its state in under a second, cold and after an hour of renewals", async () => {
  const sets = 2000;
  const cluster = await settled("large", sets);
  await judge("warm", "warm", () => cluster.costOf(() => cluster.reconcile()));
  cluster.restart();
  cluster.pass(60);
  await judge("cold", "cold", () => cluster.costOf(() => cluster.reconcile()));
  await judge("a new process", "cold", async () => coldProcess("large"));

  await renewForAnHour(cluster, sets);
  cluster.pass(60);
  await judge("warm, an hour later", "warm", () => cluster.costOf(() => cluster.reconcile()));
  cluster.restart();
  cluster.pass(60);
  await judge("cold, an hour later", "cold", () => cluster.costOf(() => cluster.reconcile()));
  await judge("a new process, an hour later", "cold", async () => coldProcess("large"));
});

test("storage operations grow with compressed bytes alone: a tenth of the cluster takes as many, but for rows that are full", async () => {
  const costs: Cost[] = [];
  for (const sets of [20, 200, 2000]) {
    const cluster = await settled(`of${sets}`, sets);
    // This plan begins a span of the clock, and notes for it which nodes are needed.
    expect(await cluster.reconcile()).toBe("planned");
    cluster.pass(60);
    costs.push(await cluster.costOf(() => cluster.reconcile()));
    process.stdout.write(`scale: ${sets} sets, ${5 * sets} nodes: ${JSON.stringify(costs.at(-1))}\n`);
  }
  for (const cost of costs) expect(cost.operations).toBeLessThanOrEqual(mostOperations(cost, "warm"));
  // Nothing has happened to any node: the ledger is not written again.
  expect(costs[0]?.operations).toBe(FIXED_OPERATIONS + BEGUN_ROWS.warm - 1);
  expect(costs[1]?.operations).toBe(FIXED_OPERATIONS + BEGUN_ROWS.warm - 1);
});

function mostOperations({ kibibytes }: Cost, how: keyof typeof BEGUN_ROWS): number {
  return FIXED_OPERATIONS + BEGUN_ROWS[how] + Math.floor(kibibytes / ROW_KIBIBYTES);
}

async function judge(name: string, how: keyof typeof BEGUN_ROWS, work: () => Promise<Cost>): Promise<void> {
  const before = azuriteCpuMs();
  const cost = await work();
  const emulator = azuriteCpuMs() - before;
  process.stdout.write(
    `scale: ${name}: ${JSON.stringify(cost)}, emulator ${emulator} ms of processor time\n`,
  );
  expect(cost.cpuMilliseconds + emulator).toBeLessThan(BOUND_MS);
  expect(cost.operations).toBeLessThanOrEqual(mostOperations(cost, how));
}

/** Processor time of the emulator so far; Linux counts it in hundredths of a second. */
function azuriteCpuMs(): number {
  const [, fields = ""] = readFileSync(`/proc/${azurite.pid}/stat`, "utf8").split(") ");
  const [user = "0", system = "0"] = fields.split(" ").slice(11, 13);
  return (Number(user) + Number(system)) * 10;
}

function coldProcess(table: string): Cost {
  const script = fileURLToPath(new URL("./cold-process.ts", import.meta.url));
  const { stdout, status } = spawnSync(process.execPath, [script, azurite.connectionString, table, "demo"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  expect(status).toBe(0);
  const cost: Cost = JSON.parse(stdout);
  return cost;
}
