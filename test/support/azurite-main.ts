/** Azurite as a child process: options as JSON in the first argument; prints one JSON line when ready; ends on SIGTERM or closed stdin. */
import { z } from "zod";
import { startAzurite } from "../../src/local/azurite.ts";
import { liveWithParent } from "../../src/local/host/child-process.ts";

const options = z
  .object({ inMemory: z.boolean().default(true), location: z.string().optional() })
  .parse(JSON.parse(process.argv[2] ?? "{}"));

const azurite = await startAzurite({
  inMemory: options.inMemory,
  ...(options.location === undefined ? {} : { location: options.location }),
});
liveWithParent(() => azurite.close());
process.stdout.write(
  `${JSON.stringify({
    connectionString: azurite.connectionString,
    queueEndpoint: azurite.queueEndpoint,
    tableEndpoint: azurite.tableEndpoint,
  })}\n`,
);
