import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { Contract } from "./autoscale-case.ts";
import { MERGES } from "../support/configuration-merge.ts";
import { readContract } from "./autoscale-case.ts";
import { runAutoscaleCase } from "./run-autoscale-case.ts";

const FILE = new URL("../../../shared/captured/docs/autoscale-contract.json", import.meta.url);

/** The examples of both editions of the autoscale documentation, through queue and functions against the simulator. */
describe("the autoscale documentation's examples (../shared/captured; skipped where that is absent)", () => {
  const contract: Contract = existsSync(FILE)
    ? readContract(readFileSync(FILE, "utf8"))
    : { about: "", template: {}, cases: [] };

  test.skipIf(contract.cases.length === 0)("are all there", () => {
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
