import { describe, expect, test } from "vitest";
import { memoryNodeHistory } from "../../src/adapters/memory/stores.ts";
import { openTable } from "../../src/adapters/tables/open-table.ts";
import { tableHistory } from "../../src/adapters/tables/history.ts";
import { tableNodeHistory } from "../../src/adapters/tables/node-history.ts";
import { tablePlanArchive } from "../../src/adapters/tables/plan-archive.ts";
import type { LivesAsked, NodeHistory } from "../../src/app/ports/record-store.ts";
import { arrayName, clusterName, machineType, nodeId, setName } from "../../src/domain/ids.ts";
import type { NodeLife } from "../../src/domain/node-life.ts";
import { lifeKey } from "../../src/domain/node-life.ts";
import { instant, plusSeconds } from "../../src/domain/units.ts";
import { azuriteForThisFile } from "../support/azurite.ts";
import { SAMPLE_TIME } from "../support/sample-record.ts";

/** What the history of nodes promises (app/ports/record-store.ts), in memory and on Azurite. */
const azurite = azuriteForThisFile();

async function freshTable() {
  const table = openTable(azurite.account(), { name: azurite.freshName() });
  await table.ensure();
  return table;
}

const kinds: readonly { readonly name: string; make: () => Promise<NodeHistory> }[] = [
  { name: "memory", make: async () => memoryNodeHistory() },
  { name: "Azurite", make: async () => tableNodeHistory(await freshTable()) },
];

const demo = clusterName("demo/1");
const other = clusterName("demo");
const later = (seconds: number) => plusSeconds(SAMPLE_TIME, seconds);
const ALL: LivesAsked = { from: instant(0), limit: 10_000 };

/** A node that went this much later than the sample's time. Its NodeId is of a form that no key may have. */
const life = (number: number, seconds: number, more: Partial<NodeLife> = {}): NodeLife => ({
  nodeId: nodeId(`node/${number}#?\\`),
  name: `hpc-${number}`,
  array: arrayName("hpc"),
  machineType: machineType("Standard_HB120rs_v3"),
  purpose: { kind: "array" },
  asked: { at: later(-100), plan: 7 },
  firstSeenAt: later(-90),
  firstReadyAt: later(-30),
  firstNeeded: { at: later(-90), sets: [setName("pbs")] },
  goneAt: later(seconds),
  price: { perHour: 3.6, currency: "EUR" },
  ...more,
});

