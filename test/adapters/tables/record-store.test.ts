import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { RECORD_KEY } from "../../../src/adapters/tables/keys.ts";
import type { Table } from "../../../src/adapters/tables/table.ts";
import type { SetDemand } from "../../../src/domain/demand.ts";
import type { Digest, SetName } from "../../../src/domain/ids.ts";
import { clusterName, digest, setName } from "../../../src/domain/ids.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import { STATE_VERSION } from "../../../src/domain/record.ts";
import type { SetEntry } from "../../../src/domain/request-sets.ts";
import { plusSeconds } from "../../../src/domain/units.ts";
import { azuriteForThisFile } from "../../support/azurite.ts";
import { countingTable } from "./counting-table.ts";
import { emptyRecord, SAMPLE_RECORD, SAMPLE_TIME, sampleEntry } from "../../support/sample-record.ts";
import { SAMPLE_BODIES } from "../../support/sample-bodies.ts";
import { bodyRows, demo, freshTable, mustLoad, mustSave, partition, storeAt } from "./fresh-store.ts";

const azurite = azuriteForThisFile();

/** `count` live sets, each with a demand of its own of about `length` characters that gzip cannot shrink much. */
function manySets(count: number, length: number) {
  const sets = new Map<SetName, SetEntry>();
  const demands = new Map<Digest, SetDemand>();
  for (let number = 0; number < count; number++) {
    const named = digest(`digest-${number}`);
    const noise = randomBytes(Math.ceil((length * 3) / 4)).toString("base64");
    sets.set(setName(`set-${number}`), sampleEntry(named));
    demands.set(named, { demands: [], pools: [{ name: noise, total: number, used: 0 }], rejectedJobs: [] });
  }
  return { record: { ...emptyRecord(demo), sets }, demands };
}

/** Rejections that each add this many gzipped bytes to a manifest. */
function noisyRejections(count: number, bytes: number): ClusterRecord["rejections"] {
  return Array.from({ length: count }, () => ({
    at: SAMPLE_TIME,
    messageId: randomBytes(bytes).toString("base64"),
    problems: [],
  }));
}

