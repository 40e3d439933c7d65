import { describe, expect, test } from "vitest";
import { MERGES } from "../support/configuration-merge.ts";
import { DATA, readText } from "../support/data.ts";
import { readContract } from "./autoscale-case.ts";
import { runAutoscaleCase } from "./run-autoscale-case.ts";

/** The examples of both editions of the autoscale documentation, through queue and functions against the simulator. */
describe("the autoscale documentation's examples", () => {
  const contract = readContract(readText(`${DATA}autoscale-contract.json`));

  test("are all there", () => {
    expect(contract.cases).toHaveLength(19);
  });

  describe.each(MERGES)("where CycleCloud merges Configuration %s", (merge) => {
    test.each(contract.cases)("$name", async (one) => {
      const template = contract.template[one.template];
      if (template === undefined) throw new Error(`no template ${one.template}`);
      const observed = await runAutoscaleCase(one, template, merge);
      expect(observed).toEqual(one.steps.map((step) => step.expect));
    });
  });
});
