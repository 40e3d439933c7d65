import * as z from "zod";
import { CHANGEABLE_LIMITS } from "../../domain/what-if.ts";
import { labelSchema, nameSchema } from "../json/name.ts";
import { BOUNDS } from "../json/bounds.ts";

const LIMIT_KIND = `one of ${CHANGEABLE_LIMITS.join(", ")} (caps of sets and users are changed in config)`;

const WHOLE = "a whole number";

const AT_MOST = { error: `at most ${BOUNDS.count}, up or down` };

const TOO_MANY = { error: `at most ${BOUNDS.changes} changes` };

const COUNT = "a whole number, 0 or more";

export const limitSchema = z
  .strictObject(
    {
      kind: z.enum(CHANGEABLE_LIMITS, { error: LIMIT_KIND }),
      name: z.string({ error: "the limit's name, as in the cluster answer" }).default(""),
      unit: z.enum(["nodes", "cores"], { error: "nodes or cores" }),
      more: z.int({ error: WHOLE }).min(-BOUNDS.count, AT_MOST).max(BOUNDS.count, AT_MOST).optional(),
      max: z.int({ error: COUNT }).min(0, { error: COUNT }).max(BOUNDS.count, AT_MOST).optional(),
    },
    { error: "an object with kind, name, unit, and more or max" },
  )
  .refine(({ more, max }) => (more === undefined) !== (max === undefined), {
    error: "either more or max: how much the limit grows, or what it is",
  })
  .meta({
    description: "A limit, named as in the cluster answer: raised by `more`, or set to `max`.",
  });

const bucketSchema = z
  .strictObject(
    {
      nodearray: nameSchema,
      machineType: labelSchema,
      enabled: z.boolean({ error: "true or false" }),
    },
    { error: "an object with nodearray, machineType and enabled" },
  )
  .meta({
    description:
      "A bucket that is offered and does not back off, or one that is not offered, whatever CycleCloud says.",
  });

/** The body of a dry run: every member changes one kind of input. Absent members leave it unchanged. */
export const whatIfSchema = z
  .strictObject(
    {
      config: z
        .record(z.string(), z.unknown(), { error: "an object: keys of the configuration" })
        .optional()
        .meta({
          description: "Keys of the configuration with other values; null: as if the key were absent.",
        }),
      requestSets: z
        .record(z.string(), z.unknown(), { error: "an object: set name -> what it asks for, or null" })
        .optional()
        .meta({
          description: "What these sets ask for instead, as in a demand message; null: nothing.",
        }),
      limits: z.array(limitSchema, { error: "a list of limits" }).max(BOUNDS.changes, TOO_MANY).optional(),
      buckets: z.array(bucketSchema, { error: "a list of buckets" }).max(BOUNDS.changes, TOO_MANY).optional(),
    },
    { error: "an object: config, requestSets, limits, buckets" },
  )
  .meta({ description: "Inputs of a plan that differ from those in force." });

/** The known keys of the object at this path, to suggest one for an unknown key. */
export function keysAt(path: readonly PropertyKey[]): readonly string[] {
  if (path.length === 0) return Object.keys(whatIfSchema.shape);
  return Object.keys(path[0] === "limits" ? limitSchema.shape : bucketSchema.shape);
}