describe("loading", () => {
  test.each([
    { stateVersion: STATE_VERSION + 1, why: "a newer release has written it" },
    {
      stateVersion: STATE_VERSION - 1,
      why: "a build before 0.1.0 has written it, and this release needs an empty table",
    },
  ])(
    "a record of state version $stateVersion is refused by name, and a save onto it conflicts",
    async (other) => {
      const { stateVersion, why } = other;
      const table = await freshTable(azurite);
      const before = await mustSave(storeAt(table), emptyRecord(demo), {});
      const row = await table.read(partition, RECORD_KEY);
      await table.put(partition, RECORD_KEY, { ...row?.values, stateVersion });
      await expect(storeAt(table).load(demo)).rejects.toMatchObject({
        kind: "other-state",
        message: `load record of demo: its state version is ${stateVersion} and this release knows only ${STATE_VERSION}; ${why}`,
      });
      expect(await storeAt(table).save(emptyRecord(demo), {}, undefined)).toStrictEqual({ kind: "conflict" });
      expect(await storeAt(table).save(emptyRecord(demo), {}, before)).toStrictEqual({ kind: "conflict" });
    },
  );

  test("a manifest whose ETag is unchanged is not parsed again", async () => {
    const store = storeAt(await freshTable(azurite));
    await mustSave(store, SAMPLE_RECORD, SAMPLE_BODIES);
    const first = await store.load(SAMPLE_RECORD.cluster);
    expect((await store.load(SAMPLE_RECORD.cluster))?.record).toBe(first?.record);
  });

  test("a body that is gone makes the bodies undefined", async () => {
    const table = await freshTable(azurite);
    await mustSave(storeAt(table), { ...SAMPLE_RECORD, cluster: demo }, SAMPLE_BODIES);
    const other = storeAt(table);
    const loaded = await mustLoad(other);
    for (const rowKey of (await bodyRows(table)).slice(0, 1)) await table.remove(partition, rowKey);
    expect(await other.bodies(loaded)).toBeUndefined();
  });

  test("a body whose bytes are not those that were written is refused", async () => {
    const table = await freshTable(azurite);
    await mustSave(storeAt(table), emptyRecord(demo), { ledger: SAMPLE_BODIES.ledger });
    const [rowKey = ""] = await bodyRows(table);
    await table.put(partition, rowKey, { d0: Buffer.from("something else") });
    const other = storeAt(table);
    await expect(other.bodies(await mustLoad(other))).rejects.toThrow("do not match its digest");
  });

  test("a manifest that cannot be read is a PortError that says where", async () => {
    const table = await freshTable(azurite);
    await mustSave(storeAt(table), emptyRecord(demo), {});
    await table.put(partition, RECORD_KEY, { stateVersion: STATE_VERSION, d0: Buffer.from("not gzip") });
    await expect(storeAt(table).load(demo)).rejects.toMatchObject({
      name: "PortError",
      kind: "unexpected",
      operation: "load record of demo",
    });
  });

  test("a large manifest that has not changed is not even transferred, one that has is", async () => {
    const { table, counts, reset } = countingTable(await freshTable(azurite));
    const [store, other] = [storeAt(table), storeAt(table)];
    const { record, demands } = manySets(1_500, 10);
    const first = await mustSave(store, { ...record, rejections: noisyRejections(1, 50_000) }, { demands });
    reset();
    expect(await mustLoad(store)).toBe(first);
    expect(counts).toMatchObject({ rowsRead: 0, glances: 1 });
    await mustSave(other, { ...first.record, plan: 5 }, {}, await mustLoad(other));
    reset();
    expect((await mustLoad(store)).record.plan).toBe(5);
    expect(counts).toMatchObject({ rowsRead: 1, glances: 1 });
  });

  test("bodies are read once by a process, also when several callers ask at one time", async () => {
    const { table, counts, reset } = countingTable(await freshTable(azurite));
    await mustSave(storeAt(table), { ...SAMPLE_RECORD, cluster: demo }, SAMPLE_BODIES);
    const other = storeAt(table);
    const loaded = await mustLoad(other);
    reset();
    await Promise.all([other.bodies(loaded), other.bodies(loaded), other.bodies(loaded)]);
    await other.bodies(loaded);
    // Snapshot, ledger, questions, plan, and one pack with the demand and the report.
    expect(counts.rowsRead).toBe(5);
  });
});

