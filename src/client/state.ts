import { z } from "zod";
import type { Cluster, Clusters, RequestSetState } from "./answers.ts";
import {
  counts,
  flag,
  listOf,
  number,
  problemPart,
  proposal,
  readerOf,
  rejectedJob,
  text,
  texts,
} from "./readable.ts";

/** Readers of the state, for display: a cluster, one request set, all clusters. */

/** How much of a demand is placed. */
const placed = { id: text, kind: text, unit: text, asked: number, placed: number, pending: number };

const outcome = z.object({ requestSet: text, user: text, ...placed, why: text });

const health = z
  .object({
    ok: flag,
    starting: flag,
    notes: texts,
    warnings: texts,
    lastLookAgeSeconds: number,
    clusterState: text,
  })
  .catch({
    ok: undefined,
    starting: undefined,
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
  countsFor: text,
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

const requestSet = z.object({
  requestSet: text,
  state: text,
  expiresAt: text,
  demands: number,
  rejectedJobs: listOf(rejectedJob),
  report: part,
  pools: part,
});

/** The answer about one request set. Its outcomes have all their reasons. */
const requestSetAlone = requestSet.extend({
  observed: flag,
  revision: number,
  expiresInSeconds: number,
  expectedReadyAt: text,
  withheld: z.object(proposal).optional().catch(undefined),
  outcomes: listOf(
    z.object({
      ...placed,
      reasons: texts,
      metadata: z.record(z.string(), z.unknown()).optional().catch(undefined),
    }),
  ),
});

const state = z.object({
  cluster: text,
  now: text,
  health,
  demandCounts: counts,
  demand: listOf(requestSet.extend({ unmet: number })),
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

export const readState = readerOf<Cluster>()(state);
export const readRequestSetAnswer = readerOf<RequestSetState>()(requestSetAlone);
export const readBuckets = readerOf<Cluster>()(z.object({ buckets: listOf(bucket) }));
export const readClusters = readerOf<Clusters>()(clusters);

export type ClustersAnswer = z.infer<typeof clusters>;
export type StateAnswer = z.infer<typeof state>;
export type BucketAnswer = z.infer<typeof bucket>;
export type PlanAnswer = z.infer<typeof plan>;
export type NodeAnswer = z.infer<typeof node>;
export type RequestSetAnswer = z.infer<typeof requestSetAlone>;
export type OutcomeAnswer = z.infer<typeof outcome>;
