import { expect, test } from "vitest";
import { stagedServer } from "../support/staged-server.ts";
import { runCommand } from "./run-command.ts";

/** `history --nodes`, as it is printed. */

/** Answers with these pages, and notes what was asked. */
async function server(pages: readonly object[]) {
  const asked: string[] = [];
  const { url } = await stagedServer((request) => {
    asked.push(request);
    return { body: { cluster: "prod", ...pages[asked.length - 1] } };
  });
  const run = (...words: readonly string[]) =>
    runCommand(["history", "--nodes", ...words, "--url", url, "--key", "k", "-c", "prod"]);
  return { asked, run };
}

const GONE = {
  nodeId: "9f3c",
  name: "hpc-1",
  array: "hpc",
  countsFor: "hpc",
  machineType: "Standard_HB120rs_v3",
  madeBy: "us",
  phase: "gone",
  askedAt: "2026-01-31T10:00:00.100Z",
  askedByPlan: 7,
  firstSeenAt: "2026-01-31T10:00:12.000Z",
  firstReadyAt: "2026-01-31T10:04:00.000Z",
  firstNeededAt: "2026-01-31T10:00:12.000Z",
  requestSets: ["pbs", "night"],
  lastNeededAt: "2026-01-31T11:30:00.000Z",
  draining: "callback",
  drainingSince: "2026-01-31T11:41:00.000Z",
  drainingByPlan: 31,
  goneAt: "2026-01-31T11:45:12.500Z",
  why: "plan 31 stopped it, because it asked to be stopped and was not needed",
  hours: 1.75,
  pricePerHour: 4,
  cost: 7,
  currency: "USD",
};
const FOUND = {
  nodeId: "77aa",
  name: "viz-1",
  array: "viz",
  countsFor: "viz",
  machineType: "Standard_F2",
  spot: true,
  madeBy: "another tool",
  phase: "ready",
  firstSeenAt: "2026-01-31T10:00:12.000Z",
  firstReadyAt: "2026-01-31T10:00:12.000Z",
  requestSets: [],
  hours: 2,
};

test("a row a node, and what all of them cost", async () => {
  const { run, asked } = await server([{ rows: [FOUND, GONE] }]);
  const { out, code } = await run("--from", "2026-01-31T10:00:00Z");
  expect(code).toBe(0);
  expect(out.split("\n")).toEqual([
    "NODE   SIZE                 PHASE  PLAN  FOR         ASKED                 SEEN                  READY                 NEEDED                LAST NEEDED           TOLD TO STOP          GONE                  HOURS  COST   WHY",
    "viz-1  Standard_F2 (spot)   ready     -  -           -                     2026-01-31T10:00:12Z  2026-01-31T10:00:12Z  -                     -                     -                     -                     2.00   -      -",
    "hpc-1  Standard_HB120rs_v3  gone      7  pbs, night  2026-01-31T10:00:00Z  2026-01-31T10:00:12Z  2026-01-31T10:04:00Z  2026-01-31T10:00:12Z  2026-01-31T11:30:00Z  2026-01-31T11:41:00Z  2026-01-31T11:45:12Z  1.75   7 USD  plan 31 stopped it, because it asked to be stopped and was not needed",
    "2 nodes, 3.75 node-hours for 7 USD (without 1 node whose price is not known)",
  ]);
  expect(asked).toEqual(["GET /api/clusters/prod/history/nodes?from=2026-01-31T10%3A00%3A00.000Z&limit=20"]);
});

test("without prices no cost is shown; two currencies have a sum each", async () => {
  const { cost: _cost, pricePerHour: _price, currency: _currency, ...free } = GONE;
  const unpriced = await server([{ rows: [free] }]);
  expect((await unpriced.run()).out).toMatch(/\n1 node, 1.75 node-hours$/);
  const two = await server([{ rows: [GONE, { ...GONE, currency: "EUR", cost: 1.5 }] }]);
  expect((await two.run()).out).toMatch(/\n2 nodes, 3.50 node-hours for 7 USD and 1.50 EUR$/);
});

test("no nodes; more nodes than the limit; as many pages as it takes", async () => {
  expect((await (await server([{ rows: [] }])).run()).out).toBe("no nodes in that time");
  const next = `node-${"1".repeat(16)}-${"a".repeat(32)}`;
  const more = await server([{ rows: [GONE], next }]);
  expect((await more.run("--limit", "1")).out).toMatch(/\nthere are more: --limit, or --from and --to$/);
  const pages = await server([{ rows: [GONE], next }, { rows: [FOUND] }]);
  const { out } = await pages.run("--limit", "2500", "--json");
  expect(JSON.parse(out)).toMatchObject({ cluster: "prod", rows: [{ name: "hpc-1" }, { name: "viz-1" }] });
  expect(JSON.parse(out)).not.toHaveProperty("next");
  expect(pages.asked).toEqual([
    "GET /api/clusters/prod/history/nodes?limit=2000",
    `GET /api/clusters/prod/history/nodes?limit=2000&page=${next}`,
  ]);
});

test("an app that answers something else", async () => {
  const { run } = await server([{ rows: "none" }]);
  expect((await run()).out).not.toContain("undefined");
});
