import * as z from "zod";
import { instant } from "../domain/units.ts";
import type { Closure, Kept } from "./slurm/kept.ts";
import { NOTHING_KEPT } from "./slurm/kept.ts";

const moment = z.number().transform(instant);
const moments = z.record(z.string(), moment).transform((record) => new Map(Object.entries(record)));

const closure = z.object({
  place: z
    .object({
      nodearray: z.string(),
      size: z.string().exactOptional(),
      group: z.string().exactOptional(),
    })
    .exactOptional(),
  name: z.string().exactOptional(),
  why: z.string(),
  until: moment.exactOptional(),
  refusedAt: moment.exactOptional(),
});

const schema = z.object({
  modes: z
    .record(z.string(), z.enum(["act", "observe"]))
    .transform((record) => new Map(Object.entries(record))),
  resumes: moments,
  marks: moments,
  opened: moments,
  others: z.array(z.string()).transform((names) => new Set(names)),
  downs: z.array(z.object({ nodearray: z.string(), at: moment })),
  told: z
    .record(z.string(), z.object({ text: z.string(), at: moment }))
    .transform((record) => new Map(Object.entries(record))),
  // A file of the release before has none.
  closures: z
    .record(z.string(), closure)
    .optional()
    .transform((record) => new Map<string, Closure>(Object.entries(record ?? {}))),
});

/** Reads the file. One that cannot be read is as none: the agent observes until it has heard a mode. */
export function readKept(text: string): Kept {
  try {
    return schema.safeParse(JSON.parse(text)).data ?? NOTHING_KEPT;
  } catch {
    return NOTHING_KEPT;
  }
}

export function keptText({ modes, resumes, marks, opened, others, downs, told, closures }: Kept): string {
  return JSON.stringify({
    modes: Object.fromEntries(modes),
    resumes: Object.fromEntries(resumes),
    marks: Object.fromEntries(marks),
    opened: Object.fromEntries(opened),
    others: [...others],
    downs,
    told: Object.fromEntries(told),
    closures: Object.fromEntries(closures),
  });
}
