import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ClusterBuckets } from "../../../src/decide/world/cluster-buckets.ts";
import { applyDefaults, compileDefaults } from "../../../src/decide/constraints/default-resources.ts";
import type { Catalogue } from "../../../src/domain/catalogue.ts";
import type { Node, NodeArray } from "../../../src/domain/cluster.ts";
import { LIBRARY_DEFAULTS } from "../../support/library-defaults.ts";
import { arrayName, machineType, nodeId, placementGroup } from "../../../src/domain/ids.ts";
import type { Resources, ResourceValue } from "../../../src/domain/resources.ts";
import { buildBucket } from "../../support/build-node.ts";
import { readDefaultResources } from "../../../src/wire/constraint/default-resources.ts";
import { newNotes } from "../../../src/wire/json/problems.ts";

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

const sizes = new Map([["standard_x8", { vcpus: 8, vcpusPerCore: 2, gpus: 4, family: "standardXFamily" }]]);

/** The buckets of a cluster with one bucket, before default resources. */
const bucketsOf = (more: Partial<NodeArray> = {}, catalogue: Catalogue = { sizes }) =>
  new ClusterBuckets([array({ buckets: [buildBucket(X8, machine.vcpus, { machine })], ...more })], {
    configured: [],
    own: [],
    catalogue,
  });

/** A new node of it. */
const newNode = (more?: Partial<NodeArray>, catalogue?: Catalogue) =>
  bucketsOf(more, catalogue).at(arrayName("gpu"), X8, undefined).view;

function resources(
  entries: readonly object[],
  catalogue: Catalogue = { sizes },
  more: Partial<NodeArray> = {},
) {
  const configured = readDefaultResources(entries, "", newNotes());
  return applyDefaults(compileDefaults(configured, LIBRARY_DEFAULTS), newNode(more, catalogue));
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
    const { view } = bucketsOf().at(arrayName("gpu"), X8, placementGroup("pg0"));
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
    const buckets = bucketsOf({}, catalogue);
    const view = buckets.view(node, buckets.at(node.array, X8, undefined));
    expect(view.properties.gpu_count).toBe(gpus);
  });
});

describe("entries that read each other", () => {
  /** Entry i is chosen by the resource of entry i + 1: each can only be told once the later ones are. */
  const chain = (length: number) =>
    Array.from({ length }, (_, i) => ({
      select: i === length - 1 ? {} : { [`r${i + 1}`]: i + 1 },
      name: `r${i}`,
      value: i,
    }));

  test("the last one tells the one before it, after which no entry is tried again", () => {
    expect(Object.keys(resources(chain(3)).resources)).toEqual(expect.arrayContaining(["r2"]));
    expect(resources(chain(3)).resources["r1"]).toBeUndefined();
    expect(resources([...chain(3), { select: {}, name: "end", value: 1 }]).resources["r1"]).toBe(1);
    expect(resources([...chain(3), { select: {}, name: "end", value: 1 }]).resources["r0"]).toBeUndefined();
  });

  test("as if each earlier one were tried again after each one: a thousand random lists", () => {
    const names = ["a", "b", "c", "d"];
    const select = fc.oneof(
      fc.constant({}),
      fc
        .record({ name: fc.constantFrom(...names), value: fc.constantFrom(1, 2) })
        .map(({ name, value }) => ({ [name]: [value] })),
      fc.constantFrom(...names).map((name) => ({ not: { [name]: [1] } })),
    );
    const entry = fc.record({
      select,
      name: fc.constantFrom(...names),
      value: fc.constantFrom<unknown>(
        1,
        2,
        "node.resources.a",
        "node.resources.b",
        "node.resources.c",
        "node.vcpu_count",
      ),
    });
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 7 }), (entries) => {
        expect(resources(entries).resources).toEqual(inTurns(entries));
      }),
      { numRuns: 1000, seed: 7 },
    );
  });

  test("cost is counted, and ends", () => {
    const configured = readDefaultResources(chain(200).toReversed(), "", newNotes());
    const defaults = compileDefaults(configured, LIBRARY_DEFAULTS);
    const view = newNode();
    const steps = { left: 1000 };
    expect(applyDefaults(defaults, view, steps).resources["r0"]).toBe(0);
    // Once each: one step for the entry, and one for its constraint.
    expect(steps.left).toBe(1000 - (2 * 199 + 1));
    const few = { left: 100 };
    expect(applyDefaults(defaults, view, few).resources["r0"]).toBeUndefined();
    expect(few.left).toBeGreaterThan(-10);
  });
});

/** What scalelib does, word by word: after each entry, all before it are tried again (scalelib.md 4). */
function inTurns(entries: readonly object[]): Resources {
  const configured = readDefaultResources(entries, "", newNotes());
  const view = newNode();
  const own = applyDefaults(compileDefaults([], LIBRARY_DEFAULTS), view).resources;
  const found: Record<string, ResourceValue> = { ...own };
  for (let registered = 1; registered <= configured.length; registered += 1)
    for (const one of configured.slice(0, registered)) {
      if (found[one.name] !== undefined) continue;
      const { resources: next } = applyDefaults(compileDefaults([one], []), { ...view, available: found });
      const value = next[one.name];
      if (value !== undefined) found[one.name] = value;
    }
  return found;
}
