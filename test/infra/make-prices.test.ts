import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readPolicy } from "../../src/wire/policy/policy.ts";
import { DATA, readText } from "../support/data.ts";
import { writePolicy } from "../../src/wire/policy/write-policy.ts";
import { PATIENCE_MS } from "../support/patience.ts";

const script = new URL("../../infra/make-prices.ts", import.meta.url).pathname;
const fixture = (name: string): string => new URL(`../fixtures/prices/${name}`, import.meta.url).pathname;

function run(...args: readonly string[]) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [script, ...args], {
    encoding: "utf8",
    timeout: PATIENCE_MS,
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

/** A ninth of the price is what most sizes cost as spot: the list of one region, with such prices for the F sizes. */
test("the list of a whole region", () => {
  const folder = mkdtempSync(join(tmpdir(), "prices-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [list, spot] = [join(folder, "list.csv"), join(folder, "spot.csv")];
  const text = readText(`${DATA}eastus-prices.csv.gz`);
  writeFileSync(list, text);
  const sizes = [...text.matchAll(/^(eastus,Standard_F\w+),(.*)$/gm)];
  writeFileSync(
    spot,
    [
      "region,vm_size,spot_usd_per_hour",
      ...sizes.map(([, size, usd]) => `${size},${Number(usd) * 0.11}`),
    ].join("\n"),
  );
  const { stdout, notes } = run(list, "eastus", spot);
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
