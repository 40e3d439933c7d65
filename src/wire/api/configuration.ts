import { z } from "zod";
import type { BuiltAnswer } from "./parts.ts";
import { among, count, observing, preference, problemItem, text, texts, time } from "./parts.ts";
import type { Shown, Sparse } from "./shown.ts";

/** The configuration document of a cluster, and the answers about it. */

const seconds = z.number().min(0);
const mode = z.enum(["observe", "act"]);

const timeout = z
  .union([seconds, z.record(text, seconds)])
  .meta({ description: 'One for all node arrays, or by node array; "default": those that are not named.' });

const endSeconds = z.union([seconds, z.literal("never")]);
const endTimeout = z
  .union([endSeconds, z.record(text, endSeconds)])
  .meta({ description: 'As the other timeouts; "never": a person decides.' });

const owned = z.union([z.boolean(), texts]);
const senderRule = z
  .object({
    requestSets: z.union([text, texts]),
    write: z.boolean().optional(),
    maxPriority: z.number().optional(),
    caps: z.record(text, z.unknown()).optional(),
    share: z.number().min(0).optional(),
    hosts: z.boolean().optional(),
    pools: owned.optional(),
    dynamicArrays: owned.optional(),
    nodeNames: owned.optional(),
    attributes: texts.optional(),
    configuration: z
      .union([texts, z.record(text, texts)])
      .optional()
      .meta({
        description:
          'The only free keys of Configuration, for all node arrays or by node array; "default": those that are not named.',
      }),
  })
  .meta({ description: "What request sets may do: the first rule that names a set counts for it." });

const caps = z.object({
  requestSets: z.record(text, z.unknown()).optional(),
  users: z.record(text, z.unknown()).optional(),
});

const prices = z.object({
  currency: text,
  locations: z.record(text, z.record(text, z.unknown())),
  "proxied-locations": z.record(text, text).optional(),
  deallocated: z
    .number()
    .optional()
    .meta({ description: "What the disks of one deallocated node cost per hour." }),
});

const EXCLUSIVE = { description: "Node arrays that no other tool manages; true: all." };
const documentKeys = {
  $schema: text.meta({ description: "Where editors find the JSON Schema of this document; kept as it is." }),
  idleTimeout: timeout,
  bootTimeout: timeout,
  downTimeout: endTimeout,
  failedTimeout: endTimeout,
  deallocatedTimeout: endTimeout,
  maxExpirationInterval: seconds,
  inFlightGrace: seconds,
  groupFillTimeout: seconds,
  nodearrays: texts,
  default_resources: z.array(z.record(text, z.unknown())),
  vmSizes: z.record(text, z.unknown()),
  preference,
  among,
  mixes: z
    .enum(["on", "off"])
    .meta({ description: "Whether mixes of VM sizes under shared limits are looked for." }),
  placementGroups: z.record(text, texts),
  caps,
  senders: z.array(senderRule),
  prices,
  planHistory: seconds,
  exclusiveNodearrays: z.union([z.literal(true), texts]).meta(EXCLUSIVE),
  named: texts.meta({ description: "Node arrays in which only targets that name their nodes create any." }),
  mode: z.union([mode, z.record(text, mode)]),
};

const written = z.object(documentKeys).partial({
  $schema: true,
  downTimeout: true,
  failedTimeout: true,
  deallocatedTimeout: true,
  nodearrays: true,
  default_resources: true,
  vmSizes: true,
  placementGroups: true,
  caps: true,
  senders: true,
  prices: true,
  exclusiveNodearrays: true,
  named: true,
  mixes: true,
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
    read_only: z
      .boolean()
      .optional()
      .meta({ description: "scalelib's key: true is mode observe. Refused beside a mode that says act." }),
  })
  .meta({
    description:
      "A cluster's configuration; durations in seconds. Keys of scalelib's autoscale.json are accepted as they are; other keys are refused.",
  });

export const configPatch = z
  .strictObject({
    set: z
      .record(text, z.unknown())
      .optional()
      .meta({ description: "Values by path. A value replaces what is there, lists whole." }),
    unset: texts.optional().meta({ description: "Paths of keys that go away." }),
    ifVersion: z.int().min(0).optional().meta({
      description:
        "The version that was seen: 409 if the same keys have changed since. Absent: the one in force.",
    }),
  })
  .meta({
    description:
      'A change of single keys. A path joins keys with dots; a key with a dot is quoted: caps.users["anna.smith"].nodes.',
  });

