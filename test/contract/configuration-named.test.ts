import { describe, expect, test } from "vitest";
import { memoryDocuments } from "../../src/adapters/memory/stores.ts";
import { memoryRecordStore } from "../../src/adapters/memory/record-store.ts";
import { tableDocuments } from "../../src/adapters/tables/documents.ts";
import { openTable } from "../../src/adapters/tables/open-table.ts";
import { tableRecordStore } from "../../src/adapters/tables/record-store.ts";
import type { Table } from "../../src/adapters/tables/table.ts";
import type { Documents, RecordStore } from "../../src/app/ports/record-store.ts";
import { documentDigest } from "../../src/domain/config-version.ts";
import { clusterName } from "../../src/domain/ids.ts";
import { azuriteForThisFile } from "../support/azurite.ts";
import { memoryTable } from "../support/memory-table.ts";
import { emptyRecord, SAMPLE_TIME } from "../support/sample-record.ts";

/** The record names the configuration in force (docs/protocol.md, Configuration), in memory and in rows. */
const azurite = azuriteForThisFile();
const demo = clusterName("demo");
const clock = { now: () => SAMPLE_TIME };
const ACT = '{"mode":"act"}';
const OBSERVE = '{"mode":"observe"}';

interface Stores {
  readonly store: RecordStore;
  readonly documents: Documents;
}

const onTable = (table: Table): Stores => ({
  store: tableRecordStore(table, clock),
  documents: tableDocuments(table),
});

const kinds: readonly { readonly name: string; readonly open: () => Promise<Stores> }[] = [
  {
    name: "memory",
    async open() {
      const store = memoryRecordStore();
      return { store, documents: memoryDocuments(store) };
    },
  },
  {
    name: "Azurite",
    async open() {
      const table = openTable(azurite.account(), { name: azurite.freshName() });
      await table.ensure();
      return onTable(table);
    },
  },
];

async function put({ documents }: Stores, text: string): Promise<void> {
  const held = await documents.read(demo);
  expect(await documents.write(demo, text, held?.etag)).toBe("saved");
}

const namedIn = async ({ store }: Stores) => (await store.load(demo))?.version.configuration;

describe.each(kinds)("$name", ({ open }) => {
  test("a change is named, makes a save that is under way conflict, and the next save keeps the name", async () => {
    const stores = await open();
    const { store } = stores;
    await store.save(emptyRecord(demo), {}, undefined);
    const before = await store.load(demo);
    expect(before?.version.configuration).toBeUndefined();
    await put(stores, OBSERVE);
    expect((await store.save({ ...emptyRecord(demo), generation: 1 }, {}, before)).kind).toBe("conflict");
    expect(await namedIn(stores)).toBe(documentDigest(OBSERVE));
    const saved = await store.save({ ...emptyRecord(demo), generation: 1 }, {}, await store.load(demo));
    expect(saved).toMatchObject({ loaded: { version: { configuration: documentDigest(OBSERVE) } } });
    expect(await namedIn(stores)).toBe(documentDigest(OBSERVE));
  });

  test("a decision names its own; the same text again is the same configuration", async () => {
    const stores = await open();
    const configuration = documentDigest(ACT);
    await stores.store.save(emptyRecord(demo), { configuration }, undefined);
    expect(await namedIn(stores)).toBe(configuration);
    for (const text of [ACT, OBSERVE, ACT]) await put(stores, text);
    expect(await namedIn(stores)).toBe(configuration);
  });

  test("a change before there is a record is no error, and a new record names none", async () => {
    const stores = await open();
    await put(stores, OBSERVE);
    await stores.store.save(emptyRecord(demo), {}, undefined);
    expect(await namedIn(stores)).toBeUndefined();
  });
});

/** A table whose first transaction waits until `meanwhile` has run. */
function beforeTransaction(table: Table, nth: number, meanwhile: () => Promise<void>): Table {
  let count = 0;
  return {
    ...table,
    async writeTogether(...rows) {
      count += 1;
      if (count === nth) await meanwhile();
      return table.writeTogether(...rows);
    },
  };
}

test("the record is born while a change is written: it names the change", async () => {
  const table = memoryTable({ sleep: () => Promise.resolve() });
  const stores = onTable(table);
  const born = async () => void (await stores.store.save(emptyRecord(demo), {}, undefined));
  await put(onTable(beforeTransaction(table, 1, born)), OBSERVE);
  expect(await namedIn(stores)).toBe(documentDigest(OBSERVE));
});

test("the record is born and a later change is answered first: the earlier one does not come after it", async () => {
  const table = memoryTable({ sleep: () => Promise.resolve() });
  const stores = onTable(table);
  const later = async () => {
    await stores.store.save(emptyRecord(demo), {}, undefined);
    await put(stores, OBSERVE);
  };
  await put(onTable(beforeTransaction(table, 2, later)), ACT);
  expect(await namedIn(stores)).toBe(documentDigest(OBSERVE));
  expect((await stores.documents.read(demo))?.text).toBe(OBSERVE);
});

test("a save whose answer was lost has the name that a change has given the row since", async () => {
  const table = memoryTable({ sleep: () => Promise.resolve() });
  const stores = onTable(table);
  await stores.store.save(emptyRecord(demo), { configuration: documentDigest(ACT) }, undefined);
  const losing: Table = {
    ...table,
    async replace(...row) {
      await table.replace(...row);
      await put(stores, OBSERVE);
      return { kind: "conflict" };
    },
  };
  const through = tableRecordStore(losing, clock);
  const saved = await through.save({ ...emptyRecord(demo), generation: 1 }, {}, await through.load(demo));
  expect(saved).toMatchObject({ loaded: { version: { configuration: documentDigest(OBSERVE) } } });
  expect((await through.load(demo))?.version.configuration).toBe(documentDigest(OBSERVE));
});
