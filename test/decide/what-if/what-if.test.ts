import { expect, test } from "vitest";
import { suppose } from "../../../src/decide/what-if/what-if.ts";
import type { StatusBucket, NodeArray } from "../../../src/domain/cluster.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { LimitChange } from "../../../src/domain/what-if.ts";
import { at, buildArray, buildBucket, buildSnapshot, D4, EXECUTE, NOW } from "../../support/build-node.ts";
import { BUCKET, buildState } from "../../support/build-record.ts";

/** The bucket of one-bucket clusters after the changes. */
function supposeBucket(
  bucket: Partial<StatusBucket>,
  limits: readonly LimitChange[],
  array: Partial<NodeArray> = {},
): StatusBucket | undefined {
  const seen = buildSnapshot([], {
    arrays: [buildArray("execute", { region: "west", ...array, buckets: [buildBucket(D4, 4, bucket)] })],
  });
  const { record, bodies } = buildState({ seen });
  const supposed = suppose(
    record,
    bodies,
    seen,
    { policy: DEFAULT_POLICY, updates: [], limits, buckets: [] },
    NOW,
  );
  return supposed.kind === "state" ? supposed.bodies.seen?.arrays[0]?.buckets[0] : undefined;
}

const family = (more: number): LimitChange => ({
  kind: "family-quota",
  name: "standardDSv5Family",
  unit: "cores",
  change: { more },
});
/** 40 of 80 cores: ten more nodes. */
const quota = { familyQuota: { quotaCores: 80, consumedCores: 40 } };

test.each([
  {
    name: "what the quota bounded rises with the quota",
    bucket: { ...quota, availableCount: 10 },
    limits: [family(20)],
    expected: { availableCount: 15, familyQuota: { quotaCores: 100, consumedCores: 40 } },
  },
  {
    name: "a bucket that is offered less than its limits explain goes on being so",
    bucket: { ...quota, availableCount: 3 },
    limits: [family(20)],
    expected: { availableCount: 3, familyQuota: { quotaCores: 100, consumedCores: 40 } },
  },
  {
    name: "another limit takes over: the array has room for two nodes more than the quota had",
    bucket: { ...quota, availableCount: 10 },
    array: { limit: { count: 12 } },
    limits: [family(400)],
    expected: { availableCount: 12 },
  },
  {
    name: "a most that only the limits explain rises with them",
    bucket: { ...quota, availableCount: 10, maxCount: 20, maxCoreCount: 80 },
    limits: [family(20)],
    expected: { availableCount: 15, maxCount: 25, maxCoreCount: 100 },
  },
  {
    name: "a most of the bucket's own stays",
    bucket: { ...quota, availableCount: 10, maxCount: 12 },
    limits: [family(20)],
    expected: { availableCount: 15, maxCount: 12 },
  },
  {
    name: "a smaller limit takes nothing off what is offered: the limit itself bounds it",
    bucket: { ...quota, availableCount: 10 },
    limits: [family(-30)],
    expected: { availableCount: 10, familyQuota: { quotaCores: 50, consumedCores: 40 } },
  },
  {
    name: "the bucket itself may hold more",
    bucket: { availableCount: 2, activeCount: 3, maxCount: 5 },
    limits: [
      { kind: "bucket", name: `execute/${D4}`, unit: "nodes", change: { more: 4 } } satisfies LimitChange,
    ],
    expected: { availableCount: 6, maxCount: 9 },
  },
])("$name", ({ bucket, limits, array, expected }) => {
  expect(supposeBucket(bucket, limits, array)).toMatchObject(expected);
});

test("an enabled bucket is offered and not paused; what its limits leave is all that bounds it", () => {
  const seen = buildSnapshot([], {
    arrays: [
      buildArray("execute", {
        buckets: [buildBucket(D4, 4, { valid: false, availableCount: 0, activeCount: 1, maxCount: 7 })],
      }),
    ],
  });
  const pause = { until: at(60), seconds: 60, cause: "refused", message: "no" } as const;
  const { record, bodies } = buildState({ seen, record: { backoffs: [{ bucket: BUCKET, ...pause }] } });
  const enabled = [{ array: EXECUTE, machineType: D4, enabled: true }];
  const supposed = suppose(
    record,
    bodies,
    seen,
    { policy: DEFAULT_POLICY, updates: [], limits: [], buckets: enabled },
    NOW,
  );
  expect(supposed).toMatchObject({
    kind: "state",
    record: { backoffs: [] },
    bodies: { seen: { arrays: [{ buckets: [{ valid: true, availableCount: 6 }] }] } },
  });
});
