import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { readPolicy } from "../../src/wire/policy/policy.ts";
import { writePolicy } from "../../src/wire/policy/write-policy.ts";

const script = new URL("../../infra/make-prices.ts", import.meta.url).pathname;
const fixture = (name: string): string => new URL(`../fixtures/prices/${name}`, import.meta.url).pathname;
const shared = (name: string): string => new URL(`../../../shared/prices/${name}`, import.meta.url).pathname;

function run(...args: readonly string[]) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [script, ...args], {
    encoding: "utf8",
    timeout: 20_000,
    maxBuffer: 16 * 1024 * 1024,
  });
  return { stdout, notes: stderr.split("\n").slice(0, -1), status };
}

test("two lists become the key of the configuration, for the regions asked for", () => {
  const { stdout, notes, status } = run(fixture("on-demand.csv"), "here,there", fixture("spot.csv"));
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toEqual({
    prices: {
      currency: "USD",
      locations: {
        here: {
          Standard_F2s_v2: { onDemand: 0.1, spot: 0.02 },
          Standard_F4s_v2: 0.2,
          Standard_F8s_v2: 0.4,
          Standard_HX176rs: { spot: 0.9 },
        },
        there: { Standard_F2s_v2: 0.12 },
      },
    },
  });
  expect(notes).toEqual(["left out: Standard_F16s_v2 in here has the price 0"]);
});

test("a region that the list does not have, and columns that it does not have, are errors", () => {
  const nowhere = run(fixture("on-demand.csv"), "here,nowhere");
  expect({ ...nowhere, notes: nowhere.notes.join("\n") }).toEqual({
    status: 1,
    stdout: "",
    notes: expect.stringContaining("has no prices of nowhere"),
  });
  const { notes } = run(fixture("spot.csv"), "here");
  expect(notes.join("\n")).toContain("has no column usd_per_hour");
});

const list = shared("azure_payg_prices.csv");
test.skipIf(!existsSync(list))("the shared lists of Azure's prices (needs ../shared/prices)", () => {
  const { stdout, notes } = run(list, "eastus", shared("azure_spot_prices_hpc.csv"));
  const read = readPolicy(stdout);
  if (read.kind === "problems") throw new Error(JSON.stringify(read.problems));
  expect(read.doubts.map(({ path }) => path)).toContain("prices.locations.eastus.Standard_A5");
  expect(notes).toHaveLength(30);
  const prices = read.policy.prices?.locations.get("eastus");
  expect(prices?.get("standard_f2s_v2")).toEqual({
    machineType: "Standard_F2s_v2",
    onDemand: 0.0846,
    spot: 0.009306,
  });
  expect(writePolicy(read.policy)).toMatchObject(JSON.parse(stdout));
});
