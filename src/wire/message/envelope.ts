import * as z from "zod";
import { nameSchema, isName } from "../json/name.ts";
import type { Seconds } from "../../domain/units.ts";
import type { Problem } from "../../domain/demand.ts";
import { nearest, problemShowing } from "../json/problem.ts";
import { someOf } from "../../domain/text.ts";
import type { Fields } from "../../domain/fields.ts";

export const DEFAULT_SET = "standard";

const DEFAULT_INTERVAL_SECONDS: Seconds = 300;

const INTERVAL = "a number of seconds above 0";

/** In milliseconds since 1970: March 1973. Smaller values are seconds, and would lose against every message without a revision. */
const LEAST_REVISION = 1e11;

const REVISION = "a whole number: milliseconds since 1970";

const NOT_SECONDS = `milliseconds since 1970, ${LEAST_REVISION} or more: this looks like seconds; multiply by 1000`;

export const version = z.literal(1, { error: "1" });

const revision = z.int({ error: REVISION }).min(LEAST_REVISION, {
  error: ({ input }) => (Number(input) < 0 ? REVISION : NOT_SECONDS),
});

const interval = z.number({ error: INTERVAL }).positive({ error: INTERVAL });

/** The envelope of a demand message (docs/demand.md). The lists inside have their own readers. */
export const envelopeSchema = z.strictObject(
  {
    version,
    cluster: nameSchema,
    requestSet: nameSchema.default(DEFAULT_SET),
    revision: revision.optional(),
    expirationInterval: interval.default(DEFAULT_INTERVAL_SECONDS),
    nodearrays: z.unknown().optional(),
    jobs: z.unknown().optional(),
    schedulerNodes: z.unknown().optional(),
    pools: z.unknown().optional(),
    readAt: revision.optional(),
    others: z.literal("stay", { error: '"stay"' }).optional(),
  },
  { error: "an object: a demand message" },
);

export type Envelope = z.infer<typeof envelopeSchema>;

const MOST_NAMES_SHOWN = 20;

/** The problem of a cluster that is not configured. An invalid name is a problem of the envelope. */
export function clusterProblems(message: Fields, known: ReadonlySet<string> | undefined): readonly Problem[] {
  const { cluster } = message;
  if (known === undefined || !isName(cluster) || known.has(cluster)) return [];
  const names = [...known];
  const shown = someOf(names, MOST_NAMES_SHOWN) || "none configured";
  return [problemShowing("cluster", cluster, `a known cluster: ${shown}`, nearest(cluster, names))];
}
