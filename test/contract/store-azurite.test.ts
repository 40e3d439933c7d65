import { tableRecordStore } from "../../src/adapters/tables/record-store.ts";
import { openTable } from "../../src/adapters/tables/open-table.ts";
import { azuriteForThisFile } from "../support/azurite.ts";
import { SAMPLE_TIME } from "../support/sample-record.ts";
import { describeStore } from "./store-suite.ts";

const azurite = azuriteForThisFile();
const clock = { now: () => SAMPLE_TIME };

describeStore("Azurite", async () => {
  const table = openTable(azurite.account(), { name: azurite.freshName() });
  await table.ensure();
  return { store: tableRecordStore(table, clock), other: tableRecordStore(table, clock) };
});
