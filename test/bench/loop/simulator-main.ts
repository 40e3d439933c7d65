/**
 * The CycleCloud simulator as a child process (simulator-process.ts starts it). Options: JSON in the first argument. Prints one JSON line
 * with its address, then one JSON line for each event. Ends on SIGTERM or when its stdin closes.
 */
import { z } from "zod";
import { liveWithParent } from "../../../src/local/host/child-process.ts";
import { scaledClock } from "../../../src/local/scaled-clock.ts";
import { Simulator } from "../../../src/simulator/engine.ts";
import { parseOptions } from "../../../src/simulator/options-file.ts";
import { serveSimulator } from "../../../src/simulator/server.ts";

const { simulator, origin, speed, latencyMs, credentials } = z
  .object({
    simulator: z.unknown(),
    origin: z.number(),
    speed: z.number().positive(),
    latencyMs: z.number().min(0),
    credentials: z.object({ username: z.string(), password: z.string() }),
  })
  .parse(JSON.parse(process.argv[2] ?? "{}"));

const read = parseOptions(JSON.stringify(simulator));
if (read.kind === "invalid") throw new Error(read.problems);
const engine = new Simulator({ ...read.options, keepLog: false }, scaledClock({ origin, speed }));
engine.onEvent((event) => process.stdout.write(`${JSON.stringify(event)}\n`));
const server = await serveSimulator(engine, { credentials, latencyMs });
liveWithParent(() => server.close());
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
