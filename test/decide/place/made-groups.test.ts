import { describe, expect, test } from "vitest";
import { readStatus } from "../../../src/adapters/cyclecloud/read-status.ts";
import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import { bucketText } from "../../../src/domain/bucket.ts";
import type { Demand } from "../../../src/domain/demand.ts";
import { arrayName, clusterName, placementGroup } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import { needing } from "../../support/build-constraints.ts";
import { NOW } from "../../support/build-node.ts";
import { buildJob, buildState, buildTarget, OURS } from "../../support/build-record.ts";

const array = (name: string, autoscale: object) => ({
  name,
  maxCount: 10,
  nodearray: { Name: name, Region: "r", Configuration: { autoscale } },
  buckets: [
    {
      bucketId: `b-${name}`,
      definition: { machineType: "Standard_F4" },
      valid: true,
      activeCount: 0,
      availableCount: 10,
      maxCount: 10,
      maxPlacementGroupSize: 5,
      virtualMachine: { vcpuCount: 4, memory: 8, infiniband: false, gpuCount: 0 },
    },
  ],
});

/** A started cluster of these arrays, with these autoscale settings in their Configuration. */
function lookAt(arrays: Readonly<Record<string, object>>) {
  const nodearrays = Object.entries(arrays).map(([name, autoscale]) => array(name, autoscale));
  const status = { state: "Started", targetState: "Started", maxCount: 100, nodes: [], nodearrays };
  const reading = readStatus(status, clusterName("prod"), NOW);
  if (reading.kind === "malformed") throw new Error(reading.path);
  return { snapshot: reading.snapshot, requestNodes: new Map() };
}

function planOn(
  arrays: Readonly<Record<string, object>>,
  demands: readonly Demand[],
  preference: "existing-first" | "bucket-order",
) {
  const { record, bodies } = buildState({ sets: { standard: { demands } } });
  const { plan } = decide(record, bodies, lookAt(arrays), { ...DEFAULT_POLICY, preference }, NOW, OURS);
  return {
    // The names of groups are not tested here.
    creates: plan.creates.map(({ bucket, count }) => {
      const { placementGroup: group, ...where } = bucket;
      return `${count} x ${bucketText(where)}${group === undefined ? "" : " in a group"}`;
    }),
    reasons: plan.demands.flatMap(({ reasons }) => reasons.map(renderReason)),
  };
}

const inAGroup = buildJob("mpi", 1, {
  nodeCount: 3,
  constraints: [...needing({ ncpus: 1 }), { kind: "in-a-placement-group", wanted: true }],
});
const NO_GROUPS = (name: string): string =>
  `${name}/Standard_F4: node array ${name} makes no placement groups (Configuration.autoscale.is_hpc is false)`;

describe.each(["existing-first", "bucket-order"] as const)("is_hpc of a node array, %s", (preference) => {
  test.each([
    { name: "says nothing", says: {} },
    { name: "true", says: { is_hpc: true } },
    { name: "null, which says nothing", says: { is_hpc: null } },
  ])("groups are made there: $name", ({ says }) => {
    const plan = planOn({ a: says, b: {} }, [inAGroup], preference);
    expect(plan).toEqual({ creates: ["3 x a/Standard_F4 in a group"], reasons: [] });
  });

  test.each([
    { name: "false", says: { is_hpc: false } },
    { name: "false as text", says: { is_hpc: "false" } },
  ])("grouped jobs go to the next array: $name", ({ says }) => {
    const plan = planOn({ a: says, b: {} }, [inAGroup], preference);
    expect(plan).toEqual({ creates: ["3 x b/Standard_F4 in a group"], reasons: [] });
    expect(planOn({ a: says }, [inAGroup], preference)).toEqual({ creates: [], reasons: [NO_GROUPS("a")] });
  });

  test("other jobs take its nodes, and groups that a target asks for are made", () => {
    const group: Demand = {
      kind: "groups",
      id: "g",
      priority: 0,
      position: 1,
      array: arrayName("a"),
      groups: 1,
      size: { unit: "nodes", count: 2 },
    };
    expect(planOn({ a: { is_hpc: false } }, [buildJob("plain", 8), group], preference)).toEqual({
      creates: expect.arrayContaining(["2 x a/Standard_F4 in a group"]),
      reasons: [],
    });
  });
});

describe("groups that the configuration names, bucket-order", () => {
  test.each([
    { name: "an array that is autoscaled", named: "b" },
    { name: "an array that is not", named: "off" },
    { name: "an array that is not there", named: "gone" },
  ])("for $name: none are generated anywhere", ({ named }) => {
    const arrays = { a: {}, b: {}, off: { enabled: false } };
    const { record, bodies } = buildState({ sets: { standard: { demands: [inAGroup] } } });
    const creates = (groups: readonly string[]) => {
      const placementGroups = new Map([[named, groups.map(placementGroup)]]);
      const policy = { ...DEFAULT_POLICY, preference: "bucket-order", placementGroups } as const;
      const { plan } = decide(record, bodies, lookAt(arrays), policy, NOW, OURS);
      return plan.creates.map(({ bucket }) => bucketText(bucket));
    };
    expect(creates(["mine"])).toEqual(named === "b" ? ["b/Standard_F4/mine"] : []);
    expect(creates([])).toEqual(["a/Standard_F4/Standard_F4_pg0"]);
  });
});

describe("is_hpc of a dynamic array", () => {
  test.each([
    { name: "as the array that it extends", parent: false, own: undefined, made: false },
    { name: "its own true counts", parent: false, own: true, made: true },
    { name: "its own false counts", parent: true, own: false, made: false },
  ])("$name", ({ parent, own, made }) => {
    const extended = arrayName("a");
    const attributes = own === undefined ? {} : { Configuration: { autoscale: { is_hpc: own } } };
    const dynamic = buildTarget(0, { id: "d", array: arrayName("d"), extends: extended, attributes });
    const job = buildJob("mpi", 1, {
      nodeCount: 3,
      position: 1,
      constraints: [
        ...inAGroup.constraints,
        { kind: "property-choice", property: "nodearray", choices: ["d"] },
      ],
    });
    const plan = planOn({ a: { is_hpc: parent } }, [dynamic, job], "existing-first");
    expect(plan).toEqual(
      made
        ? { creates: ["3 x a/Standard_F4 in a group"], reasons: [] }
        : { creates: [], reasons: [NO_GROUPS("d")] },
    );
  });
});
