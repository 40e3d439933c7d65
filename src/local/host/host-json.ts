/** The settings of host.json that the local host uses, with the platform's defaults and limits (platform.md section 3). Other keys are ignored. */
import { availableParallelism } from "node:os";
import { z } from "zod";
import { parseTimeSpan } from "./time-span.ts";
import type { Milliseconds } from "../../domain/units.ts";

export type QueueSettings = {
  readonly batchSize: number;
  readonly newBatchThreshold: number;
  readonly maxDequeueCount: number;
  readonly visibilityTimeoutMs: Milliseconds;
  readonly maxPollingIntervalMs: Milliseconds;
  readonly messageEncoding: MessageEncoding;
};
export type MessageEncoding = "none" | "base64";

/** Durations are simulated milliseconds. */
export type HostSettings = {
  readonly functionTimeoutMs: Milliseconds | undefined;
  readonly routePrefix: string;
  readonly queues: QueueSettings;
};

const span = z.string().transform((text, context) => {
  const milliseconds = parseTimeSpan(text);
  if (milliseconds !== undefined) return milliseconds;
  context.addIssue({ code: "custom", message: `"${text}" is not a time span (hh:mm:ss)` });
  return z.NEVER;
});

const queues = z.object({
  batchSize: z.int().min(1).max(32).default(16),
  newBatchThreshold: z.int().min(0).optional(),
  maxDequeueCount: z.int().min(1).default(5),
  visibilityTimeout: span.default(0),
  // The default of a development host. In Azure it is a minute.
  maxPollingInterval: span.default(2000).refine((ms) => ms >= 100, "must be at least 00:00:00.100"),
  messageEncoding: z
    .string()
    .toLowerCase()
    .pipe(z.enum(["none", "base64"]))
    .default("base64"),
});

const schema = z.object({
  version: z.literal("2.0"),
  // "-1" means no limit.
  functionTimeout: z.union([z.literal("-1").transform(() => "unlimited" as const), span]).optional(),
  extensions: z
    .object({
      http: z.object({ routePrefix: z.string().default("api") }).optional(),
      queues: queues.optional(),
    })
    .optional(),
});

/** Reads a parsed host.json. Throws a ZodError that names every setting it cannot use. */
export function readHostJson(document: unknown): HostSettings {
  const { functionTimeout, extensions } = schema.parse(document);
  const given = extensions?.queues ?? queues.parse({});
  return {
    functionTimeoutMs: functionTimeout === "unlimited" ? undefined : (functionTimeout ?? 30 * 60_000),
    routePrefix: extensions?.http?.routePrefix ?? "api",
    queues: {
      batchSize: given.batchSize,
      newBatchThreshold: given.newBatchThreshold ?? Math.floor(given.batchSize / 2) * availableParallelism(),
      maxDequeueCount: given.maxDequeueCount,
      visibilityTimeoutMs: given.visibilityTimeout,
      maxPollingIntervalMs: given.maxPollingInterval,
      messageEncoding: given.messageEncoding,
    },
  };
}
