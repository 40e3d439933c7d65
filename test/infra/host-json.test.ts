import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { z } from "zod";

/** The stop URL holds a token in its path: what host.json keeps out of the platform's telemetry (docs/nodes.md, What a stop URL allows). */

const hostJson = z.object({
  logging: z.object({
    logLevel: z.record(z.string(), z.string()),
    applicationInsights: z.object({
      httpAutoCollectionOptions: z.object({ enableHttpTriggerExtendedInfoCollection: z.boolean() }),
    }),
  }),
});

test("neither request telemetry nor the host's own request lines carry the address of a request", async () => {
  const text = await readFile(new URL("../../host.json", import.meta.url), "utf8");
  const { logging } = hostJson.parse(JSON.parse(text));
  expect(logging.applicationInsights.httpAutoCollectionOptions).toEqual({
    enableHttpTriggerExtendedInfoCollection: false,
  });
  expect(logging.logLevel).toMatchObject({
    "Microsoft.Azure.WebJobs.Script.WebHost.Middleware.SystemTraceMiddleware": "Warning",
  });
});
