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

/** Starts the storage emulator of this checkout in a process of its own. It ends with `close`, and when this process ends. */
export async function spawnEmulator(): Promise<Emulator> {
  const child = await spawnChild({
    script: fileURLToPath(new URL("./emulator-main.ts", import.meta.url)),
    args: [],
    readyLine,
  });
  return { ...child.ready, close: () => child.stop() };
}
