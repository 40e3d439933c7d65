import { BODY_KEYS, clusterPartition } from "../../../src/adapters/tables/keys.ts";
import type { TableRecord } from "../../../src/adapters/tables/manifest-row.ts";
import { tableRecordStore } from "../../../src/adapters/tables/record-store.ts";
import type { Table } from "../../../src/adapters/tables/table.ts";
import { openTable } from "../../../src/adapters/tables/open-table.ts";
import type { BodyChanges } from "../../../src/app/ports/record-store.ts";
import { clusterName } from "../../../src/domain/ids.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import type { Instant } from "../../../src/domain/units.ts";
import { azuriteForThisFile } from "../../support/azurite.ts";
import { SAMPLE_TIME } from "../../support/sample-record.ts";

/*
 * A record store on an empty table.
 */

export type FileAzurite = ReturnType<typeof azuriteForThisFile>;

export const demo = clusterName("demo");
export const partition = clusterPartition(demo);

/** An empty table of the file's own Azurite. */
export async function freshTable(azurite: FileAzurite): Promise<Table> {
  const table = openTable(azurite.account(), { name: azurite.freshName() });
  await table.ensure();
  return table;
}

export function storeAt(table: Table, at: Instant = SAMPLE_TIME) {
  return tableRecordStore(table, { now: () => at });
}

export type Store = ReturnType<typeof storeAt>;

export async function mustSave(
  store: Store,
  record: ClusterRecord,
  changes: BodyChanges,
  previous?: TableRecord,
) {
  const outcome = await store.save(record, changes, previous);
  if (outcome.kind === "conflict") throw new Error("unexpected conflict");
  return outcome.loaded;
}

export async function mustLoad(store: Store) {
  return (await store.load(demo)) ?? Promise.reject(new Error("no record"));
}

export const bodyRows = async (table: Table) =>
  (await table.list(partition, BODY_KEYS, [], 10_000)).map(({ rowKey }) => rowKey);
