import { describe, expect, test } from "vitest";
import { readCaptured } from "../../support/data.ts";
import { readMembers, updateOf } from "../context.ts";
import { isFields } from "../../../src/domain/fields.ts";

const targets = (nodearrays: unknown) => updateOf(readMembers({ nodearrays })).demand.demands;
const execute = { array: "execute", priority: 0, position: 0 };

describe("the examples of the autoscale documentation", () => {
  const payloads = readCaptured("docs/jetpack-autoscale-payloads.json");
  const payload = (name: string): unknown => (isFields(payloads) ? payloads[name] : undefined);
  const cores128 = {
    ...execute,
    kind: "target",
    id: "nodearray:execute",
    amount: { unit: "cores", count: 128 },
  };

  test.each([
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
