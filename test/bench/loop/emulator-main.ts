/**
 * The storage emulator as a child process (emulator-process.ts starts it), without its collection of queue messages: once a minute that
 * stops the emulator's only thread for 4 to 10 s where 2,000 messages a minute go through it, which no storage account does. Prints one
 * JSON line when it is ready. Ends on SIGTERM or when its stdin closes.
 */
import { createRequire } from "node:module";
import { startAzurite } from "../../../src/local/azurite.ts";
import { liveWithParent } from "../../../src/local/host/child-process.ts";

const DAY_MS = 86_400_000;

const constants: unknown = createRequire(import.meta.url)("azurite/dist/src/queue/utils/constants.js");
// Another version of the emulator may name its interval otherwise; then the figures would be those of the collection.
if (typeof constants !== "object" || constants === null || !("DEFAULT_GC_INTERVAL_MS" in constants))
  throw new Error(
    "azurite's constants: found no DEFAULT_GC_INTERVAL_MS, expected its interval of collections",
  );
constants.DEFAULT_GC_INTERVAL_MS = DAY_MS;

const azurite = await startAzurite();
liveWithParent(() => azurite.close());
const { connectionString, queueEndpoint, tableEndpoint } = azurite;
process.stdout.write(`${JSON.stringify({ connectionString, queueEndpoint, tableEndpoint })}\n`);
