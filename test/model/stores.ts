import { memoryRecordStore } from "../../src/adapters/memory/record-store.ts";
import type { StorageAccount } from "../../src/adapters/system/storage-account.ts";
import { tableRecordStore } from "../../src/adapters/tables/record-store.ts";
import { openTable } from "../../src/adapters/tables/open-table.ts";
import type { OpenStore } from "./rig.ts";

/** A new store in memory for each sequence. */
export const inMemory: OpenStore = () => memoryRecordStore();

/** A new, empty table for each sequence. Create it before it is opened. */
export async function inTable(account: StorageAccount, name: string): Promise<OpenStore> {
  const table = openTable(account, { name });
  await table.ensure();
  return (clock) => tableRecordStore(table, clock);
}
