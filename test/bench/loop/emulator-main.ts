/**
 * The storage emulator as a child process (emulator-process.ts starts it), without two things that no storage account does. Its collection
 * of queue messages stops its only thread for 4 to 10 s once a minute where 2,000 messages a minute go through it. And each call to a queue
 * removes an empty list of expired messages, after which its database sorts all messages again: with thousands of them that is half of the
 * processor. Prints one JSON line when it is ready. Ends on SIGTERM or when its stdin closes.
 */
import { createRequire } from "node:module";
import { z } from "zod";
import { startAzurite } from "../../../src/local/azurite.ts";
import { liveWithParent } from "../../../src/local/host/child-process.ts";

const DAY_MS = 86_400_000;

/** A collection of the emulator's database, as far as it is changed here. */
interface Database {
  readonly prototype: { remove: (this: object, found: unknown) => void };
}

const constants: unknown = createRequire(import.meta.url)("azurite/dist/src/queue/utils/constants.js");
// Another version of the emulator may name its interval otherwise; then the figures would be those of the collection.
if (typeof constants !== "object" || constants === null || !("DEFAULT_GC_INTERVAL_MS" in constants))
  throw new Error(
    "azurite's constants: found no DEFAULT_GC_INTERVAL_MS, expected its interval of collections",
  );
constants.DEFAULT_GC_INTERVAL_MS = DAY_MS;

const ofAzurite = createRequire(createRequire(import.meta.url).resolve("azurite/package.json"));
const loki: unknown = ofAzurite("lokijs");
if (typeof loki !== "function" || !("Collection" in loki)) throw new Error("lokijs: found no Collection");
const { prototype } = z.custom<Database>((value) => typeof value === "function").parse(loki.Collection);
const { remove } = prototype;
prototype.remove = function removeSome(found) {
  if (!Array.isArray(found) || found.length > 0) remove.call(this, found);
};

const azurite = await startAzurite();
liveWithParent(() => azurite.close());
const { connectionString, queueEndpoint, tableEndpoint } = azurite;
process.stdout.write(`${JSON.stringify({ connectionString, queueEndpoint, tableEndpoint })}\n`);
