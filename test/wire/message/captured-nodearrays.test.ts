import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isFields } from "../../../src/wire/json/fields.ts";
import { readMembers, updateOf } from "../context.ts";

const CAPTURED = new URL("../../../../shared/captured/docs/jetpack-autoscale-payloads.json", import.meta.url);
const targets = (nodearrays: unknown) => updateOf(readMembers({ nodearrays })).demand.demands;
const execute = { array: "execute", priority: 0, position: 0 };

describe("the examples of the autoscale documentation (../shared/captured; skipped where that is absent)", () => {
  const present = existsSync(CAPTURED);
  const payloads: unknown = present ? JSON.parse(readFileSync(CAPTURED, "utf8")) : {};
  const payload = (name: string): unknown => (isFields(payloads) ? payloads[name] : undefined);
  const cores128 = {
    ...execute,
    kind: "target",
    id: "nodearray:execute",
    amount: { unit: "cores", count: 128 },
  };

  test.skipIf(!present).each([
    { example: "single", expected: [cores128] },
    {
      example: "withAttributes",
      expected: [
        {
          ...cores128,
          machineTypes: ["Standard_D4v3"],
          attributes: { Configuration: { custom_setting: 123 } },
        },
      ],
    },
    {
      example: "dynamic",
      expected: [
        cores128,
        {
          priority: 0,
          position: 1,
          kind: "target",
          id: "nodearray:dynamic_array",
          array: "dynamic_array",
          extends: "execute",
          amount: { unit: "nodes", count: 3 },
          attributes: { Configuration: { application_version: "1.2.3" } },
        },
      ],
    },
    {
      example: "grouped",
      expected: [
        {
          ...execute,
          kind: "groups",
          id: "nodearray:execute:64",
          groups: 4,
          size: { unit: "cores", count: 64 },
          machineTypes: ["Standard_D4v3"],
        },
      ],
    },
    {
      example: "groupedByInstances",
      expected: [
        {
          ...execute,
          kind: "groups",
          id: "nodearray:execute:16n",
          groups: 4,
          size: { unit: "nodes", count: 16 },
          machineTypes: ["Standard_D4v3"],
        },
      ],
    },
  ])("$example", ({ example, expected }) => {
    expect(targets(payload(example))).toEqual(expected);
  });
});
