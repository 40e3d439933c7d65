import { describe, expect, test } from "vitest";
import { describeBuckets } from "../../../src/app/describe/describe-buckets.ts";
import { raiseLimits } from "../../../src/decide/what-if/raise-limits.ts";
import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import { bucketText } from "../../../src/domain/bucket.ts";
import type { StatusBucket, NodeArray } from "../../../src/domain/cluster.ts";
import { machineType } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import type { Problem } from "../../../src/domain/demand.ts";
import type { LimitChange } from "../../../src/domain/what-if.ts";
import table from "../../../src/domain/vm-sizes.json" with { type: "json" };
import { buildArray, buildBucket, buildSnapshot, NOW } from "../../support/build-node.ts";
import { buildState, buildTarget, OURS } from "../../support/build-record.ts";

const size = (
  type: string,
  vcpus: number,
  quotaCores: number,
  more: Partial<StatusBucket> = {},
): StatusBucket =>
  buildBucket(machineType(type), vcpus, { familyQuota: { quotaCores, consumedCores: 0 }, ...more });

const target = (type: string, count: number, position = 0) =>
  buildTarget(count, { id: type, machineTypes: [machineType(type)], position });

function plan(arrays: readonly NodeArray[], demands: readonly ReturnType<typeof target>[]) {
  const state = buildState({ sets: { standard: { demands } } });
  const observation = { snapshot: buildSnapshot([], { arrays }), requestNodes: new Map() };
  return decide(state.record, state.bodies, observation, DEFAULT_POLICY, NOW, OURS).plan;
}

const creates = (made: ReturnType<typeof plan>): readonly string[] =>
  made.creates.map(({ bucket, count }) => `${count} of ${bucketText(bucket)}`);

const reasons = (made: ReturnType<typeof plan>): readonly string[] =>
  made.demands.flatMap((outcome) => outcome.reasons.map(renderReason));

function describeAll(arrays: readonly NodeArray[]) {
  const { record, bodies } = buildState({ seen: buildSnapshot([], { arrays }) });
  return describeBuckets(record, bodies, DEFAULT_POLICY, NOW);
}

describe("sizes of one family share its quota", () => {
  const h100 = [
    buildArray("execute", {
      buckets: [size("Standard_NC40ads_H100_v5", 40, 80), size("Standard_NC80adis_H100_v5", 80, 80)],
    }),
  ];

  test("NC40ads and NC80adis of the H100 have 80 cores between them", () => {
    const made = plan(h100, [
      target("Standard_NC40ads_H100_v5", 1),
      target("Standard_NC80adis_H100_v5", 1, 1),
    ]);
    expect(creates(made)).toEqual(["1 of execute/Standard_NC40ads_H100_v5"]);
    expect(reasons(made)).toEqual([
      "family quota StandardNCadsH100v5Family: 40 of 80 cores used, 80 more needed, 40 left",
    ]);
  });

  test("1,414 sizes with one quota each count against the 186 families of the table", () => {
    const buckets = Object.keys(table).map((name) => size(name, 1, 8));
    const rows = describeAll([buildArray("execute", { buckets })]);
    expect(rows.length).toBe(1414);
    const names = rows.map(({ machineType: type, limits }) => [type, limits[0]?.name]);
    expect(names).toEqual(Object.entries(table).map(([name, [family]]) => [name, family]));
    expect(new Set(names.map(([, family]) => family)).size).toBe(186);
  });

  test("two families with the same quota are not taken for one", () => {
    const made = plan(
      [buildArray("execute", { buckets: [size("Standard_A7", 8, 8), size("Standard_A8", 8, 8)] })],
      [target("Standard_A7", 1), target("Standard_A8", 1, 1)],
    );
    expect(creates(made)).toEqual(["1 of execute/Standard_A7", "1 of execute/Standard_A8"]);
  });

  test("arrays of two subscriptions have two quotas of one family", () => {
    const arrays = [
      buildArray("execute", { buckets: [size("Standard_F4", 4, 4)] }),
      buildArray("other", { buckets: [size("Standard_F4", 4, 8)] }),
    ];
    expect(describeAll(arrays).map(({ limits }) => limits[0]?.max)).toEqual([4, 8]);
  });

  test("the name on Azure's quota page is the one that is shown", () => {
    const made = plan(
      [buildArray("execute", { buckets: [size("Standard_HC44rs", 44, 44)] })],
      [target("Standard_HC44rs", 2)],
    );
    expect(reasons(made)).toEqual([
      "family quota standardHCSFamily: 44 of 44 cores used, 44 more needed, 0 left",
    ]);
  });
});

describe("a family that is guessed", () => {
  const guessed = [buildArray("execute", { buckets: [size("Standard_Q8s_v9", 8, 8)] })];

  test("says so in the reason", () => {
    expect(reasons(plan(guessed, [target("Standard_Q8s_v9", 2)]))).toEqual([
      "family quota standardQSv9Family (family guessed from the VM size's name): 8 of 8 cores used, 8 more needed, 0 left",
    ]);
  });

  test("says so among the limits of its bucket", () => {
    expect(describeAll(guessed)[0]?.limits[0]).toEqual({
      limit: "family quota standardQSv9Family (family guessed from the VM size's name)",
      kind: "family-quota",
      name: "standardQSv9Family",
      guessed: true,
      unit: "cores",
      used: 0,
      max: 8,
      left: 8,
    });
  });

  const mixed = [
    buildArray("execute", {
      buckets: [size("Standard_D256s_v5", 256, 256), size("Standard_D4s_v5", 4, 256)],
    }),
  ];

  test("shares the quota of the sizes that are named alike", () => {
    const made = plan(mixed, [target("Standard_D4s_v5", 1), target("Standard_D256s_v5", 1, 1)]);
    expect(creates(made)).toEqual(["1 of execute/Standard_D4s_v5"]);
    expect(reasons(made)).toEqual([
      "family quota standardDSv5Family (family guessed from the VM size's name): 4 of 256 cores used, 256 more needed, 252 left",
    ]);
  });

  test("does not make the others' a guess", () => {
    const rows = describeAll(mixed).map(({ machineType: type, limits }) => [
      type,
      limits[0]?.guessed === true,
    ]);
    expect(rows).toEqual([
      ["Standard_D256s_v5", true],
      ["Standard_D4s_v5", false],
    ]);
  });
});

test.each([
  { name: "StandardNCadsH100v5Family", type: "Standard_NC80adis_H100_v5" },
  { name: "standardncadsh100V5family", type: "Standard_NC80adis_H100_v5" },
  { name: "standardQSv9Family", type: "Standard_Q8s_v9" },
])("what would be with more of $name can be asked, in any case", ({ name, type }) => {
  const snapshot = buildSnapshot([], { arrays: [buildArray("execute", { buckets: [size(type, 80, 80)] })] });
  const change: LimitChange = { kind: "family-quota", name, unit: "cores", change: { more: 40 } };
  const { record, bodies } = buildState({ seen: snapshot });
  const problems: Problem[] = [];
  const raised = raiseLimits(record, bodies, snapshot, DEFAULT_POLICY, [change], NOW, problems);
  expect(problems).toEqual([]);
  expect(raised.arrays[0]?.buckets[0]?.familyQuota).toEqual({ quotaCores: 120, consumedCores: 0 });
});