describe("saving", () => {
  test("a renewal writes the manifest alone, a changed set one pack with it", async () => {
    const { table, counts, reset } = countingTable(await freshTable(azurite));
    const store = storeAt(table);
    const { record, demands } = manySets(400, 2_000);
    const first = await mustSave(store, record, { demands });
    const packs = first.version.index.packs.length;
    expect(packs).toBeGreaterThanOrEqual(4);
    expect(await bodyRows(table)).toHaveLength(packs);

    reset();
    const entry = sampleEntry(digest("digest-7"));
    const renewedSets = new Map(record.sets).set(setName("set-7"), {
      ...entry,
      expiresAt: plusSeconds(entry.expiresAt, 60),
    });
    const renewed = await mustSave(store, { ...record, sets: renewedSets }, {}, first);
    expect(counts).toStrictEqual({ rowsRead: 0, glances: 0, bodyRowsWritten: 0, recordsWritten: 1 });

    reset();
    const changed = { demands: [], pools: [{ name: "new", total: 1, used: 0 }], rejectedJobs: [] };
    const changedSets = new Map(record.sets).set(setName("set-7"), sampleEntry(digest("new")));
    await mustSave(
      store,
      { ...record, sets: changedSets },
      { demands: new Map([[digest("new"), changed]]) },
      renewed,
    );
    expect(counts).toStrictEqual({ rowsRead: 0, glances: 0, bodyRowsWritten: 1, recordsWritten: 1 });
    const other = storeAt(table);
    const expected = new Map(demands);
    expected.delete(digest("digest-7"));
    expected.set(digest("new"), changed);
    expect((await other.bodies(await mustLoad(other)))?.demands).toEqual(expected);
  });

  test("packs become more as sets come and fewer as they go, and lose nothing", async () => {
    const table = await freshTable(azurite);
    const store = storeAt(table);
    const { record, demands } = manySets(600, 2_000);
    const names = [...record.sets.keys()];
    let loaded = await mustSave(store, emptyRecord(demo), {});
    const packs: number[] = [];
    for (const size of [1, 100, 600, 599, 100, 1, 0]) {
      const kept = new Set(names.slice(0, size));
      const sets = new Map([...record.sets].filter(([name]) => kept.has(name)));
      loaded = await mustSave(store, { ...record, sets }, { demands }, loaded);
      packs.push(loaded.version.index.packs.length);
      const cold = storeAt(table);
      const expected = new Map([...sets.values()].map((entry) => [entry.digest, demands.get(entry.digest)]));
      expect((await cold.bodies(await mustLoad(cold)))?.demands).toStrictEqual(expected);
    }
    // 2,000 characters of noise leave some 1,530 bytes: 150 KiB for 100 sets, 890 KiB for 600. A set that goes rewrites nothing; when one
    // is left, the other packs go, and its own of 111 KiB (with what is no longer named) is shared out again among two.
    expect(packs).toStrictEqual([1, 2, 8, 8, 8, 2, 1]);
  });

  test("what a set no longer names takes no room for long", async () => {
    const table = await freshTable(azurite);
    const store = storeAt(table);
    const { demands } = manySets(20, 2_000);
    const large = manySets(1, 100_000).demands.get(digest("digest-0"));
    if (large === undefined) throw new Error("no large demand");
    let loaded = await mustSave(store, emptyRecord(demo), {});
    for (const [named, body] of [[digest("large"), large] as const, ...demands]) {
      const sets = new Map([[setName("only"), sampleEntry(named)]]);
      loaded = await mustSave(
        store,
        { ...loaded.record, sets },
        { demands: new Map([[named, body]]) },
        loaded,
      );
    }
    // One demand of 2,000 characters of noise is left of twenty, and nothing of the large one.
    expect(loaded.version.index.packs).toHaveLength(1);
    expect(loaded.version.index.packs[0]?.bytes).toBeLessThan(2_000);
    expect(loaded.version.index.own.size).toBe(0);
    // 21 bodies were written, and one is named.
    expect(await storeAt(table).collect(demo, plusSeconds(SAMPLE_TIME, 3601))).toBe(20);
  });

  test("a cluster with the longest name, in letters that keys escape, is kept and found like any other", async () => {
    const table = await freshTable(azurite);
    const [one, other] = [clusterName("語".repeat(200)), clusterName(`${"語".repeat(199)}x`)];
    for (const cluster of [one, other]) await mustSave(storeAt(table), emptyRecord(cluster), {});
    expect((await storeAt(table).load(one))?.record.cluster).toBe(one);
    expect((await storeAt(table).load(other))?.record.cluster).toBe(other);
  });

  test("a write whose answer was lost and that met itself when repeated is a save, not a conflict", async () => {
    const real = await freshTable(azurite);
    // What the SDK's retry gives: the row is written, and the repeated request is answered 409 or 412.
    const table: Table = {
      ...real,
      async insert(...row) {
        await real.insert(...row);
        return { kind: "conflict" };
      },
      async replace(...row) {
        await real.replace(...row);
        return { kind: "conflict" };
      },
    };
    const born = await mustSave(storeAt(table), emptyRecord(demo), {});
    const next = await mustSave(storeAt(table), { ...emptyRecord(demo), plan: 1 }, {}, born);
    expect((await mustLoad(storeAt(real))).version.etag).toBe(next.version.etag);
  });

  test("a manifest too large for its row is saved beside it", async () => {
    const table = await freshTable(azurite);
    const store = storeAt(table);
    const rejections = noisyRejections(3, 400_000);
    const record: ClusterRecord = { ...emptyRecord(demo), rejections };
    const first = await mustSave(store, record, {});
    const other = storeAt(table);
    const found = await mustLoad(other);
    expect(found.record).toStrictEqual(record);
    expect(found.version.spilled?.bytes).toBeGreaterThan(700 * 1024);
    expect(await other.collect(demo, plusSeconds(SAMPLE_TIME, 4000))).toBe(0);

    const small = await mustSave(store, emptyRecord(demo), {}, await mustLoad(store));
    expect(small.version.spilled).toBeUndefined();
    expect(first.version.spilled).toBeDefined();
    expect(await storeAt(table).collect(demo, plusSeconds(SAMPLE_TIME, 4000))).toBe(2);
    expect((await mustLoad(storeAt(table))).record).toStrictEqual(emptyRecord(demo));
  });
});
