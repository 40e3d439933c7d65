import { z } from "zod";

/**
 * Readers of the API's answers for who shows them to people. They take what they know and can read, and leave out the rest: an app of
 * another release may say more, or less.
 */

const text = z.string().optional().catch(undefined);
const number = z.number().optional().catch(undefined);
const flag = z.boolean().optional().catch(undefined);
const texts = z.array(z.string()).catch([]);
const counts = z.record(z.string(), z.number()).catch({});
const listOf = <T extends z.ZodType>(item: T) => z.array(item).catch([]);

const outcome = z.object({
  requestSet: text,
  id: text,
  user: text,
  kind: text,
  unit: text,
  asked: number,
  placed: number,
  pending: number,
  why: text,
});

const unmet = z.object({
  requestSet: text,
  id: text,
  unit: text,
  asked: number,
  placed: number,
  reasons: texts,
  binding: text,
});

const health = z
  .object({ ok: flag, notes: texts, warnings: texts, lastLookAgeSeconds: number, clusterState: text })
  .catch({
    ok: undefined,
    notes: [],
    warnings: [],
    lastLookAgeSeconds: undefined,
    clusterState: undefined,
  });

const limit = z.object({ limit: text, unit: text, used: number, max: number, left: number });

const bucket = z.object({
  nodearray: text,
  machineType: text,
  placementGroup: text,
  spot: flag,
  vcpus: number,
  memoryGib: number,
  gpus: number,
  price: number,
  active: number,
  available: number,
  closed: text,
  limits: listOf(limit),
});

const proposal = {
  creates: listOf(z.object({ bucket: text, count: number })),
  starts: texts,
  terminates: texts,
};

const plan = z.object({
  number: number,
  at: text,
  demands: number,
  mode: text,
  observed: texts,
  ...proposal,
  withheld: z.object(proposal).optional().catch(undefined),
  virtual: z.object(proposal).optional().catch(undefined),
});

const cause = z.object({
  text,
  demands: number,
  first: z.object({ requestSet: text, id: text }).optional().catch(undefined),
});

const waiting = z.object({
  unmet: number,
  missing: listOf(z.object({ unit: text, amount: number })),
  onTheirWay: number,
  reasons: listOf(cause),
  remedies: listOf(cause),
});

const node = z.object({
  name: text,
  array: text,
  machineType: text,
  placementGroup: text,
  phase: text,
  status: text,
  hostname: text,
  busyness: text,
  madeBy: text,
  ownership: text,
  why: text,
  verdict: text,
  firstSeenAt: text,
  expectedReadyAt: text,
});

const part = z.object({ live: flag, expiresAt: text }).optional().catch(undefined);

const problemPart = z.object({
  path: z.string(),
  found: z.string(),
  expected: z.string(),
  didYouMean: text,
});

const rejectedJob = z.object({ name: text, problems: listOf(problemPart) });

const requestSet = z.object({
  requestSet: text,
  state: text,
  expiresAt: text,
  demands: number,
  unmet: number,
  rejectedJobs: listOf(rejectedJob),
  report: part,
  pools: part,
});

/** One request set by itself: its outcomes carry all their reasons. */
const requestSetAlone = requestSet.extend({
  observed: flag,
  revision: number,
  expiresInSeconds: number,
  expectedReadyAt: text,
  withheld: z.object(proposal).optional().catch(undefined),
  outcomes: listOf(
    outcome.extend({
      reasons: texts,
      metadata: z.record(z.string(), z.unknown()).optional().catch(undefined),
    }),
  ),
});

const state = z.object({
  cluster: text,
  now: text,
  health,
  demandCounts: z.record(z.string(), z.number()).catch({}),
  demand: listOf(requestSet),
  plan: plan.optional().catch(undefined),
  nodes: z
    .object({ count: number, byPhase: counts, byVerdict: counts, list: listOf(node) })
    .catch({ count: undefined, byPhase: {}, byVerdict: {}, list: [] }),
  choice: z
    .object({ prices: z.object({ currency: text }).optional().catch(undefined) })
    .optional()
    .catch(undefined),
  nodearrays: listOf(
    z.object({ name: text, managed: flag, mode: text, idleTimeout: number, bootTimeout: number }),
  ),
  buckets: listOf(bucket),
  stopKeys: listOf(z.object({ keyId: text, nodes: number, configured: flag, signing: flag })),
  outcomes: listOf(outcome),
  waiting: waiting.optional().catch(undefined),
  troubles: listOf(z.object({ kind: text, text, count: number })),
  inFlight: listOf(z.object({ bucket: text, stillToShow: number })),
});

