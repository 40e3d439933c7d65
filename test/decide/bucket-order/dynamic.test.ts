import { expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import type { BucketOffer, World } from "../../../src/domain/world.ts";
import { bucketText } from "../../../src/domain/bucket.ts";
import type { RankedDemand } from "../../../src/domain/demand.ts";
import { arrayName, machineType, placementGroup, setName } from "../../../src/domain/ids.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import { instant } from "../../../src/domain/units.ts";
import { readConstraints } from "../../../src/wire/constraint/constraint.ts";
import { newNotes } from "../../../src/wire/json/problems.ts";
import { policy } from "./scenario.ts";

const D4 = machineType("D4");

const PARENT: BucketOffer = {
  bucket: { array: arrayName("execute"), machineType: D4 },
  resources: { ncpus: 4 },
  cores: 4,
  charges: [{ limit: 0, amount: 1 }],
  groupSizes: new Map(),
  maxPlacementGroupSize: 3,
};

/** A dynamic array "big" over "execute". */
function world(more: Partial<BucketOffer> = {}): World {
  const own = { ...PARENT, ...more };
  return {
    nodes: [],
    inFlight: [],
    arrays: new Map([
      [arrayName("execute"), "managed"],
      [arrayName("big"), "managed"],
    ]),
    limits: [{ id: { kind: "cluster", name: "", unit: "nodes" }, used: 0, max: 9, left: 9 }],
    buckets: [
      own,
      {
        ...own,
        bucket: { array: arrayName("big"), machineType: D4 },
        parent: own,
        attributes: { priority: 5 },
      },
    ],
  };
}

/** A job of this many nodes in one placement group of the dynamic array. */
function grouped(nodeCount: number): readonly RankedDemand[] {
  const asks = [{ ncpus: 4 }, { "node.nodearray": "big" }, { "in-a-placement-group": true }];
  return [
    {
      set: setName("s"),
      demand: {
        kind: "job",
        id: "j",
        name: "j",
        priority: 0,
        position: 0,
        constraints: readConstraints(asks, "constraints", newNotes()),
        iterations: 1,
        nodeCount,
        colocated: true,
        placed: [],
      },
    },
  ];
}

const made = (of: World, nodeCount: number) => {
  const { creates, outcomes } = allocate(of, grouped(nodeCount), policy, instant(0));
  return {
    creates: creates.map(({ bucket, count }) => `${count} ${bucketText(bucket)}`),
    reasons: outcomes.flatMap(({ reasons }) => reasons.map(renderReason)),
  };
};

test("a job that names a dynamic array gets a placement group that nobody is in", () => {
  expect(made(world(), 3)).toEqual({ creates: ["3 execute/D4/D4_pg0"], reasons: [] });
});

test("so it does where the configuration names the group", () => {
  const configuredGroups = [placementGroup("rack")];
  expect(made(world({ configuredGroups }), 3)).toEqual({ creates: ["3 execute/D4/rack"], reasons: [] });
});

test("a group with nodes of the array itself is not for a dynamic array, and the reason says so", () => {
  const groupSizes = new Map([[placementGroup("rack"), 1]]);
  const { creates, reasons } = made({ ...world({ groupSizes }), namesGroups: true }, 2);
  expect(creates).toEqual([]);
  expect(reasons).toContain(
    "big/D4/rack: the nodes in its placement group rack have other attributes, and those of one scale set must be the same",
  );
});
