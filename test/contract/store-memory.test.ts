import { memoryRecordStore } from "../../src/adapters/memory/record-store.ts";
import { describeStore } from "./store-suite.ts";

describeStore("memory", async () => {
  const store = memoryRecordStore();
  return { store, other: store };
});