const version = z.int().min(0).meta({ description: "Its number in the history. 0: nothing was ever put." });

export const configAnswer = written
  .extend({
    version: version.optional().meta({ description: "Its number in the history, as in the header ETag." }),
    unreadable: z
      .array(problemItem)
      .optional()
      .meta({ description: "Why the stored document cannot be read; what holds instead is shown." }),
    doubts: z.array(problemItem).optional().meta({ description: "What counts and is likely a mistake." }),
    ...observing,
  })
  .meta({ description: "The configuration in force, with its defaults." });

const difference = z.object({
  path: text.meta({ description: 'As "prices.currency". Lists are compared as a whole.' }),
  before: text.optional().meta({ description: "As JSON, cut if it is long. Absent: it was not there." }),
  after: text.optional().meta({ description: "As JSON, cut if it is long. Absent: it is not there." }),
});

export const configHistory = z
  .object({
    cluster: text,
    changes: z.array(
      z.object({
        number: z.int().min(1),
        at: time.optional().meta({ description: "Absent: it was there before changes were recorded." }),
        who: text.meta({ description: "The signed-in caller. unknown: the platform names none." }),
        rollbackTo: z.int().optional().meta({ description: "It brought back this version." }),
        differences: z.array(difference),
        more: z.int().min(0).meta({ description: "Differences that are not listed." }),
      }),
    ),
    ...observing,
  })
  .meta({ description: "Changes of the configuration, newest first." });

const usedKey = z.object({
  key: text.meta({ description: 'With its path, as "nodearrays.hpc.placement_groups".' }),
  as: text.meta({ description: "The app's key for it, with the value if it is a timeout." }),
});

const ignoredKey = z.object({ key: text, why: text });

const left = z.object({
  effect: z.enum(["create", "start", "terminate", "deallocate"]),
  nodes: count,
  nodearrays: texts,
  until: time.meta({ description: "It is not sent after this." }),
});

export const configWritten = written
  .extend({
    used: z.array(usedKey).meta({ description: "Keys of the document that count, and what they count as." }),
    ignored: z
      .array(ignoredKey)
      .meta({ description: "Keys of the document that change nothing, and why. Values are not repeated." }),
    doubts: z.array(problemItem).meta({ description: "What counts and is likely a mistake." }),
    unknownNodearrays: texts.meta({ description: "Named arrays that the cluster does not have (yet)." }),
    underWay: z
      .array(left)
      .meta({ description: "Requests that were committed before this change, and may still be sent." }),
    losses: z.array(z.object({ requestSet: text, loses: texts })).meta({
      description: "Live request sets that ask for something that the document does not let them have.",
    }),
    version,
    differences: z
      .array(difference)
      .meta({ description: "What changed. Empty: this configuration was in force." }),
    more: z.int().min(0).meta({ description: "Differences that are not listed." }),
    notes: texts.meta({ description: "What was written beside what was asked for, and why." }),
    ...observing,
  })
  .meta({ description: "The configuration as it was stored." });

/** The configuration document, as written and as GET shows it. */
export type PolicyDocument = Sparse<typeof written>;
export type CapsDocument = Sparse<typeof caps>;
export type PricesDocument = Sparse<typeof prices>;
export type SenderDocument = Sparse<typeof senderRule>;

/** The document in an answer, and what the answer says of it. */
type WithDocument<S extends z.ZodType> = PolicyDocument & Omit<BuiltAnswer<S>, keyof PolicyDocument>;
export type ConfigurationShown = WithDocument<typeof configAnswer>;
export type ConfigurationWrittenShown = WithDocument<typeof configWritten>;
export type ConfigurationHistoryShown = BuiltAnswer<typeof configHistory>;
export type ConfigurationChangeShown = ConfigurationHistoryShown["changes"][number];
export type LeftShown = ConfigurationWrittenShown["underWay"][number];
export type LossShown = ConfigurationWrittenShown["losses"][number];
/** One value that differs between two documents. */
export type ConfigDifference = ConfigurationChangeShown["differences"][number];
/** What each key of a document counts as, or why it does not count. */
export type ConfigReport = Pick<ConfigurationWrittenShown, "used" | "ignored">;
export type UsedKey = ConfigReport["used"][number];
export type IgnoredKey = ConfigReport["ignored"][number];
/** The members that the answers add to the document. */
export type MemberOfAnswer = Exclude<
  keyof Shown<typeof configAnswer> | keyof Shown<typeof configWritten>,
  keyof PolicyDocument
>;
