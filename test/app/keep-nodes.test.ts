import { expect, test } from "vitest";
import { tableNodeHistory } from "../../src/adapters/tables/node-history.ts";
import { PortError } from "../../src/app/ports/port-error.ts";
import { createLanes } from "../../src/app/process/lanes.ts";
import type { App } from "../../src/app/process/lanes.ts";
import { tickInTime } from "../../src/app/tick.ts";
import { instant } from "../../src/domain/units.ts";
import { VirtualClock } from "../../src/local/play/virtual-clock.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import { oneArray } from "../scenarios/clusters.ts";
import { appOnTable, DEMO } from "../support/app-on-table.ts";
import { memoryTable } from "../support/memory-table.ts";

/** What a tick writes of the nodes that have gone (docs/protocol.md, History of nodes). */

const MINUTE_MS = 60_000;
const NODES = 250;

/** 250 nodes that were there and have gone, in a ledger that no tick has read yet. */
async function manyGone() {
  const clock = new VirtualClock(Date.UTC(2026, 0, 1));
  const simulator = new Simulator(oneArray("demo"), clock);
  const { app, site } = appOnTable(clock, memoryTable(clock), simulator);
  const table = memoryTable(clock);
  const nodeHistory = tableNodeHistory(table);
  /** A tick of a process. */
  const tick = async (by: App) => {
    clock.moveTo(clock.now() + MINUTE_MS);
    simulator.advance();
    table.reset();
    return tickInTime(by, site);
  };
  const process = (port = nodeHistory): App => ({
    ports: { ...app.ports, nodeHistory: port },
    lanes: createLanes(),
  });
  const deaf = process({ ...nodeHistory, keep: async () => undefined });
  const request = (path: string, body: object) =>
    simulator.request({ method: "POST", query: {}, path: `/clusters/demo/nodes/${path}`, body });
  request("create", { sets: [{ nodearray: "execute", count: NODES }], requestId: "theirs" });
  for (let minute = 0; minute < 3; minute += 1) await tick(deaf);
  const ids = simulator.log.flatMap((event) => (event.kind === "node-ready" ? [event.nodeId] : []));
  expect(ids).toHaveLength(NODES);
  request("terminate", { ids });
  for (let minute = 0; minute < 6; minute += 1) await tick(deaf);
  const kept = async () => (await nodeHistory.read(DEMO, { from: instant(0), limit: 1000 })).length;
  expect(await kept()).toBe(0);
  return { tick, process, table, kept, nodeHistory };
}

test("100 nodes in a transaction, and each node once by one process", async () => {
  const { tick, process, table, kept } = await manyGone();
  const one = process();
  await tick(one);
  expect(table.counts).toMatchObject({ transactions: 3, writes: NODES });
  expect(await kept()).toBe(NODES);
  await tick(one);
  expect(table.counts).toMatchObject({ transactions: 0, writes: 0 });
});

test("another process writes the same rows once more", async () => {
  const { tick, process, table, kept, nodeHistory } = await manyGone();
  await tick(process());
  const before = await nodeHistory.read(DEMO, { from: instant(0), limit: 1000 });
  await tick(process());
  expect(table.counts).toMatchObject({ transactions: 3, writes: NODES });
  expect(await nodeHistory.read(DEMO, { from: instant(0), limit: 1000 })).toEqual(before);
  expect(await kept()).toBe(NODES);
});

test("storage refuses: the tick goes on, and the next one keeps the nodes", async () => {
  const { tick, process, kept, nodeHistory } = await manyGone();
  let refuses = true;
  const app = process({
    ...nodeHistory,
    keep: async (cluster, gone) => {
      if (refuses) throw new PortError("throttled", "write", "busy");
      return nodeHistory.keep(cluster, gone);
    },
  });
  expect(await tick(app)).toMatchObject({ outcome: { kind: "planned" } });
  expect(await kept()).toBe(0);
  refuses = false;
  await tick(app);
  expect(await kept()).toBe(NODES);
});

test("after an hour without a tick that keeps them, the ledger has forgotten them, and they are lost", async () => {
  const { tick, process, kept } = await manyGone();
  const deaf = process({ ...process().ports.nodeHistory, keep: async () => undefined });
  for (let minute = 0; minute < 61; minute += 1) await tick(deaf);
  await tick(process());
  expect(await kept()).toBe(0);
});

test("the bound of nodes is counted each six hours by a process, what has lapsed each ten minutes", async () => {
  const { tick, process, nodeHistory } = await manyGone();
  const asked: (number | undefined)[] = [];
  const app = process({
    ...nodeHistory,
    prune: async (cluster, before, most) => {
      asked.push(most);
      return nodeHistory.prune(cluster, before, most);
    },
  });
  for (let minute = 0; minute < 7 * 60; minute += 1) await tick(app);
  expect(asked.length).toBeGreaterThan(20);
  expect(asked.filter((most) => most !== undefined)).toEqual([20_000, 20_000]);
});
