import { z } from "zod";
import { envelopeSchema } from "../message/envelope.ts";
import { nodearraySchema } from "../message/nodearray-schema.ts";
import type { PolicyDocument } from "../policy/write-policy.ts";
import { markSchema, poolSchema } from "../message/pool.ts";
import { among, observing, preference, problemItem, resources, text, texts, time } from "./parts.ts";

/**
 * The inputs of the API. Lists with thousands of members have readers of their own (see fields.ts). Their schemas here only describe them,
 * and a test compares the two.
 */

const constraint = z.record(text, z.unknown()).meta({
  description: "Resources with amounts or choices, node properties, and, or, xor, not, ...: all must hold.",
});

export const jobRequest = z
  .strictObject({
    name: text.min(1),
    user: text.min(1).optional(),
    priority: z.number().optional().meta({ description: "Higher is served first; default 0." }),
    iterations: z.int().min(1).optional().meta({ description: "All slots, queued and running; default 1." }),
    "iterations-remaining": z
      .int()
      .min(0)
      .optional()
      .meta({ description: "As scalelib writes it: slots that do not run yet." }),
    "node-count": z.int().min(0).optional(),
    constraints: z.union([constraint, z.array(constraint)]).optional(),
    colocated: z.boolean().optional(),
    exclusive: z.boolean().optional().meta({ description: "The job's nodes run nothing else." }),
    "packing-strategy": z.enum(["pack", "scatter"]).optional().meta({
      description:
        "With a node-count: scatter is all of the nodes or none, pack as many as possible, with one slot each.",
    }),
    "executing-hostnames": texts.optional(),
    placed: z
      .array(z.strictObject({ hostname: text.min(1), iterations: z.int().min(1) }))
      .optional()
      .meta({ description: "Slots that run already, by host." }),
    span: z.boolean().optional(),
    spot: z.enum(["never", "allow", "only"]).optional(),
    walltime: z.number().positive().optional(),
    metadata: z
      .record(text, z.unknown())
      .optional()
      .meta({ description: "As scalelib writes it: for people to read, at most 4096 characters of JSON." }),
  })
  .meta({ description: "A job. One that cannot be read is rejected by itself, and the others stand." });

export const hostRequest = z
  .strictObject({
    hostname: text.min(1),
    resources: resources.optional().meta({ description: "What the host has in all." }),
    available: resources.optional().meta({ description: "What is left of that now." }),
    jobs: texts.optional().meta({ description: "What runs there; absent or empty: nothing." }),
    jobIds: texts.optional().meta({ description: "Another name for jobs." }),
    state: text.min(1).optional(),
  })
  .meta({ description: "What the scheduler knows of one of its hosts." });

const listOrOne = <T extends z.ZodType>(item: T) => z.union([z.array(item), item]);

export const requestSetRequest = z
  .strictObject({
    ...envelopeSchema.shape,
    cluster: envelopeSchema.shape.cluster.optional(),
    nodearrays: listOrOne(nodearraySchema).optional(),
    jobs: listOrOne(jobRequest).optional(),
    schedulerNodes: z.array(hostRequest).optional(),
    pools: z.array(z.union([poolSchema, markSchema])).optional(),
  })
  .meta({
    description:
      "With nodearrays or jobs: everything that a request set needs now; it replaces what the set asked for before. With neither: schedulerNodes, pools or both; the demand stays as it is.",
  });

const seconds = z.number().min(0);
const mode = z.enum(["observe", "act"]);

const timeout = z
  .union([seconds, z.record(text, seconds)])
  .meta({ description: 'One for all node arrays, or by node array; "default": those that are not named.' });

const senderRule = z
  .object({
    requestSets: z.union([text, texts]),
    write: z.boolean().optional(),
    maxPriority: z.number().optional(),
    caps: z.record(text, z.unknown()).optional(),
    hosts: z.boolean().optional(),
    pools: z.boolean().optional(),
    dynamicArrays: z.boolean().optional(),
    attributes: texts.optional(),
  })
  .meta({ description: "What request sets may do: the first rule that names a set counts for it." });

