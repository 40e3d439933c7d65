import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { spawnChild } from "../../../src/local/host/child-process.ts";
import type { SimulatorOptions } from "../../../src/simulator/options.ts";

const at = z.number();
const ofNode = { at, nodeId: z.string(), array: z.string() };

/** The events that the loads judge by. The simulator has more; those are left out. */
const eventSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("node-created"), ...ofNode }),
  z.object({
    kind: z.literal("node-ready"),
    ...ofNode,
    hostname: z.string(),
    instanceId: z.string(),
    configuration: z.record(z.string(), z.unknown()),
  }),
  z.object({ kind: z.literal("terminate-accepted"), ...ofNode }),
  z.object({ kind: z.literal("node-gone"), ...ofNode }),
  z.object({
    kind: z.literal("create-accepted"),
    at,
    requestId: z.string().optional(),
    asked: z.number(),
    added: z.number(),
  }),
  z.object({ kind: z.literal("status-read"), at }),
]);

/** What happened in the simulated CycleCloud. `at` is simulated time, in milliseconds since 1970. */
export type CycleCloudEvent = z.infer<typeof eventSchema>;
export type EventOf<Kind extends CycleCloudEvent["kind"]> = Extract<CycleCloudEvent, { kind: Kind }>;

export interface SimulatorProcess {
  readonly url: string;
  readonly pid: number;
  readonly credentials: { readonly username: string; readonly password: string };
  /** Every event so far, oldest first; it grows. */
  readonly events: readonly CycleCloudEvent[];
  /** Calls `listener` with each event when it is heard of; the answer ends that. */
  onEvent(listener: (event: CycleCloudEvent) => void): () => void;
  close(): Promise<unknown>;
}

export interface SimulatorProcessOptions {
  readonly simulator: SimulatorOptions;
  /** The scaled clock that all processes share. */
  readonly origin: number;
  readonly speed: number;
  /** Real milliseconds by which every call is answered late. */
  readonly latencyMs: number;
}

/** Starts the simulator of this checkout in a process of its own. It ends with `close`, and when this process ends. */
export async function spawnSimulator(options: SimulatorProcessOptions): Promise<SimulatorProcess> {
  const credentials = { username: "autoscaler", password: randomBytes(12).toString("hex") };
  const events: CycleCloudEvent[] = [];
  const listeners = new Set<(event: CycleCloudEvent) => void>();
  const child = await spawnChild({
    script: fileURLToPath(new URL("./simulator-main.ts", import.meta.url)),
    args: [JSON.stringify({ ...options, credentials })],
    readyLine: z.object({ url: z.string() }),
    onLine: (line) => {
      const event = readEvent(line);
      if (event === undefined) return;
      events.push(event);
      for (const listener of listeners) listener(event);
    },
  });
  return {
    url: child.ready.url,
    pid: child.pid,
    credentials,
    events,
    onEvent(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => child.stop(),
  };
}

/** Undefined: an event that no load reads. A line that is no JSON is the simulator's own complaint, which must be seen. */
function readEvent(line: string): CycleCloudEvent | undefined {
  try {
    const parsed = eventSchema.safeParse(JSON.parse(line));
    return parsed.success ? parsed.data : undefined;
  } catch {
    process.stderr.write(`simulator: ${line}\n`);
    return undefined;
  }
}
