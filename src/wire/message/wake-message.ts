import * as z from "zod";
import { clusterName } from "../../domain/ids.ts";
import type { Instant } from "../../domain/units.ts";
import { instant, isoTime, plusSeconds } from "../../domain/units.ts";
import type { Fields } from "../json/fields.ts";
import { isName, labelSchema, nameSchema } from "../json/name.ts";
import { problemAt } from "../json/problem.ts";
import { addSchemaProblems } from "../json/schema-problems.ts";
import { Problems } from "../json/problems.ts";
import { BOUNDS } from "../json/bounds.ts";
import { version } from "./envelope.ts";
import { clusterProblems } from "./known-cluster.ts";
import type { MessageContext, MessageRead } from "./message-read.ts";

const MOMENT = "a whole number: milliseconds since 1970";

/** The last moment that a Date can hold. */
const LAST_INSTANT = 8.64e15;

const moment = z.int({ error: MOMENT }).min(0, { error: MOMENT }).max(LAST_INSTANT, { error: MOMENT });

/** A message that only asks for a reconcile. */
const wakeSchema = z.strictObject({
  version,
  cluster: nameSchema,
  wake: z.literal(true, { error: "true" }),
  at: moment.optional(),
  id: labelSchema.optional(),
});

/** Reads a wake message. Never throws. */
export function readWake(message: Fields, context: MessageContext): MessageRead {
  const parsed = wakeSchema.safeParse(message);
  const problems = new Problems();
  if (!parsed.success)
    addSchemaProblems(problems, parsed.error, message, () => Object.keys(wakeSchema.shape));
  problems.addBelow("", clusterProblems(message, context.knownClusters));
  findWakeTooLate(message, context.now, problems);
  if (!parsed.success || problems.count > 0) {
    const { cluster } = message;
    return { kind: "rejected", ...(isName(cluster) ? { cluster } : {}), problems: problems.all() };
  }
  const cluster = clusterName(parsed.data.cluster);
  const { at, id } = parsed.data;
  return {
    kind: "wake",
    cluster,
    ...(at === undefined ? {} : { at: instant(at) }),
    ...(id === undefined ? {} : { id }),
  };
}

/** Our own wake messages are less than half an hour ahead. One that is more than an hour ahead has a wrong clock or unit. */
function findWakeTooLate({ at }: Fields, now: Instant, problems: Problems): void {
  const latest = plusSeconds(now, BOUNDS.wakeSeconds);
  if (typeof at !== "number" || !Number.isSafeInteger(at) || at > LAST_INSTANT || at <= latest) return;
  problems.add(() =>
    problemAt("at", at, `milliseconds since 1970, at most an hour ahead of ${isoTime(now)} (${latest})`),
  );
}
