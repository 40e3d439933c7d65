import { describe, expect, test } from "vitest";
import { familyKey, familyOf, readSizeName } from "../../../src/decide/world/quota-family.ts";
import type { Catalogue } from "../../../src/domain/catalogue.ts";
import { sizesIn } from "../../../src/domain/catalogue.ts";
import { machineType } from "../../../src/domain/ids.ts";
import { catalogueOf } from "../../../src/domain/vm-size-data.ts";
import table from "../../../src/domain/vm-sizes.json" with { type: "json" };

const ours = catalogueOf({});
const of = (size: string, catalogue: Catalogue = ours) =>
  familyOf(catalogue, "westeurope", machineType(size));

describe("sizes of the table", () => {
  test("each of them is of the family that the table names, and none is guessed", () => {
    const rows = Object.entries(table);
    expect(rows.length).toBe(1414);
    for (const [size, [family]] of rows) expect(of(size), size).toEqual({ name: family });
  });

  test.each([
    { size: "Standard_HC44rs", name: "standardHCSFamily" },
    { size: "standard_hb120-16rs_V3", name: "standardHBv3Family" },
    { size: "Standard_NC40ads_H100_v5", name: "StandardNCadsH100v5Family" },
    { size: "Standard_NC80adis_H100_v5", name: "StandardNCadsH100v5Family" },
    { size: "Standard_A7", name: "standardA0_A7Family" },
    { size: "Standard_A8", name: "standardA8_A11Family" },
  ])("$size is of $name", ({ size, name }) => {
    expect(of(size).name).toBe(name);
  });
});

describe("sizes that the table does not know", () => {
  test.each([
    { why: "sizes named alike are of one family", size: "Standard_D128s_v5", name: "standardDSv5Family" },
    { why: "in Azure's spelling", size: "Standard_HC88rs", name: "standardHCSFamily" },
    {
      why: "in Azure's spelling, of a series that is gone",
      size: "Standard_HB60rs",
      name: "standardHBSFamily",
    },
    { why: "no size is named alike", size: "Standard_Q16ads_X7_v9", name: "standardQADSX7v9Family" },
    { why: "sizes named alike are of two families", size: "Standard_A12", name: "standardAFamily" },
    { why: "the name has another form", size: "my own size", name: "my own size" },
  ])("$size: guessed, as $why", ({ size, name }) => {
    expect(of(size)).toEqual({ name, guessed: true });
  });

  test("a configured table may say it, and stands above ours", () => {
    const sizes = new Map([
      ["standard_q8", { family: "standardQSFamily" }],
      ["standard_d4s_v5", { family: "ownFamily" }],
      ["standard_f2", { gpus: 1 }],
    ]);
    const override = { locations: new Map([["westeurope", sizes]]), proxies: new Map<string, string>() };
    const catalogue = { ...ours, override };
    expect(of("Standard_Q8", catalogue)).toEqual({ name: "standardQSFamily" });
    expect(of("Standard_D4s_v5", catalogue)).toEqual({ name: "ownFamily" });
    // It says nothing of this family.
    expect(of("Standard_F2", catalogue)).toEqual({ name: "standardFFamily" });
  });
});

test("names of families are compared without case", () => {
  expect(familyKey("StandardNCadsH100v5Family")).toBe(familyKey("standardNCADSH100v5Family"));
});

test("sizes newer than the old series are named after their vCPUs", () => {
  const old = /^standard_(a\d|a1[01]|d1?\d(_v2)?(_promo)?|ds1?\d(_v2)?(_promo)?|gs?\d)$/;
  for (const [size, { vcpus }] of sizesIn(ours, undefined)) {
    if (!old.test(size)) expect(readSizeName(machineType(size))?.vcpus, size).toBe(vcpus);
  }
});