const rejectedMessage = z.object({
  messageId: text,
  rejectedAt: text,
  cluster: text,
  set: text,
  problems: listOf(problemPart),
});

const lastWake = z.object({ id: text, at: text }).optional().catch(undefined);

const clusters = z.object({
  version: text,
  time: text,
  timerAt: text,
  clusters: listOf(z.object({ cluster: text, health, lastWake })),
  poisonMessages: z.object({ count: number, oldestAgeSeconds: number }).optional().catch(undefined),
  rejectedMessages: z
    .object({ count: number, oldestAgeSeconds: number, oldest: listOf(rejectedMessage) })
    .optional()
    .catch(undefined),
});

const history = z.object({
  keptPlans: z.array(z.number()).catch([]),
  rows: listOf(
    z.object({
      at: text,
      plan: number,
      nodes: z.record(z.string(), z.number()).catch({}),
      inFlight: number,
      liveSets: number,
      created: number,
      terminated: number,
      unmet: number,
      mode: text,
      withheld: z.record(z.string(), z.number()).optional().catch(undefined),
      idle: number,
      pricePerHour: number,
      idlePricePerHour: number,
      currency: text,
      unpricedNodes: number,
      callSeconds: z.record(z.string(), z.number()).optional().catch(undefined),
    }),
  ),
});

const triedCreate = z.object({
  nodearray: text,
  machineType: text,
  placementGroup: text,
  count: number,
});

/** A dry run: what would be done, and how that differs from what would be done anyway. */
const dryRun = z.object({
  currency: text,
  acting: flag,
  mode: text,
  observed: texts,
  plan: z.object({
    creates: listOf(triedCreate),
    starts: texts,
    terminates: texts,
    demands: number,
    unmet: number,
    pricePerHour: number,
    outcomes: listOf(unmet),
  }),
  difference: z
    .object({
      nodesCreated: number,
      pricePerHour: number,
      demands: listOf(
        z.object({
          requestSet: text,
          id: text,
          unit: text,
          asked: number,
          placed: number,
          askedWithout: number,
          placedWithout: number,
        }),
      ),
    })
    .optional()
    .catch(undefined),
  rejectedJobs: listOf(z.object({ requestSet: text, jobs: listOf(z.object({ name: text })) })),
});

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

const explanation = z.object({ text });

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

/** One piece of an answer that cannot be read makes all of it unreadable only if it is no object at all. */
const reader =
  <T extends z.ZodType>(schema: T) =>
  (body: unknown): z.infer<T> | undefined =>
    schema.safeParse(body).data;

export const readState = reader(state);
export const readRequestSetAnswer = reader(requestSetAlone);
export const readBuckets = reader(z.object({ buckets: listOf(bucket) }));
export const readClusters = reader(clusters);
export const readHistory = reader(history);
export const readDryRun = reader(dryRun);
export const readExplanation = reader(explanation);
export const readTick = reader(tick);
export const readWake = reader(wake);
export const readRestored = reader(restored);
export const readConfigNotes = reader(configNotes);
export const readAccepted = reader(accepted);
export const readProblemAnswer = reader(problem);

export type ClustersAnswer = z.infer<typeof clusters>;
export type StateAnswer = z.infer<typeof state>;
export type BucketAnswer = z.infer<typeof bucket>;
export type HistoryAnswer = z.infer<typeof history>;
export type DryRunAnswer = z.infer<typeof dryRun>;
export type PlanAnswer = z.infer<typeof plan>;
export type HistoryRowAnswer = HistoryAnswer["rows"][number];
export type NodeAnswer = z.infer<typeof node>;
export type RequestSetAnswer = z.infer<typeof requestSetAlone>;
export type OutcomeAnswer = z.infer<typeof outcome>;
