import { expect, test } from "vitest";
import { describeOutcomes } from "../../../src/app/describe/describe-outcomes.ts";
import { Pages } from "../../../src/app/describe/pages.ts";
import { setName } from "../../../src/domain/ids.ts";
import type { DemandOutcome } from "../../../src/domain/plan.ts";
import { instant } from "../../../src/domain/units.ts";

const outcome = (id: string, asked: number, placed: number, pending: number): DemandOutcome => ({
  set: setName("s"),
  id,
  kind: "job",
  unit: "slots",
  asked,
  placed,
  pending,
  reasons: placed < asked ? [{ code: "array-not-managed", array: "old" }] : [],
});

const planWith = (demands: readonly DemandOutcome[]) => ({
  plan: { number: 1, at: instant(0), creates: [], terminates: [], demands, nodes: new Map() },
});

test("what is unmet comes first with its reason, then what waits", () => {
  const demands = [
    outcome("met", 1, 1, 0),
    outcome("waits", 2, 2, 1),
    outcome("short", 4, 3, 3),
    outcome("met-too", 1, 1, 0),
  ];
  const shown = { requestSet: "s", kind: "job", unit: "slots" };
  expect(describeOutcomes(planWith(demands), undefined, new Pages(undefined, { rows: 3 }))).toEqual([
    {
      ...shown,
      id: "short",
      asked: 4,
      placed: 3,
      pending: 3,
      why: 'node array "old" is not autoscaled (Configuration.autoscale.enabled is false, or it is not in the configured nodearrays)',
    },
    { ...shown, id: "waits", asked: 2, placed: 2, pending: 1 },
    { ...shown, id: "met", asked: 1, placed: 1, pending: 0 },
  ]);
});

test("without a plan there is nothing", () => {
  expect(describeOutcomes({})).toEqual([]);
});
