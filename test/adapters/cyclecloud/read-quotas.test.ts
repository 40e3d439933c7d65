import { describe, expect, test } from "vitest";
import { readNodeArray } from "../../../src/adapters/cyclecloud/read-nodearray.ts";

const quota = (quotaCores: number, consumedCores: number) => ({ quotaCores, consumedCores });

/** As the REST API's document has it: nothing of family and region. */
const OLDER = { quotaCount: 8, quotaCoreCount: 32, consumedCoreCount: 4 };
const FAMILY = { familyQuotaCount: 25, familyQuotaCoreCount: 100, familyConsumedCoreCount: 8 };
const REGION = { regionalQuotaCount: 50, regionalQuotaCoreCount: 200, regionalConsumedCoreCount: 40 };

/** The quotas of a bucket of a size with 4 vCPUs. */
function quotasOf(bucket: object, spot: boolean) {
  const definition = { machineType: "Standard_F4" };
  const buckets = [{ ...bucket, definition, virtualMachine: { vcpuCount: 4 } }];
  const read = readNodeArray({ name: "a", nodearray: { Interruptible: spot }, buckets })?.array.buckets[0];
  if (read === undefined) throw new Error("the bucket is there");
  const { familyQuota, regionalQuota } = read;
  return { familyQuota, regionalQuota };
}

describe("on demand", () => {
  test.each([
    { said: "nothing", bucket: {}, expected: {} },
    { said: "one quota", bucket: OLDER, expected: { familyQuota: quota(32, 4) } },
    {
      said: "one quota, and nothing of what is used",
      bucket: { quotaCoreCount: 32 },
      expected: { familyQuota: quota(32, 0) },
    },
    { said: "one quota in nodes", bucket: { quotaCount: 2 }, expected: { familyQuota: quota(8, 0) } },
    {
      said: "more used than allowed",
      bucket: { quotaCoreCount: 8, consumedCoreCount: 16 },
      expected: { familyQuota: quota(8, 16) },
    },
    {
      said: "all: those of family and region count",
      bucket: { ...OLDER, ...FAMILY, ...REGION },
      expected: { familyQuota: quota(100, 8), regionalQuota: quota(200, 40) },
    },
    {
      said: "one quota and the region's",
      bucket: { ...OLDER, ...REGION },
      expected: { familyQuota: quota(32, 4), regionalQuota: quota(200, 40) },
    },
    {
      said: "one quota and a larger one of the family: it is the region's",
      bucket: { ...OLDER, ...FAMILY },
      expected: { familyQuota: quota(100, 8), regionalQuota: quota(32, 4) },
    },
    {
      said: "one quota that is the family's",
      bucket: { ...FAMILY, quotaCoreCount: 100, consumedCoreCount: 8 },
      expected: { familyQuota: quota(100, 8) },
    },
  ])("$said", ({ bucket, expected }) => {
    expect(quotasOf(bucket, false)).toEqual(expected);
  });
});

describe("spot", () => {
  test.each([
    { said: "one quota: the region's for spot", bucket: OLDER, expected: { regionalQuota: quota(32, 4) } },
    { said: "0 of 0, which says nothing", bucket: { quotaCoreCount: 0, consumedCoreCount: 0 }, expected: {} },
    {
      said: "0 of 0 of the family, and the region's",
      bucket: { ...REGION, familyQuotaCoreCount: 0, familyConsumedCoreCount: 0, quotaCoreCount: 0 },
      expected: { regionalQuota: quota(200, 40) },
    },
  ])("$said", ({ bucket, expected }) => {
    expect(quotasOf(bucket, true)).toEqual(expected);
  });
});

test("a count of nodes says nothing of a size that is not described", () => {
  const reading = readNodeArray({
    name: "a",
    buckets: [{ definition: { machineType: "Standard_F4" }, quotaCount: 3 }],
  });
  expect(reading?.array.buckets[0]?.familyQuota).toBeUndefined();
});
