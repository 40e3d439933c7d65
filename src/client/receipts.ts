import { z } from "zod";
import type {
  Acknowledgement,
  ConfigurationHistory,
  ConfigurationWritten,
  EndDown,
  Problem,
  Restored,
  Tick,
  Wake,
} from "./answers.ts";
import { flag, listOf, number, problemPart, readerOf, rejectedJob, shown, text, texts } from "./readable.ts";

/** Readers of the answers to a change, for display: accepted demand, refusals, ticks, restores, configurations and their history. */

const accepted = z.object({
  requestSet: text,
  revision: number,
  expiresAt: text,
  changed: flag,
  taken: texts,
  older: texts,
  asks: z.object({ nodearrays: number, jobs: number, slots: number }).optional().catch(undefined),
  rejectedJobs: listOf(rejectedJob),
  notes: texts,
});

const problem = z.object({
  title: text,
  detail: text,
  problems: listOf(problemPart),
  undrain: flag,
  stopUnderWay: flag,
});

const tick = z.object({
  outcome: text,
  plan: number,
  until: text,
  message: text,
  trouble: z.object({ kind: text, message: text }).optional().catch(undefined),
});

const wake = z.object({ id: text });

const restored = z.object({ cluster: text, restingUntil: text, createsFrom: text });

const endDown = z.object({ nodearray: text, count: number, nodes: texts, until: text });

const configNotes = z.object({
  used: listOf(z.object({ key: text, as: text })),
  ignored: listOf(z.object({ key: text, why: text })),
  doubts: listOf(problemPart),
  unknownNodearrays: texts,
  losses: listOf(z.object({ requestSet: text, loses: texts })),
  notes: texts,
});

const difference = z.object({
  path: shown,
  before: shown.optional(),
  after: shown.optional(),
});

export interface ConfigDifferences {
  readonly differences: readonly Readonly<z.infer<typeof difference>>[];
  readonly more: number;
}

/** Undefined if an older app answers: then it does not say what changed. */
const configChanges = z.object({ differences: z.array(difference), more: z.number() });

/** Requests that were committed before a change of the configuration, and may still be sent. Empty if an older app answers. */
const left = z.object({
  underWay: listOf(z.object({ effect: text, nodes: number, nodearrays: texts, until: text })),
});

/** Every change must be readable: a list with holes would be a false history. */
const configHistory = z.object({
  changes: z.array(
    z.object({
      number: z.number(),
      at: shown.optional(),
      who: shown,
      rollbackTo: z.number().optional(),
      differences: z.array(difference),
      more: z.number(),
    }),
  ),
});

export const readAccepted = readerOf<Acknowledgement>()(accepted);
export const readProblemAnswer = readerOf<Problem>()(problem);
export const readTick = readerOf<Tick>()(tick);
export const readWake = readerOf<Wake>()(wake);
export const readRestored = readerOf<Restored>()(restored);
export const readEndDown = readerOf<EndDown>()(endDown);
export const readConfigNotes = readerOf<ConfigurationWritten>()(configNotes);
export const readConfigChanges = readerOf<ConfigurationWritten>()(configChanges);
export const readUnderWay = (body: unknown) => left.safeParse(body).data?.underWay ?? [];
export const readConfigHistory = readerOf<ConfigurationHistory>()(configHistory);
