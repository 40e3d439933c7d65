import { z } from "zod";
import type { Milliseconds } from "../../domain/units.ts";

/** The settings of host.json that the local host uses, each of which must be there. Other keys are ignored. */

type QueueSettings = {
  readonly batchSize: number;
  readonly newBatchThreshold: number;
  readonly maxDequeueCount: number;
  readonly visibilityTimeoutMs: Milliseconds;
  readonly maxPollingIntervalMs: Milliseconds;
};

/** Durations are simulated milliseconds. */
export type HostSettings = {
  readonly functionTimeoutMs: Milliseconds;
  readonly routePrefix: string;
  readonly queues: QueueSettings;
};

const span = z.string().transform((text, context) => {
  const milliseconds = parseTimeSpan(text);
  if (milliseconds !== undefined) return milliseconds;
  context.addIssue({ code: "custom", message: `"${text}" is not a time span (hh:mm:ss)` });
  return z.NEVER;
});

const schema = z.object({
  version: z.literal("2.0"),
  functionTimeout: span,
  extensions: z.object({
    http: z.object({ routePrefix: z.string() }),
    queues: z.object({
      batchSize: z.int().min(1).max(32),
      newBatchThreshold: z.int().min(0),
      maxDequeueCount: z.int().min(1),
      visibilityTimeout: span,
      maxPollingInterval: span.refine((ms) => ms >= 100, "must be at least 00:00:00.100"),
      // Base64, the platform's default, is not served here.
      messageEncoding: z.literal("none"),
    }),
  }),
});

/** Reads a parsed host.json. Throws a ZodError that names every setting it cannot use. */
export function readHostJson(document: unknown): HostSettings {
  const { functionTimeout, extensions } = schema.parse(document);
  const { visibilityTimeout, maxPollingInterval, ...counts } = extensions.queues;
  return {
    functionTimeoutMs: functionTimeout,
    routePrefix: extensions.http.routePrefix,
    queues: { ...counts, visibilityTimeoutMs: visibilityTimeout, maxPollingIntervalMs: maxPollingInterval },
  };
}

/** The milliseconds of a time span such as "00:00:30" or "00:00:00.250". Undefined if the text is not one of less than a day. */
function parseTimeSpan(text: string): number | undefined {
  const match = /^([01]?\d|2[0-3]):([0-5]?\d):([0-5]?\d(?:\.\d+)?)$/.exec(text);
  if (match === null) return undefined;
  const [hours = 0, minutes = 0, seconds = 0] = match.slice(1).map(Number);
  return (hours * 60 + minutes) * 60_000 + Math.round(seconds * 1000);
}
