import { describe, expect, test } from "vitest";
import { arrayName, machineType, placementGroup } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import { D4, array, at, bucket, build, limitsOf, node } from "./small-snapshot.ts";

describe("limits", () => {
  test("cluster and array count whatever has a VM, going nodes and head nodes too, and what is in flight", () => {
    const world = build(
      {
        limit: { count: 10, cores: 100 },
        arrays: [
          array("execute", [bucket(D4, { availableCount: 9, activeCount: 1, maxCount: 12 })], {
            limit: { count: 8, cores: 64 },
          }),
        ],
        nodes: [
          node("ready"),
          node("going", "going"),
          node("failed", "failed"),
          node("off", "off"),
          node("deallocated", "deallocated"),
          node("head", "ready", {
            array: arrayName("scheduler"),
            machineType: machineType("Standard_E8"),
            vcpus: 8,
          }),
        ],
      },
      {
        pendingCreates: [{ bucket: at("execute", D4), count: 2, purpose: { kind: "array" } }],
      },
    );
    expect(limitsOf(world)).toEqual([
      "nodearray execute nodes: 5/8, 3 left",
      "nodearray execute cores: 20/64, 44 left",
      "cluster  nodes: 6/10, 4 left",
      "cluster  cores: 28/100, 72 left",
      `bucket execute/${D4} nodes: 5/12, 7 left`,
    ]);
  });

  test("family quotas of different sizes are of different families, whatever the names say", () => {
    const small = { quotaCores: 20, consumedCores: 0 };
    const large = { quotaCores: 40, consumedCores: 8 };
    const world = build({
      arrays: [
        array("execute", [
          bucket("Standard_Q8", { familyQuota: small }),
          bucket("Standard_Q16", { familyQuota: large }),
        ]),
      ],
    });
    expect(limitsOf(world).filter((text) => text.includes("quota"))).toEqual([
      "family-quota standardQFamily cores: 0/20, 20 left",
      "family-quota standardQFamily cores: 8/40, 32 left",
    ]);
  });

  test("what a new node is in a placement group, default resources may tell from what it is in none", () => {
    const inGroup = { kind: "property", property: "placement_group" } as const;
    const policy = {
      ...DEFAULT_POLICY,
      defaultResources: [{ select: [], name: "group_id", value: inGroup }],
    };
    const [offer] = build({}, { policy }).buckets;
    expect(offer?.resources["group_id"]).toBe(null);
    expect(offer?.inGroup?.(placementGroup("g"))?.resources["group_id"]).toBe("g");
  });

  test("quotas are shared by family and region, at the quota's price, and the least favourable report counts", () => {
    const hb = { vcpus: 16, quotaVcpus: 120, gpus: 0, memoryGib: 456, infiniband: true };
    const quota = (consumedCores: number) => ({ quotaCores: 480, consumedCores });
    const world = build({
      arrays: [
        array("one", [
          bucket("Standard_HB120-16rs_v3", { machine: hb, familyQuota: quota(120), regionalQuota: quota(0) }),
        ]),
        array("two", [
          bucket("Standard_HB120rs_v3", {
            machine: { ...hb, vcpus: 120 },
            familyQuota: quota(240),
            regionalQuota: quota(0),
          }),
        ]),
      ],
    });
    expect(limitsOf(world).slice(0, 2)).toEqual([
      "family-quota standardHBv3Family cores: 240/480, 240 left",
      "regional-quota westeurope cores: 0/480, 480 left",
    ]);
    expect(world.buckets.map(({ charges }) => charges.slice(0, 2))).toEqual([
      [
        { limit: 0, amount: 120 },
        { limit: 1, amount: 120 },
      ],
      [
        { limit: 0, amount: 120 },
        { limit: 1, amount: 120 },
      ],
    ]);
  });

  test.each([{ order: "spot first" }, { order: "spot last" }])(
    "spot has no family quota and a regional one of its own ($order)",
    ({ order }) => {
      const spot = array(
        "spot",
        [
          bucket(D4, {
            familyQuota: { quotaCores: 0, consumedCores: 0 },
            regionalQuota: { quotaCores: 40, consumedCores: 0 },
          }),
        ],
        { spot: true },
      );
      const regular = array("execute", [
        bucket(D4, {
          familyQuota: { quotaCores: 100, consumedCores: 4 },
          regionalQuota: { quotaCores: 200, consumedCores: 4 },
        }),
      ]);
      const world = build({ arrays: order === "spot first" ? [spot, regular] : [regular, spot] });
      expect(
        limitsOf(world)
          .filter((text) => text.includes("quota"))
          .toSorted(),
      ).toEqual([
        "family-quota standardDSv5Family cores: 4/100, 96 left",
        "regional-quota westeurope cores: 4/200, 196 left",
        "regional-spot-quota westeurope cores: 0/40, 40 left",
      ]);
    },
  );

  test.each([
    {
      name: "consumed above quota leaves nothing, not less",
      quota: { quotaCores: 10, consumedCores: 30 },
      left: "30/10, 0 left",
    },
    {
      name: "nodes in flight are charged",
      quota: { quotaCores: 50, consumedCores: 10 },
      left: "22/50, 28 left",
    },
  ])("$name", ({ quota, left }) => {
    const world = build(
      { arrays: [array("execute", [bucket(D4, { familyQuota: quota })])] },
      quota.quotaCores === 10
        ? {}
        : {
            pendingCreates: [{ bucket: at("execute", D4), count: 3, purpose: { kind: "array" } }],
          },
    );
    expect(limitsOf(world)[0]).toBe(`family-quota standardDSv5Family cores: ${left}`);
  });

  test.each([
    {
      name: "availableCount below what the ceiling leaves",
      more: { availableCount: 2, activeCount: 3, maxCount: 10 },
      limit: "3/10, 2 left",
    },
    {
      name: "a ceiling below availableCount",
      more: { availableCount: 9, activeCount: 3, maxCount: 4 },
      limit: "3/4, 1 left",
    },
    {
      name: "a ceiling in cores",
      more: { availableCount: 9, activeCount: 3, maxCoreCount: 23 },
      limit: "3/5, 2 left",
    },
    { name: "no ceiling named", more: { availableCount: 9, activeCount: 3 }, limit: "3/12, 9 left" },
  ])("bucket: $name", ({ more, limit }) => {
    const world = build({ arrays: [array("execute", [bucket(D4, more)])] });
    expect(limitsOf(world)).toEqual([`bucket execute/${D4} nodes: ${limit}`]);
  });

  test("a placement group holds what the status counts or what we count, whichever is more, and what is in flight", () => {
    const groups = [
      { name: placementGroup("a"), activeCount: 3 },
      { name: placementGroup("b"), activeCount: 0 },
    ];
    const world = build(
      {
        arrays: [array("execute", [bucket(D4, { placementGroups: groups, maxPlacementGroupSize: 10 })])],
        nodes: [
          node("n1", "ready", { placementGroup: placementGroup("a") }),
          node("n2", "going", { placementGroup: placementGroup("b") }),
        ],
      },
      {
        pendingCreates: [{ bucket: at("execute", D4, "a"), count: 2, purpose: { kind: "array" } }],
      },
    );
    expect(world.buckets[0]?.groupSizes).toEqual(
      new Map([
        ["a", 5],
        ["b", 1],
      ]),
    );
  });
});
