import { z } from "zod";
import { time, count, text } from "./parts.ts";
import type { Shown } from "./shown.ts";

/** The buckets of a cluster with their limits. A part of the answer of GET /api/clusters/{cluster}. */

const limit = z.object({
  limit: text.meta({ description: 'In words: "family quota standardHBv3Family".' }),
  kind: text,
  name: text,
  guessed: z.literal(true).optional().meta({
    description: "Of a family quota: no table knows the VM size, so its family is guessed from its name.",
  }),
  unit: z.enum(["nodes", "cores"]),
  used: z.number(),
  max: z.number(),
  left: z.number(),
});

export const backoffCause = z.enum(["refused", "fell-short", "boot-failed", "unhealthy", "went-down"]);

export const bucket = z
  .object({
    nodearray: text,
    machineType: text,
    placementGroup: text.optional(),
    valid: z.boolean(),
    invalidReason: text.optional(),
    spot: z.boolean(),
    vcpus: z.number(),
    memoryGib: z.number(),
    gpus: z.number(),
    price: z.number().optional(),
    active: count,
    available: count,
    closed: text.optional(),
    limits: z.array(limit),
    backoff: z.object({ until: time, seconds: z.number(), cause: backoffCause, message: text }).optional(),
    lastCapacityFailureSeconds: z.number().optional(),
  })
  .meta({
    description:
      "A place where nodes are made, with all that bounds a new node there; a row of a placement group shows the group's own limit.",
  });

export type BucketShown = Shown<typeof bucket>;
export type LimitShown = Shown<typeof limit>;
