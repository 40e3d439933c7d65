import { fileURLToPath } from "node:url";
import { z } from "zod";
import type { startAzurite } from "../../src/local/azurite.ts";
import { spawnChild } from "../../src/local/host/child-process.ts";

const readyLine = z.object({
  connectionString: z.string(),
  queueEndpoint: z.string(),
  tableEndpoint: z.string(),
});

/** Starts the emulator as a child process. It ends with close(), and also when this process ends (its stdin closes). */
export async function spawnAzurite(
  options: Parameters<typeof startAzurite>[0] = {},
): Promise<Awaited<ReturnType<typeof startAzurite>> & { readonly pid: number }> {
  const child = await spawnChild({
    script: fileURLToPath(new URL("./azurite-main.ts", import.meta.url)),
    args: [JSON.stringify(options)],
    readyLine,
  });
  return { ...child.ready, pid: child.pid, close: () => child.stop().then(() => undefined) };
}
