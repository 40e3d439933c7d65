import { expect } from "vitest";
import { z } from "zod";
import type { LocalApp } from "../support/local-app.ts";
import { PATIENCE_MS, paced } from "../support/patience.ts";

/*
 * Shared by the tests of the HTTP API: the part of the state page that they read, and a demand for nodes.
 */

/** The speed of the app's clock: there is a tick every three real seconds, and a node is up within a tick. */
export const SPEED = paced(20);
export const patiently = { timeout: PATIENCE_MS, interval: 50 };
export const problemJson = "application/problem+json";

const statePage = z.object({
  health: z.object({ ok: z.boolean(), notes: z.array(z.string()) }),
  demand: z.array(z.object({ requestSet: z.string(), state: z.string(), unmet: z.number() })),
  plan: z
    .object({
      number: z.number(),
      demands: z.number(),
      unmet: z.array(z.object({ id: z.string(), reasons: z.array(z.string()) })),
    })
    .optional(),
  nodes: z.object({
    count: z.number(),
    byPhase: z.record(z.string(), z.number()),
    list: z.array(
      z.object({
        name: z.string(),
        array: z.string(),
        phase: z.string(),
        instanceId: z.string().optional(),
        why: z.string(),
      }),
    ),
  }),
  generation: z.number(),
  observedGeneration: z.number(),
});

export const arraysPage = z.object({ nodearrays: z.array(z.looseObject({ name: z.string() })) });

/** The state page of the cluster. Fails if there is none. */
export async function stateOf(app: LocalApp, cluster: string): Promise<z.infer<typeof statePage>> {
  const { status, body } = await app.call("GET", `/api/clusters/${encodeURIComponent(cluster)}`);
  expect(status).toBe(200);
  return statePage.parse(body);
}

export const target = (count: number, more: object = {}) => ({
  version: 1,
  nodearrays: [{ Name: "execute", TargetCount: count }],
  ...more,
});
