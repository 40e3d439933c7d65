import { expect, test } from "vitest";
import { readStatus } from "../../../src/adapters/cyclecloud/read-status.ts";
import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import { bucketText } from "../../../src/domain/bucket.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import { needing } from "../../support/build-constraints.ts";
import { NOW, PROD } from "../../support/build-node.ts";
import { buildJob, buildState, OURS } from "../../support/build-record.ts";

/** A bucket as the REST API's document has it: its quota is not told apart by family and region. */
const bucket = (machineType: string, cores: number, quotaCoreCount = 32) => ({
  bucketId: machineType,
  definition: { machineType },
  maxCount: 100,
  activeCount: 0,
  availableCount: 100,
  quotaCount: Math.floor(quotaCoreCount / cores),
  quotaCoreCount,
  consumedCoreCount: 0,
  maxPlacementGroupSize: 40,
  valid: true,
  placementGroups: [],
  virtualMachine: { vcpuCount: cores, memory: cores * 4, infiniband: false },
});

function plan(buckets: readonly ReturnType<typeof bucket>[], slots: number, cores: number) {
  const body = {
    state: "Started",
    targetState: "Started",
    maxCount: 100,
    maxCoreCount: 10_000,
    nodearrays: [{ name: "execute", maxCount: 100, maxCoreCount: 10_000, buckets }],
    nodes: [],
  };
  const reading = readStatus(body, PROD, NOW);
  if (reading.kind !== "snapshot") throw new Error(`read as ${reading.kind}`);
  const demands = [buildJob("j", slots, { constraints: needing({ ncpus: cores }) })];
  const state = buildState({ sets: { standard: { demands } } });
  const observation = { snapshot: reading.snapshot, requestNodes: new Map() };
  return decide(state.record, state.bodies, observation, DEFAULT_POLICY, NOW, OURS).plan;
}

const creates = (made: ReturnType<typeof plan>): readonly string[] =>
  made.creates.map((create) => `${create.count} of ${bucketText(create.bucket)}`);

test("two sizes of one family have its 32 cores between them", () => {
  const made = plan([bucket("Standard_F4", 4), bucket("Standard_F8", 8)], 20, 4);
  expect(
    made.creates.reduce(
      (sum, { count, bucket: { machineType } }) => sum + count * (machineType === "Standard_F4" ? 4 : 8),
      0,
    ),
  ).toBe(32);
  expect(made.demands[0]?.placed).toBe(8);
  expect(made.demands[0]?.reasons.map(renderReason)[0]).toContain(
    "family quota standardFFamily: 32 of 32 cores used",
  );
});

test("sizes of two families have each their own", () => {
  const made = plan([bucket("Standard_F4", 4), bucket("Standard_D4s_v5", 4)], 20, 4);
  expect(creates(made)).toEqual(["8 of execute/Standard_F4", "8 of execute/Standard_D4s_v5"]);
});

test("what the rest of the subscription uses is not asked for", () => {
  const made = plan([{ ...bucket("Standard_F4", 4), consumedCoreCount: 24 }], 20, 4);
  expect(creates(made)).toEqual(["2 of execute/Standard_F4"]);
});
