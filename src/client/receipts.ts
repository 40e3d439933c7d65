import { z } from "zod";
import type {
  Acknowledgement,
  ConfigurationHistory,
  ConfigurationWritten,
  Problem,
  Restored,
  Tick,
  Wake,
} from "./answers.ts";
import { flag, listOf, number, problemPart, readerOf, rejectedJob, text, texts } from "./readable.ts";

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

const configNotes = z.object({
  used: listOf(z.object({ key: text, as: text })),
  ignored: listOf(z.object({ key: text, why: text })),
  doubts: listOf(problemPart),
  unknownNodearrays: texts,
  losses: listOf(z.object({ requestSet: text, loses: texts })),
});

/** Every change must be readable: a list with holes would be a false history. */
const configHistory = z.object({
  changes: z.array(
    z.object({
      number: z.number(),
      at: z.string().optional(),
      who: z.string(),
      rollbackTo: z.number().optional(),
      differences: z.array(
        z.object({ path: z.string(), before: z.string().optional(), after: z.string().optional() }),
      ),
      more: z.number(),
    }),
  ),
});

export const readAccepted = readerOf<Acknowledgement>()(accepted);
export const readProblemAnswer = readerOf<Problem>()(problem);
export const readTick = readerOf<Tick>()(tick);
export const readWake = readerOf<Wake>()(wake);
export const readRestored = readerOf<Restored>()(restored);
export const readConfigNotes = readerOf<ConfigurationWritten>()(configNotes);
export const readConfigHistory = readerOf<ConfigurationHistory>()(configHistory);

export type ConfigDifferenceAnswer = z.infer<typeof configHistory>["changes"][number]["differences"][number];