describe.each(kinds)("nodes that have gone: $name", ({ make }) => {
  const namesOf = async (nodes: NodeHistory, asked: Partial<LivesAsked> = {}) =>
    (await nodes.read(demo, { ...ALL, ...asked })).map(({ name }) => name);

  test("kept and read back whole, by cluster, the last first; one that is kept again is replaced", async () => {
    const nodes = await make();
    await nodes.keep(demo, [life(1, 10), life(2, 30), life(3, 20)]);
    await nodes.keep(other, [life(4, 10)]);
    expect(await nodes.read(demo, ALL)).toEqual([life(2, 30), life(3, 20), life(1, 10)]);
    await nodes.keep(demo, [life(3, 20, { hostname: "ip-3" }), life(1, 10)]);
    expect(await nodes.read(demo, ALL)).toEqual([
      life(2, 30),
      life(3, 20, { hostname: "ip-3" }),
      life(1, 10),
    ]);
    expect((await nodes.read(other, ALL)).map(({ name }) => name)).toEqual(["hpc-4"]);
    expect(await nodes.read(clusterName("none"), ALL)).toEqual([]);
    await nodes.keep(demo, []);
  });

  test("read from a moment on, and behind a key", async () => {
    const nodes = await make();
    await nodes.keep(demo, [life(1, 10), life(2, 20), life(3, 30), life(4, 40)]);
    expect(await namesOf(nodes, { from: later(20) })).toEqual(["hpc-4", "hpc-3", "hpc-2"]);
    expect(await namesOf(nodes, { from: instant(later(20) + 1) })).toEqual(["hpc-4", "hpc-3"]);
    expect(await namesOf(nodes, { limit: 2 })).toEqual(["hpc-4", "hpc-3"]);
    expect(await namesOf(nodes, { after: lifeKey(life(3, 30)), limit: 2 })).toEqual(["hpc-2", "hpc-1"]);
    expect(await namesOf(nodes, { after: lifeKey(life(1, 10)) })).toEqual([]);
    // The key of a node that is there lies before all of them.
    const { goneAt: _gone, ...there } = life(9, 0);
    expect(await namesOf(nodes, { after: lifeKey(there), limit: 1 })).toEqual(["hpc-4"]);
  });

  test("found by NodeId, and by each of its names: the last one that had it", async () => {
    const nodes = await make();
    const named = { hostname: "IP-0A.internal", instanceId: "vm-1" };
    await nodes.keep(demo, [life(1, 10, named), life(5, 50, { name: "hpc-1" })]);
    const found = async (name: string) => (await nodes.find(demo, name))?.nodeId;
    expect(await found(life(1, 0).nodeId)).toBe(life(1, 0).nodeId);
    expect(await found("hpc-1")).toBe(life(5, 0).nodeId);
    expect(await found("HPC-1")).toBe(life(5, 0).nodeId);
    expect(await found("ip-0a")).toBe(life(1, 0).nodeId);
    expect(await found("vm-1")).toBe(life(1, 0).nodeId);
    expect(await found("hpc-2")).toBeUndefined();
    expect(await nodes.find(other, "hpc-1")).toBeUndefined();
    expect(await nodes.find(demo, "hpc-1")).toEqual(life(5, 50, { name: "hpc-1" }));
  });

  test("those that went before a moment are removed, and those beyond a number", async () => {
    const nodes = await make();
    await nodes.keep(
      demo,
      Array.from({ length: 250 }, (_, i) => life(i, i)),
    );
    await nodes.keep(other, [life(1, 0)]);
    expect(await nodes.prune(demo, later(120))).toBe(120);
    expect(await namesOf(nodes)).toHaveLength(130);
    expect((await namesOf(nodes)).at(-1)).toBe("hpc-120");
    expect(await nodes.prune(demo, later(120))).toBe(0);
    expect(await nodes.prune(demo, later(120), 130)).toBe(0);
    expect(await nodes.prune(demo, later(125), 20)).toBe(110);
    expect(await namesOf(nodes)).toEqual(Array.from({ length: 20 }, (_, i) => `hpc-${249 - i}`));
    expect(await nodes.read(other, ALL)).toHaveLength(1);
  });
});

test("in the partition of history: neither its rows nor its plans are read or pruned with nodes", async () => {
  const table = await freshTable();
  const [history, plans, nodes] = [tableHistory(table), tablePlanArchive(table), tableNodeHistory(table)];
  const counts = { plan: 1, nodes: {}, inFlight: 0, liveSets: 0, created: 0, terminated: 0, unmet: 0 };
  await history.append(demo, { at: later(0), ...counts });
  await nodes.keep(demo, [life(1, 0)]);
  expect(await history.read(demo, instant(0), later(1000), 10)).toHaveLength(1);
  expect(await plans.list(demo, 0, Number.MAX_SAFE_INTEGER - 1, 10)).toEqual([]);
  expect(await history.prune(demo, later(1000))).toBe(1);
  expect(await plans.prune(demo, later(1000))).toBe(0);
  expect(await nodes.read(demo, ALL)).toEqual([life(1, 0)]);
});

test("a node with a name of 100,000 characters is left out, and does not keep the others out", async () => {
  const nodes = tableNodeHistory(await freshTable());
  await nodes.keep(demo, [life(1, 10), life(2, 20, { name: "x".repeat(100_000) }), life(3, 30)]);
  expect((await nodes.read(demo, ALL)).map(({ name }) => name)).toEqual(["hpc-3", "hpc-1"]);
});
