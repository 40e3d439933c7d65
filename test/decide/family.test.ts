import { expect, test } from "vitest";
import { familyOf } from "../../src/decide/family.ts";
import { machineType } from "../../src/domain/ids.ts";

test.each([
  { size: "Standard_D4s_v5", family: "standardDSv5Family" },
  { size: "Standard_HB120rs_v3", family: "standardHBv3Family" },
  { size: "standard_hb120-16rs_V3", family: "standardHBv3Family" },
  { size: "Standard_NC96ads_A100_v4", family: "standardNCADSA100v4Family" },
  { size: "Standard_B2ms", family: "standardBSFamily" },
  { size: "Standard_F2", family: "standardFFamily" },
  { size: "my own size", family: "my own size" },
])("$size belongs to $family", ({ size, family }) => {
  expect(familyOf(machineType(size))).toBe(family);
});
