import { describe, expect, test } from "vitest";
import { settle } from "../../../src/decide/intents/settle.ts";
import type { NodeArray } from "../../../src/domain/cluster.ts";
import type { GroupDemand } from "../../../src/domain/demand.ts";
import { arrayName, requestId } from "../../../src/domain/ids.ts";
import type { CreateEffect } from "../../../src/domain/intent.ts";
import { buildArray, buildBucket, D4, EXECUTE, NOW } from "../../support/build-node.ts";
import { BUCKET, buildIntent, buildTarget } from "../../support/build-record.ts";
import {
  SPOT,
  ON_DEMAND,
  quota,
  full,
  execute,
  spotArray,
  cheap,
  plan,
  creates,
  reasons,
} from "../../support/spot-case.ts";

const SPELLINGS = [
  { Interruptible: true },
  { interruptible: true },
  { INTERRUPTIBLE: "true" },
  { Interruptible: "True" },
];

describe.each([
  {
    what: "a dynamic array",
    ask: (count: number, attributes: object) => cheap(count, { attributes: { ...attributes } }),
  },
  {
    what: "a target",
    ask: (count: number, attributes: object) => buildTarget(count, { attributes: { ...attributes } }),
  },
])("$what with Interruptible", ({ ask }) => {
  test.each(SPELLINGS)("is charged to the spot quota, not to its array's family quota: %o", (attributes) => {
    const decision = plan({ demands: [ask(5, attributes)], arrays: [execute(), spotArray()] });
    expect(creates(decision)).toEqual([`3 of execute/${D4} ${JSON.stringify(attributes)}`]);
    expect(reasons(decision)).toEqual([
      "regional spot quota west: 12 of 12 cores used, 8 more needed, 0 left",
    ]);
  });

  test("gets what it asks for if no array reports a spot quota", () => {
    expect(creates(plan({ demands: [ask(5, SPOT)], arrays: [execute()] }))).toEqual([
      `5 of execute/${D4} {"Interruptible":true}`,
    ]);
  });

  test("is kept by the limits of its array", () => {
    const array = { ...execute(), limit: { count: 2 } };
    expect(creates(plan({ demands: [ask(5, SPOT)], arrays: [array] }))).toEqual([
      `2 of execute/${D4} {"Interruptible":true}`,
    ]);
  });

  test("is kept by what CycleCloud calls available, unless the quotas on demand explain that", () => {
    const throttled = execute({ ...full, familyQuota: quota(160, 16) });
    const decision = plan({ demands: [ask(5, SPOT)], arrays: [throttled] });
    expect(creates(decision)).toEqual([]);
    expect(reasons(decision)).toEqual([`bucket execute/${D4}: 4 of 4 nodes used, 5 more needed, 0 left`]);
  });

  test("leaves the family quota to others", () => {
    const open = { ...full, availableCount: 2, familyQuota: quota(24, 16) };
    const others = buildTarget(2, { id: "others", array: arrayName("other"), position: 2 });
    const other = { ...execute(open), name: arrayName("other") };
    const decision = plan({ demands: [ask(3, SPOT), others], arrays: [execute(open), other, spotArray()] });
    expect(creates(decision)).toEqual([
      `3 of execute/${D4} {"Interruptible":true}`,
      `2 of other/${D4} undefined`,
    ]);
  });

  test("in flight it still is: the spot quota counts it, the family quota does not", () => {
    const open = { ...full, availableCount: 2, familyQuota: quota(24, 16) };
    const arrays = [execute(open), spotArray()];
    const first = plan({ demands: [ask(2, SPOT)], arrays });
    const [intent] = first.record.intents;
    const { record } = settle(
      { record: first.record, ledger: new Map() },
      intent?.id ?? requestId("none"),
      { kind: "accepted", sets: [{ added: 2 }] },
      NOW,
    );
    expect(record.inFlight.map(({ spot }) => spot)).toEqual([true]);
    // Of 12 cores of spot quota 4 are left, and both cores of the family that the others ask for.
    const more = plan({
      demands: [ask(4, SPOT), buildTarget(2, { id: "others", array: arrayName("other"), position: 2 })],
      arrays: [...arrays, { ...execute(open), name: arrayName("other") }],
      record: { inFlight: record.inFlight },
    });
    expect(creates(more)).toEqual([
      `1 of execute/${D4} {"Interruptible":true}`,
      `2 of other/${D4} undefined`,
    ]);
  });

  test("before its create is settled it counts as well", () => {
    const effect: CreateEffect = {
      kind: "create",
      sets: [{ bucket: BUCKET, count: 2, purpose: { kind: "array" }, attributes: SPOT }],
    };
    const decision = plan({
      demands: [ask(5, SPOT)],
      arrays: [execute(), spotArray()],
      record: { intents: [buildIntent("r", { effect })] },
    });
    const asked = decision.plan.creates.reduce((sum, { count }) => sum + count, 0);
    expect(asked).toBe(1);
  });
});

describe("a dynamic array or a target with Interruptible: false of a spot array", () => {
  const LOWPRIO = arrayName("lowprio");
  const arrays = [execute({ ...full, availableCount: 3, familyQuota: quota(24, 16) }), spotD4()];
  const steady = cheap(5, { extends: LOWPRIO, attributes: ON_DEMAND });
  const asTarget = buildTarget(5, { array: LOWPRIO, attributes: ON_DEMAND });

  function spotD4(): NodeArray {
    const bucket = buildBucket(D4, 4, { availableCount: 3, regionalQuota: quota(12, 0) });
    return buildArray("lowprio", { region: "west", spot: true, buckets: [bucket] });
  }

  test.each([
    { what: "dynamic array", demand: steady },
    { what: "target", demand: asTarget },
  ])("is charged to the quotas of family and region: $what", ({ demand }) => {
    const decision = plan({ demands: [demand], arrays });
    expect(creates(decision)).toEqual([`2 of lowprio/${D4} {"Interruptible":false}`]);
    expect(reasons(decision)).toEqual([
      "family quota standardDSv5Family: 24 of 24 cores used, 12 more needed, 0 left",
    ]);
  });
});

test("groups with Interruptible are charged to the spot quota, and completed under it", () => {
  const groups: GroupDemand = {
    kind: "groups",
    id: "execute:2n",
    priority: 0,
    position: 0,
    array: EXECUTE,
    groups: 2,
    size: { unit: "nodes", count: 2 },
    attributes: SPOT,
  };
  const grouped = execute({ ...full, maxPlacementGroupSize: 10 });
  const decision = plan({ demands: [groups], arrays: [grouped, spotArray()] });
  expect(decision.plan.creates.map(({ count }) => count)).toEqual([2]);
  expect(reasons(decision)).toEqual(["regional spot quota west: 8 of 12 cores used, 8 more needed, 4 left"]);
});
