import { describe, expect, test } from "vitest";
import { viewBucket, viewNode } from "../../../src/decide/world/node-views.ts";
import { applyDefaults, compileDefaults } from "../../../src/decide/constraints/default-resources.ts";
import type { Catalogue } from "../../../src/domain/catalogue.ts";
import type { Node, NodeArray } from "../../../src/domain/cluster.ts";
import { LIBRARY_DEFAULTS } from "../../../src/domain/default-resource.ts";
import { arrayName, machineType, nodeId, placementGroup } from "../../../src/domain/ids.ts";
import { readDefaultResources } from "../../../src/wire/constraint/default-resources.ts";
import { newNotes } from "../../../src/wire/json/notes.ts";

const X8 = machineType("Standard_X8");
const machine = { vcpus: 8, quotaVcpus: 8, gpus: 1, memoryGib: 32, infiniband: false };

function array(more: Partial<NodeArray> = {}): NodeArray {
  const name = arrayName("gpu");
  const region = "usgov";
  return {
    name,
    limit: {},
    region,
    spot: false,
    autoscaled: true,
    priority: 1,
    resources: {},
    buckets: [],
    ...more,
  };
}

const place = (more: Partial<NodeArray> = {}) => ({
  bucket: { array: arrayName("gpu"), machineType: X8 },
  array: array(more),
  machine,
});

const sizes = new Map([["standard_x8", { vcpus: 8, vcpusPerCore: 2, gpus: 4, family: "standardXFamily" }]]);

function resources(
  entries: readonly object[],
  catalogue: Catalogue = { sizes },
  more: Partial<NodeArray> = {},
) {
  const configured = readDefaultResources(entries, "", newNotes());
  return applyDefaults(compileDefaults(configured, LIBRARY_DEFAULTS), viewBucket(place(more), catalogue));
}

describe("default resources", () => {
  test("the documented override of ncpus works, and may build on the library's own", () => {
    const entries = [{ select: {}, name: "ncpus", value: "node.resources.ncpus", multiply: 2 }];
    expect(resources(entries).resources).toMatchObject({ ncpus: 16, pcpus: 4, nodearray: "gpu" });
  });

  test("the array's own resources stand above, and null does not count as defined", () => {
    const entries = [
      { select: {}, name: "slots", value: 1 },
      { select: {}, name: "disk", value: 5 },
    ];
    const own = { slots: 9, disk: null };
    expect(resources(entries, { sizes }, { resources: own }).resources).toMatchObject({ slots: 9, disk: 5 });
  });

  test.each(["placement_group", "hostname", "fqdn", "private_ip", "instance_id"])(
    "node.%s is null here, and a modifier leaves null alone",
    (property) => {
      const entries = [
        { select: {}, name: "x", value: `node.${property}`, add: 1 },
        { select: {}, name: "x", value: 7 },
      ];
      expect(resources(entries.slice(0, 1))).toMatchObject({ resources: { x: null }, faults: [] });
      expect(resources(entries).resources).toMatchObject({ x: 7 });
    },
  );

  test("where it is a text, there is nothing to reckon: the resource is undefined there, and says why", () => {
    const configured = readDefaultResources(
      [{ select: {}, name: "x", value: "node.placement_group", add: 1 }],
      "",
      newNotes(),
    );
    const bucket = { ...place().bucket, placementGroup: placementGroup("pg0") };
    const view = viewBucket({ ...place(), bucket }, { sizes });
    const { resources: found, faults } = applyDefaults(compileDefaults(configured, LIBRARY_DEFAULTS), view);
    expect([found["x"], faults]).toEqual([undefined, [{ resource: "x", why: 'add on the text "pg0"' }]]);
  });

  test("what cannot be reckoned stays undefined, and says why", () => {
    const found = resources([{ select: {}, name: "x", value: "node.resources.nosuch.value" }]);
    expect([found.resources["x"], found.faults]).toEqual([
      undefined,
      [{ resource: "x", why: "nosuch is no size" }],
    ]);
  });
});

describe("GPUs of a size", () => {
  const override = (location: string, gpus: number): Catalogue => ({
    sizes,
    override: {
      locations: new Map([[location, new Map([["standard_x8", { gpus }]])]]),
      proxies: new Map([["usgov", "southcentralus"]]),
    },
  });
  test.each([
    { name: "the larger of reported and known", catalogue: { sizes }, gpus: 4 },
    { name: "as reported, where nobody knows the size", catalogue: { sizes: new Map() }, gpus: 1 },
    { name: "as the user's file says, though it is less", catalogue: override("usgov", 0), gpus: 0 },
    {
      name: "as the user's file says of the location that stands in",
      catalogue: override("southcentralus", 2),
      gpus: 2,
    },
    {
      name: "not as the user's file says of another location",
      catalogue: override("westeurope", 2),
      gpus: 4,
    },
  ])("$name", ({ catalogue, gpus }) => {
    expect(resources([], catalogue).resources["ngpus"]).toBe(gpus);
    const node: Node = {
      nodeId: nodeId("n"),
      name: "gpu-1",
      array: arrayName("gpu"),
      machineType: X8,
      phase: "ready",
      status: "Ready",
      spot: false,
      keepAlive: false,
    };
    // An existing node gets the same resources as a new one. Otherwise each pass would create one more (scalelib defect 30).
    expect(viewNode(node, place(), catalogue).properties.gpu_count).toBe(gpus);
  });
});
