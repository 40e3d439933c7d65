import { expect, test } from "vitest";
import { stagedServer } from "../support/staged-server.ts";
import { runCommand } from "./run-command.ts";

/** Money is printed with its currency. */

async function out(words: string, body: object): Promise<string> {
  const { url } = await stagedServer(() => ({ body }));
  return (await runCommand([...words.split(" "), "--url", url, "--key", "k", "-c", "prod"])).out;
}

const row = (minute: number, more: object) => ({
  at: `2026-01-01T10:${String(minute).padStart(2, "0")}:00.000Z`,
  plan: 7,
  nodes: { ready: 4 },
  inFlight: 0,
  liveSets: 1,
  created: 4,
  terminated: 0,
  unmet: 0,
  ...more,
});

test("history: what nodes cost, and the idle node-hours of the time shown", async () => {
  const paid = { idle: 2, pricePerHour: 4.68, idlePricePerHour: 3, currency: "USD" };
  // 10:00 to 10:10, in two steps. No row was written between 10:10 and 10:40.
  const rows = [
    row(40, { ...paid, idle: 0 }),
    row(10, paid),
    row(6, { ...paid, unpricedNodes: 1 }),
    row(0, paid),
  ];
  expect((await out("history", { rows, keptPlans: [] })).split("\n")).toEqual([
    "AT                        PLAN  NODES    IDLE  COST/H    IN FLIGHT  SETS  UNMET  CREATED  STOPPED",
    "2026-01-01T10:40:00.000Z     7  4 ready     0  4.68 USD          0     1      0        4        0",
    "2026-01-01T10:10:00.000Z     7  4 ready     2  4.68 USD          0     1      0        4        0",
    "2026-01-01T10:06:00.000Z     7  4 ready     2  4.68 USD          0     1      0        4        0",
    "2026-01-01T10:00:00.000Z     7  4 ready     2  4.68 USD          0     1      0        4        0",
    "in the time shown: 0.3 idle node-hours for 0.50 USD, all nodes 0.78 USD (up to 1 nodes have no known price)",
  ]);
});

test("history without prices, and of an app that knows no idle nodes", async () => {
  const rows = [row(10, { idle: 1 }), row(0, { idle: 3 })];
  expect(await out("history", { rows, keptPlans: [] })).toMatch(/\nin the time shown: 0.5 idle node-hours$/);
  expect(await out("history", { rows: [row(0, {})], keptPlans: [] })).not.toContain("idle");
});

test("plan and buckets name the currency", async () => {
  const plan = { creates: [], starts: [], terminates: [], unmet: 0, pricePerHour: 3.9, outcomes: [] };
  const difference = { nodesCreated: 1, pricePerHour: 3.9, demands: [] };
  expect(await out("plan", { acting: true, currency: "USD", plan, difference, rejectedJobs: [] })).toBe(
    "nothing to do\nnew nodes cost 3.9 USD an hour\ncompared with no changes: +1 new nodes, +3.9 USD an hour",
  );
  const buckets = [{ nodearray: "execute", price: 0.097 }];
  expect(await out("buckets", { buckets, choice: { prices: { currency: "EUR" } } })).toBe(
    "NODEARRAY  PRICE EUR/H\nexecute          0.097",
  );
});
