import { expect, test } from "vitest";
import { describeHealth } from "../../../src/app/describe/describe-health.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import { at, NOW, PROD } from "../../support/build-node.ts";
import { emptyRecord } from "../../support/sample-record.ts";

/** The first minutes of a record, before its first observation. */

const failed = { at: at(-5), kind: "unreachable", message: "no answer" } as const;

test.each<{ name: string; record: Partial<ClusterRecord>; starting?: true }>([
  { name: "a record of a minute", record: { epochAt: at(-60) }, starting: true },
  { name: "no observation after five minutes", record: { epochAt: at(-300) } },
  { name: "the first observation has failed", record: { epochAt: at(-60), trouble: failed } },
])("$name", ({ record, starting }) => {
  const health = describeHealth({ ...emptyRecord(PROD), ...record }, undefined, DEFAULT_POLICY, NOW);
  expect(health.ok).toBe(false);
  expect(health.starting).toBe(starting);
});

test("after its first observation it is healthy, and starts no more", () => {
  const record = { ...emptyRecord(PROD), epochAt: at(-60), lastGoodLookAt: at(-1) };
  expect(describeHealth(record, undefined, DEFAULT_POLICY, NOW)).toMatchObject({
    ok: true,
    starting: undefined,
  });
});
