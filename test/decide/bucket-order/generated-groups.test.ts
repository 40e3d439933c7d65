import { expect, test } from "vitest";
import { generateGroups } from "../../../src/decide/bucket-order/bucket-list.ts";
import type { BucketOffer } from "../../../src/domain/world.ts";
import { arrayName, machineType, placementGroup, setName } from "../../../src/domain/ids.ts";

function offer(array: string, type: string, groups: readonly string[], more: Partial<BucketOffer> = {}) {
  const made: BucketOffer = {
    bucket: { array: arrayName(array), machineType: machineType(type) },
    resources: {},
    cores: 4,
    charges: [],
    groupSizes: new Map(groups.map((group) => [placementGroup(group), 1])),
    maxPlacementGroupSize: 10,
    ...more,
  };
  return made;
}

test.each([
  {
    name: "two of each size of an array, without those that there are",
    offers: [offer("a", "D4", ["D4_pg1", "other"]), offer("a", "D8", [])],
    supply: { buffer: 2, most: 100 },
    names: [
      ["D4_pg0", "D4_pg2"],
      ["D8_pg0", "D8_pg1"],
    ],
  },
  {
    name: "no more than the array may have, over all its sizes",
    offers: [offer("a", "D4", ["x"]), offer("a", "D8", []), offer("b", "D8", [])],
    supply: { buffer: 2, most: 2 },
    names: [["D4_pg0"], [], ["D8_pg0", "D8_pg1"]],
  },
  {
    name: "none where the bucket knows no groups, nor on a host that only the scheduler knows",
    offers: [
      { ...offer("a", "D4", []), maxPlacementGroupSize: undefined },
      offer("b", "unknown", [], { onlyFor: [setName("standard")] }),
    ].map(({ maxPlacementGroupSize: size, ...rest }): BucketOffer =>
      size === undefined ? rest : { ...rest, maxPlacementGroupSize: size },
    ),
    supply: { buffer: 2, most: 100 },
    names: [undefined, undefined],
  },
  {
    name: "none in an array that is not for HPC, whose groups count no less",
    offers: [offer("a", "D4", ["D4_pg0"], { notHpc: true }), offer("b", "D4", [])],
    supply: { buffer: 1, most: 100 },
    names: [undefined, ["D4_pg0"]],
  },
])("$name", ({ offers, supply, names }) => {
  const generated = generateGroups(offers, () => supply);
  expect(offers.map((one) => generated.get(one))).toEqual(names);
});
