import { expect, test } from "vitest";
import { describeBuckets } from "../../../src/app/describe/describe-buckets.ts";
import { machineType, placementGroup } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import {
  at,
  buildArray,
  buildBucket,
  buildNodes,
  buildSnapshot,
  D4,
  D8,
  EXECUTE,
  NOW,
  rememberNodes,
} from "../../support/build-node.ts";
import { BUCKET, buildCreate, buildState } from "../../support/build-record.ts";

const rack = placementGroup("rack-1");

test("every bucket of ours with its limits, room, groups and pauses; what was asked for counts as used", () => {
  const nodes = buildNodes("a", 2, { placementGroup: rack });
  const quota = { quotaCores: 40, consumedCores: 8 };
  const seen = buildSnapshot(nodes, {
    limit: { cores: 100 },
    arrays: [
      buildArray("execute", {
        region: "westeurope",
        limit: { count: 20 },
        buckets: [
          buildBucket(D4, 4, {
            availableCount: 6,
            activeCount: 2,
            maxCount: 8,
            familyQuota: quota,
            maxPlacementGroupSize: 3,
            placementGroups: [{ name: rack, activeCount: 2 }],
          }),
          buildBucket(D8, 8, { valid: false, invalidReason: "not offered in the region" }),
        ],
      }),
      buildArray("foreign", { autoscaled: false }),
    ],
  });
  const { record, bodies } = buildState({
    seen,
    ledger: rememberNodes(nodes),
    record: {
      intents: [buildCreate("c", 1)],
      backoffs: [
        {
          bucket: { ...BUCKET, placementGroup: rack },
          until: at(60),
          seconds: 60,
          cause: "refused",
          message: "no capacity",
        },
        { bucket: BUCKET, until: at(-1), seconds: 60, cause: "refused", message: "long ago" },
      ],
    },
  });
  const cluster = {
    limit: "cluster",
    kind: "cluster",
    name: "",
    unit: "cores",
    used: 12,
    max: 100,
    left: 88,
  };
  const array = { limit: "node array execute", kind: "nodearray", name: "execute", unit: "nodes" };
  const common = { nodearray: "execute", spot: false, gpus: 0 };
  const d4 = { ...common, machineType: D4, valid: true, vcpus: 4, memoryGib: 16 };
  expect(describeBuckets(record, bodies, DEFAULT_POLICY, NOW)).toEqual([
    {
      ...d4,
      active: 2,
      available: 5,
      limits: [
        {
          limit: "family quota standardDSv5Family",
          kind: "family-quota",
          name: "standardDSv5Family",
          unit: "cores",
          used: 12,
          max: 40,
          left: 28,
        },
        { ...array, used: 3, max: 20, left: 17 },
        cluster,
        {
          limit: "bucket execute/Standard_D4s_v5",
          kind: "bucket",
          name: "execute/Standard_D4s_v5",
          unit: "nodes",
          used: 3,
          max: 8,
          left: 5,
        },
      ],
    },
    {
      ...d4,
      placementGroup: "rack-1",
      active: 2,
      available: 0,
      closed: expect.stringContaining("no capacity"),
      limits: [
        {
          limit: "placement group execute/Standard_D4s_v5/rack-1",
          kind: "placement-group",
          name: "execute/Standard_D4s_v5/rack-1",
          unit: "nodes",
          used: 2,
          max: 3,
          left: 1,
        },
      ],
      backoff: { until: "2025-11-20T11:01:00.000Z", seconds: 60, cause: "refused", message: "no capacity" },
    },
    {
      ...common,
      machineType: D8,
      valid: false,
      invalidReason: "not offered in the region",
      vcpus: 8,
      memoryGib: 32,
      active: 0,
      available: 0,
      closed: "execute/Standard_D8s_v5: CycleCloud offers no new nodes here (not offered in the region)",
      limits: [
        { ...array, used: 3, max: 20, left: 17 },
        cluster,
        {
          limit: "bucket execute/Standard_D8s_v5",
          kind: "bucket",
          name: "execute/Standard_D8s_v5",
          unit: "nodes",
          used: 0,
          max: 1000,
          left: 1000,
        },
      ],
    },
  ]);
});

test("a cluster that is not started has limits and no room, and one never looked at has no buckets", () => {
  const seen = buildSnapshot([], { state: "Terminated", targetState: "Terminated" });
  const stopped = buildState({ seen });
  const [row, ...others] = describeBuckets(stopped.record, stopped.bodies, DEFAULT_POLICY, NOW);
  expect(others).toEqual([]);
  expect(row).toMatchObject({
    nodearray: EXECUTE,
    available: 0,
    closed: "the cluster is not started (state Terminated, target state Terminated)",
    limits: [{ kind: "bucket", left: 1000 }],
  });
  const unseen = buildState({});
  expect(describeBuckets(unseen.record, unseen.bodies, DEFAULT_POLICY, NOW)).toEqual([]);
});

test("a size of which the status says no GPUs has those that the plan counts", () => {
  const sizes = [machineType("Standard_NC24ads_A100_v4"), D4];
  const seen = buildSnapshot([], {
    arrays: [buildArray("execute", { buckets: sizes.map((size) => buildBucket(size, 4)) })],
  });
  const { record, bodies } = buildState({ seen });
  const rows = describeBuckets(record, bodies, DEFAULT_POLICY, NOW);
  expect(rows.map(({ machineType: size, gpus }) => [size, gpus])).toEqual([
    [sizes[0], 1],
    [D4, 0],
  ]);
});
