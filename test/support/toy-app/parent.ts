/** A process that starts an emulator and a host as children, says who they are, and then waits for ever: tests kill it. */
import { fileURLToPath } from "node:url";
import { spawnAzurite } from "../spawn-azurite.ts";
import { spawnHost } from "../../../src/local/host/spawn-host.ts";
import { hostJson, quietSettings } from "./start.ts";

const azurite = await spawnAzurite();
const host = await spawnHost({
  app: fileURLToPath(new URL("./main.ts", import.meta.url)),
  hostJson: hostJson(),
  settings: quietSettings,
  origin: Date.now(),
  speed: 60,
  connectionString: azurite.connectionString,
});
process.stdout.write(`${JSON.stringify({ pids: [azurite.pid, host.pid] })}\n`);
setInterval(() => undefined, 60_000);
