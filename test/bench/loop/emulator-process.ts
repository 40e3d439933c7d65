import { fileURLToPath } from "node:url";
import { z } from "zod";
import { spawnChild } from "../../../src/local/host/child-process.ts";

const readyLine = z.object({
  connectionString: z.string(),
  queueEndpoint: z.string(),
  tableEndpoint: z.string(),
});

/** Queues and tables; what is in them is lost on close. */
export type Emulator = z.infer<typeof readyLine> & { close(): Promise<unknown> };

/**
 * Starts the storage emulator of this checkout: queues and tables in a process each, because no storage account lets a long queue slow down
 * its tables (the emulator sorts a queue again for each message that is deleted). They end with `close`, and when this process ends.
 */
export async function spawnEmulator(): Promise<Emulator> {
  const script = fileURLToPath(new URL("./emulator-main.ts", import.meta.url));
  const start = () => spawnChild({ script, args: [], readyLine });
  const queues = await start();
  const tables = await start().catch(async (error: unknown) => {
    await queues.stop();
    throw error;
  });
  const { connectionString, queueEndpoint } = queues.ready;
  const { tableEndpoint } = tables.ready;
  return {
    queueEndpoint,
    tableEndpoint,
    connectionString: connectionString.replace(queues.ready.tableEndpoint, tableEndpoint),
    close: () => Promise.all([queues.stop(), tables.stop()]),
  };
}
