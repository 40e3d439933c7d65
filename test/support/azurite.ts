import { afterAll, beforeAll } from "vitest";
import type { StorageAccount } from "../../src/adapters/system/storage-account.ts";
import { startAzurite } from "../../src/local/azurite.ts";

/** An Azurite of the test file's own, which starts before the file's tests and stops after them. Call `account()` inside tests only. */
export function azuriteForThisFile(): { account(): StorageAccount; freshName(): string } {
  let running: Awaited<ReturnType<typeof startAzurite>> | undefined;
  let names = 0;
  beforeAll(async () => {
    running = await startAzurite();
  });
  afterAll(async () => {
    await running?.close();
  });
  return {
    account() {
      if (running === undefined) throw new Error("Azurite runs only while tests run");
      return { kind: "connection-string", connectionString: running.connectionString };
    },
    /** A name for a table or queue that no other test uses. */
    freshName: () => `fresh${++names}`,
  };
}
