import { expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import type { World } from "../../../src/domain/world.ts";
import type { RankedDemand } from "../../../src/domain/demand.ts";
import { arrayName, machineType, setName } from "../../../src/domain/ids.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import { instant } from "../../../src/domain/units.ts";
import { needing } from "../../support/build-constraints.ts";
import { policy } from "./scenario.ts";

const D4 = { array: arrayName("a"), machineType: machineType("D4") };

/** One full bucket. */
const FULL: World = {
  nodes: [],
  inFlight: [],
  arrays: new Map([[D4.array, "managed"]]),
  limits: [{ id: { kind: "bucket", name: "a/D4", unit: "nodes" }, used: 9, max: 9, left: 0 }],
  buckets: [
    {
      bucket: D4,
      resources: { ncpus: 4, memgb: 5000 },
      cores: 4,
      charges: [{ limit: 0, amount: 1 }],
      groupSizes: new Map(),
    },
  ],
};

/** Jobs j0, j1, … that each ask for another amount of memory, or all for the same. */
function queue(length: number, differ: boolean): readonly RankedDemand[] {
  return Array.from({ length }, (_, position) => ({
    set: setName("s"),
    demand: {
      kind: "job",
      id: `j${position}`,
      name: `j${position}`,
      priority: 0,
      position,
      constraints: needing({ ncpus: 4, memgb: differ ? position + 1 : 1 }),
      iterations: 1,
      colocated: false,
      placed: [],
    },
  }));
}

test.each([
  { name: "that differ", differ: true },
  { name: "that are alike", differ: false },
])(
  "of a long queue of unmet jobs $name the first thousand have their reasons and what would help",
  ({ differ }) => {
    const { outcomes } = allocate(FULL, queue(1002, differ), policy, instant(0));
    const told = outcomes.map(({ reasons, binding }) => [reasons.map(renderReason), binding?.kind] as const);
    const full = ["bucket a/D4: 9 of 9 nodes used, 1 more needed, 0 left"];
    expect(told[0]).toEqual([full, "raise"]);
    expect(told[999]).toEqual([full, "raise"]);
    expect(outcomes[1000]?.reasons).toMatchObject([{ code: "too-many-unmet", told: 1000 }]);
    expect(outcomes[1001]?.binding).toBeUndefined();
  },
);

test("a plan that is only tried out has no reasons", () => {
  const { outcomes } = allocate(FULL, queue(2, true), { ...policy, isTrial: true }, instant(0));
  expect(outcomes.map(({ placed, reasons }) => [placed, reasons])).toEqual([
    [0, []],
    [0, []],
  ]);
});
