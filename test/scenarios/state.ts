import { z } from "zod";

/** The part of the state page (`GET /api/clusters/{cluster}`) that these tests read. */
const page = z.object({
  health: z.object({
    ok: z.boolean(),
    starting: z.boolean().optional(),
    notes: z.array(z.string()),
    warnings: z.array(z.string()),
    trouble: z.object({ kind: z.string(), message: z.string() }).optional(),
    restingUntil: z.string().optional(),
  }),
  plan: z
    .object({
      unmetCount: z.number(),
      withheld: z
        .object({
          creates: z.array(z.object({ bucket: z.string(), count: z.number() })),
          starts: z.array(z.string()),
          terminates: z.array(z.string()),
        })
        .optional(),
      unmet: z.array(z.object({ id: z.string(), reasons: z.array(z.string()) })),
    })
    .optional(),
  nextLookAt: z.string().optional(),
  troubles: z.array(z.object({ kind: z.string(), text: z.string(), count: z.number() })),
  nodes: z.object({
    count: z.number(),
    byPhase: z.record(z.string(), z.number()),
    kept: z.object({ count: z.number() }).optional(),
    list: z.array(
      z.object({
        nodeId: z.string(),
        name: z.string(),
        phase: z.string(),
        why: z.string(),
        countsFor: z.string(),
        released: z.string().optional(),
      }),
    ),
  }),
  nodearrays: z.array(
    z.object({
      name: z.string(),
      dynamic: z.literal(true).optional(),
      exists: z.boolean().optional(),
      extends: z.string().optional(),
      flaggedForRemoval: z.boolean().optional(),
      target: z.object({ nodes: z.number(), cores: z.number() }),
      count: z.number(),
      askedBy: z.array(z.string()),
      problem: z.string().optional(),
      oldNodes: z.array(z.string()).optional(),
    }),
  ),
  groups: z.array(
    z.object({
      name: z.string(),
      extends: z.string(),
      requestSets: z.array(z.string()),
      groupsWanted: z.number(),
      groupsWhole: z.number(),
      nodes: z.number(),
      nodesReady: z.number(),
      ungrouped: z.string().optional(),
      groups: z.array(
        z.object({
          id: z.string().optional(),
          bucket: z.string(),
          machineType: z.string(),
          state: z.string(),
          nodesWanted: z.number(),
          nodes: z.number(),
          nodesReady: z.number(),
          since: z.string().optional(),
          givenUpAt: z.string().optional(),
          why: z.string(),
        }),
      ),
    }),
  ),
  outcomes: z.array(z.object({ id: z.string(), asked: z.number() })),
  alone: z.array(z.object({ bucket: z.string(), dynamicArray: z.string().optional() })),
  backoffs: z.array(
    z.object({ bucket: z.string(), cause: z.string(), message: z.string(), until: z.string() }),
  ),
  generation: z.number(),
  observedGeneration: z.number(),
});

export type ClusterState = z.infer<typeof page>;

export function readState(body: unknown): ClusterState {
  return page.parse(body);
}
