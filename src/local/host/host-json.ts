import { availableParallelism } from "node:os";
import { z } from "zod";
import type { Milliseconds } from "../../domain/units.ts";

/** The settings of host.json that the local host uses, with the platform's defaults and limits (platform.md section 3). Other keys are ignored. */

type QueueSettings = {
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

/** Time spans of .NET, the form of durations in host.json: [days.]hours:minutes:seconds[.fraction]. */
const pattern = /^(?:(\d+)\.)?(\d{1,2}):(\d{1,2}):(\d{1,2}(?:\.\d{1,7})?)$/;

/** The milliseconds of a time span such as "00:00:30" or "1.12:00:00.250". Undefined if the text is not a time span. */
export function parseTimeSpan(text: string): number | undefined {
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const [days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0));
  if (days === undefined || hours === undefined || minutes === undefined || seconds === undefined)
    return undefined;
  if (hours > 23 || minutes > 59 || seconds >= 60) return undefined;
  return ((days * 24 + hours) * 60 + minutes) * 60_000 + Math.round(seconds * 1000);
}
