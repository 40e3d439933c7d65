import { expect, test } from "vitest";
import { z } from "zod";
import { runCommand } from "./run-command.ts";

/** A day with round figures. */
const DAY = {
  day: "a day of round figures",
  hours: 24,
  executions: { snapshot: 1440, demand: 100, autostop: 10 },
  perStart: { "queue create": 3 },
  perApp: { "queue get": 1440 },
  perCluster: { "table read": 1000 },
  bySenders: { "queue put": 50 },
  byTrigger: { "queue delete": 100 },
  logLines: 0,
  logBytes: 0,
};

const bill = z.object({
  month: z.object({
    executions: z.number(),
    operations: z.record(z.string(), z.number()),
    instancePolls: z.number(),
  }),
  lines: z.array(
    z.object({
      group: z.string(),
      what: z.string(),
      quantity: z.number(),
      list: z.number(),
      afterGrant: z.number(),
    }),
  ),
});

async function costOf(...options: readonly string[]) {
  const { out, err, code } = await runCommand(["cost", "--json", ...options], {
    "day.json": DAY,
    "prices.json": { queueOperations: 0.008 },
  });
  expect([code, err]).toEqual([0, ""]);
  const { month, lines } = bill.parse(JSON.parse(out));
  const line = (what: string) => lines.find((one) => one.what === what);
  const afterGrant = (...groups: readonly string[]) =>
    lines.filter(({ group }) => groups.includes(group)).reduce((sum, one) => sum + one.afterGrant, 0);
  return { month, line, afterGrant };
}

test("two clusters: the timer counts once, and what a cluster asks for counts twice", async () => {
  const { month, line } = await costOf("--day", "day.json", "--clusters", "2");
  // 30 x (1440 + 2 x 110)
  expect(month.executions).toBe(49_800);
  expect(month.operations).toEqual({
    "table read": 60_000,
    "queue put": 3000,
    "queue get": 43_200,
    "queue delete": 6000,
    "queue create": 90,
  });
  // 200 messages a day: each keeps an instance for 61 s, which polls every 2 s, and 6 times at once.
  expect(month.instancePolls).toBe(219_000);
  // 1 s and 2 GB each, all of it within the grant.
  expect(line("their time")).toMatchObject({ quantity: 99_600, afterGrant: 0 });
  expect(line("their time")?.list).toBeCloseTo(2.5896, 6);
  // 52,290 at 0.004 for 10,000.
  expect(line("queue operations")?.list).toBeCloseTo(0.020_916, 6);
});

test("an instance that does not stay for a minute starts with each run of the timer", async () => {
  const { month } = await costOf("--day", "day.json", "--stays", "30");
  expect(month.operations["queue create"]).toBe(129_600);
});

test("an instance of 512 MB takes twice the time", async () => {
  const { line } = await costOf("--day", "day.json", "--clusters", "2", "--memory", "512");
  expect(line("their time")?.quantity).toBe(49_800);
});

test("more memory costs what exceeds the grant", async () => {
  const { line } = await costOf("--day", "day.json", "--clusters", "2", "--memory", "4096");
  expect(line("their time")?.quantity).toBe(199_200);
  expect(line("their time")?.afterGrant).toBeCloseTo(2.5792, 6);
});

test("prices of a file replace those that are named there", async () => {
  const { line } = await costOf("--day", "day.json", "--prices", "prices.json");
  expect(line("polls by the platform")?.list).toBeCloseTo(0.207_36, 6);
  expect(line("metric alerts")?.list).toBeCloseTo(0.6, 6);
});

test("an idle cluster: executions, storage and polling below 0.50 USD after the grant; alerts apart, below 1.50", async () => {
  const { afterGrant } = await costOf();
  expect(afterGrant("executions, storage, polling")).toBeGreaterThan(0.1);
  expect(afterGrant("executions, storage, polling")).toBeLessThan(0.5);
  expect(afterGrant("alerts")).toBeLessThan(1.5);
});

test("the idle day that is shipped is one of ticks as test/functions/idle-operations.test.ts has them", async () => {
  const { month } = await costOf();
  const aDay = (kind: string) => (month.operations[kind] ?? 0) / 30;
  // 1,344 ticks with two reads and 96 observations with five; the wake messages of the loop read a little, too.
  expect(aDay("table read")).toBeGreaterThan(1344 * 2 + 96 * 5 - 60);
  expect(aDay("table read")).toBeLessThan(1344 * 2 + 96 * 5 + 500);
  // The timer's own row each time, and five rows at an observation.
  expect(aDay("table write")).toBeGreaterThan(1440 + 96 * 5 - 60);
  expect(aDay("table write")).toBeLessThan(1440 + 96 * 5 + 300);
  expect(aDay("queue put")).toBeLessThan(130);
});

test.each([
  {
    words: ["--clusters", "2", "--busy", "3"],
    says: /--busy: found 3 of 2 clusters, expected no more than --clusters/,
  },
  { words: ["--clusters", "0"], says: /Expected a whole number of at least 1/ },
  { words: ["--memory", "1024"], says: /Allowed choices are 512, 2048, 4096/ },
  {
    words: ["--prices", "wrong.json"],
    says: /wrong.json: gold: found an unknown price, expected one of executions, /,
  },
  {
    words: ["--prices", "minus.json"],
    says: /minus.json: logs: found -1, expected US dollars, a number of at least 0/,
  },
  { words: ["--day", "wrong.json"], says: /wrong.json: day: .*expected string/ },
])("cost $words is refused", async ({ words, says }) => {
  const { code, err } = await runCommand(["cost", ...words], {
    "wrong.json": { gold: 1 },
    "minus.json": { logs: -1 },
  });
  expect(code).toBe(2);
  expect(err).toMatch(says);
});

test("the bill as an administrator reads it: the lines, what was counted, and what is assumed", async () => {
  const { out } = await runCommand(["cost", "--day", "day.json"], { "day.json": DAY });
  expect(out).toMatch(/^executions +46,500 +executions +counted +0\.02 +0\.00$/m);
  expect(out).toMatch(/^queue get +1440 +43200$/m);
  expect(out).toContain(
    "an instance of 2048 MB stays 60 s after its last execution (--stays), so the timer's instance never ends;",
  );
  expect((await runCommand(["cost", "--list-prices"])).out).toMatch(
    /^queueOperations +Queue Storage, any operation +0\.004 +10,000 operations/m,
  );
});