const EXCLUSIVE = { description: "Node arrays that no other tool manages; true: all." };
const documentKeys = {
  $schema: text.meta({ description: "Where editors find the JSON Schema of this document; kept as it is." }),
  idleTimeout: timeout,
  bootTimeout: timeout,
  maxExpirationInterval: seconds,
  inFlightGrace: seconds,
  groupFillTimeout: seconds,
  nodearrays: texts,
  default_resources: z.array(z.record(text, z.unknown())),
  vmSizes: z.record(text, z.unknown()),
  preference,
  among,
  placementGroups: z.record(text, texts),
  caps: z.object({
    requestSets: z.record(text, z.unknown()).optional(),
    users: z.record(text, z.unknown()).optional(),
  }),
  senders: z.array(senderRule),
  prices: z.object({
    currency: text,
    locations: z.record(text, z.record(text, z.unknown())),
    "proxied-locations": z.record(text, text).optional(),
  }),
  planHistory: seconds,
  exclusiveNodearrays: z.union([z.literal(true), texts]).meta(EXCLUSIVE),
  mode: z.union([mode, z.record(text, mode)]),
} satisfies Record<keyof PolicyDocument, z.ZodType>;

const written = z.object(documentKeys).partial({
  $schema: true,
  nodearrays: true,
  default_resources: true,
  vmSizes: true,
  placementGroups: true,
  caps: true,
  senders: true,
  prices: true,
  exclusiveNodearrays: true,
  mode: true,
});

export const configRequest = z
  .looseObject(documentKeys)
  .partial()
  .extend({
    nodearrays: z.union([texts, z.record(text, z.unknown())]).optional(),
    exclusiveNodearrays: z.union([z.boolean(), texts]).optional().meta(EXCLUSIVE),
    enabled: z
      .boolean()
      .optional()
      .meta({ description: "The older form of mode: false is observe, true is act." }),
  })
  .meta({
    description:
      "A cluster's configuration; durations in seconds. Keys of scalelib's autoscale.json are accepted as they are; other keys are refused.",
  });

export const configAnswer = written
  .extend({
    unreadable: z
      .array(problemItem)
      .optional()
      .meta({ description: "Why the stored document cannot be read; what holds instead is shown." }),
    doubts: z.array(problemItem).optional().meta({ description: "What counts and is likely a mistake." }),
    ...observing,
  })
  .meta({ description: "The configuration in force, with its defaults." });

export const configHistory = z
  .object({
    cluster: text,
    changes: z.array(
      z.object({
        number: z.int().min(1),
        at: time.optional().meta({ description: "Absent: it was there before changes were recorded." }),
        who: text.meta({ description: "The signed-in caller. unknown: the platform names none." }),
        rollbackTo: z.int().optional().meta({ description: "It brought back this version." }),
        differences: z.array(z.object({ path: text, before: text.optional(), after: text.optional() })),
        more: z.int().min(0).meta({ description: "Differences that are not listed." }),
      }),
    ),
    ...observing,
  })
  .meta({ description: "Changes of the configuration, newest first." });

export const configWritten = written
  .extend({
    used: z
      .array(z.object({ key: text, as: text }))
      .meta({ description: "Keys of the document that count, and what they count as." }),
    ignored: z
      .array(z.object({ key: text, why: text }))
      .meta({ description: "Keys of the document that change nothing, and why. Values are not repeated." }),
    doubts: z.array(problemItem).meta({ description: "What counts and is likely a mistake." }),
    unknownNodearrays: texts.meta({ description: "Named arrays that the cluster does not have (yet)." }),
    losses: z.array(z.object({ requestSet: text, loses: texts })).meta({
      description: "Live request sets that ask for something that the document does not let them have.",
    }),
    ...observing,
  })
  .meta({ description: "The configuration as it was stored." });
