import { expect, test } from "vitest";
import table from "../../src/domain/vm-sizes.json" with { type: "json" };
import { defaultOptions } from "../../src/simulator/default-options.ts";

test("the families of the default sizes are Azure's, as the product's table has them", () => {
  const known = new Map(Object.entries(table).map(([size, [family]]) => [size, family]));
  for (const [size, { family }] of Object.entries(defaultOptions.machineTypes))
    expect(family, size).toBe(known.get(size.toLowerCase()));
  const families = Object.values(defaultOptions.machineTypes).map(({ family }) => family);
  for (const name of Object.keys(defaultOptions.quotas?.family ?? {})) expect(families).toContain(name);
});
