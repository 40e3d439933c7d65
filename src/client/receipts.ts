import { z } from "zod";
import { flag, listOf, number, problemPart, reader, rejectedJob, text, texts } from "./readable.ts";

/** Readers of the answers to a change, for display: accepted demand, refusals, ticks, restores, configurations. */

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

export const readAccepted = reader(accepted);
export const readProblemAnswer = reader(problem);
export const readTick = reader(tick);
export const readWake = reader(wake);
export const readRestored = reader(restored);
export const readConfigNotes = reader(configNotes);
