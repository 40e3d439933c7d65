/**
 * A host in a process of its own (spawn-host.ts starts it). Options: JSON in LOCAL_FUNCTIONS_HOST or in the first argument. Prints one JSON
 * line when it listens. Its log goes to stderr. On SIGTERM, or when its stdin closes, it finishes running work and stops.
 */
import { stat, readFile } from "node:fs/promises";
import { z } from "zod";
import { scaledClock } from "../scaled-clock.ts";
import { liveWithParent } from "./child-process.ts";
import { startHost } from "./host.ts";
import { readPackage } from "./load-package.ts";
import { optionsVariable } from "./spawn-host.ts";
import { showJson } from "../../domain/shown.ts";

const schema = z.object({
  app: z.string(),
  hostJson: z.unknown().optional(),
  settings: z.record(z.string(), z.string()),
  origin: z.number(),
  speed: z.number().positive(),
  keys: z
    .object({
      master: z.string(),
      host: z.string(),
      functions: z.record(z.string(), z.array(z.string())).exactOptional(),
    })
    .exactOptional(),
  port: z.int().min(0).exactOptional(),
  instanceId: z.string().exactOptional(),
  connectionString: z.string(),
});

const { app, hostJson, origin, ...options } = schema.parse(
  JSON.parse(process.env[optionsVariable] ?? process.argv[2] ?? "{}"),
);
const isFolder = (await stat(app)).isDirectory();
const source = isFolder ? await readPackage(app) : { entry: app, hostJson: await contentOf(hostJson) };
const host = await startHost({
  ...options,
  app: source.entry,
  hostJson: source.hostJson,
  clock: scaledClock({ origin, speed: options.speed }),
  log: (entry) => process.stderr.write(`${showJson(entry)}\n`),
});
liveWithParent(() => host.stop());
process.stdout.write(`${JSON.stringify({ url: host.url, functions: host.functions, keys: host.keys })}\n`);

async function contentOf(pathOrContent: unknown): Promise<unknown> {
  return typeof pathOrContent === "string"
    ? JSON.parse(await readFile(pathOrContent, "utf8"))
    : pathOrContent;
}
