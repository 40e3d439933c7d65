import { expect, test } from "vitest";
import { storedText } from "../../support/stored-text.ts";
import { planCodec } from "../../../src/adapters/tables/plan-codec.ts";
import { arrayName, machineType, setName } from "../../../src/domain/ids.ts";
import type { DemandOutcome, Plan } from "../../../src/domain/plan.ts";
import type { Reason } from "../../../src/domain/reason.ts";
import { instant } from "../../../src/domain/units.ts";

const bucket = { array: arrayName("execute"), machineType: machineType("D4") };
const reasons: readonly Reason[] = [
  {
    code: "does-not-fit",
    bucket,
    resource: "ncpus",
    asked: 64,
    offered: 4,
    across: { some: [bucket], sizes: [{ array: bucket.array, count: 12 }] },
  },
  { code: "no-bucket", array: "gpu" },
];

function unmet(id: string, more: Partial<DemandOutcome> = {}): DemandOutcome {
  const common = { set: setName("standard"), kind: "job", unit: "slots", pending: 0 } as const;
  return { ...common, id, asked: 1, placed: 0, reasons, ...more };
}

const planOf = (...demands: readonly DemandOutcome[]): Plan => ({
  number: 1,
  at: instant(0),
  creates: [],
  terminates: [],
  demands,
  nodes: new Map(),
});

const LATER = { kind: "wait", bucket, until: instant(60_000), raises: [] } as const;

test("a plan is read back as it was written", () => {
  const plan = planOf(
    unmet("a"),
    unmet("b", { moreReasons: 2, binding: LATER }),
    unmet("c", { placed: 1, reasons: [] }),
    unmet("d", { moreReasons: 2, binding: { ...LATER }, reasons: [...reasons] }),
  );
  expect(planCodec.read(storedText(planCodec, plan))).toEqual(plan);
});

test("reasons that many share are written once, and shared again when read", () => {
  const many = (count: number): Plan => planOf(...Array.from({ length: count }, (_, i) => unmet(`${i}`)));
  const text = storedText(planCodec, many(1000));
  expect(text.split('"gpu"').length - 1).toBe(1);
  const read = planCodec.read(text);
  expect(read.demands[999]?.reasons).toBe(read.demands[0]?.reasons);
});

test("jobs that differ in their names only are one run", () => {
  const text = storedText(
    planCodec,
    planOf(unmet("a"), unmet("b"), unmet("c", { asked: 2 }), unmet("d", { set: setName("other") })),
  );
  expect(JSON.parse(text)).toMatchObject({
    runs: [
      { set: "standard", ids: ["a", "b"], asked: 1 },
      { ids: ["c"], asked: 2 },
      { set: "other", ids: ["d"] },
    ],
  });
});

test("what a build without runs wrote is read", () => {
  const { demands, nodes: _nodes, ...rest } = planOf(unmet("a"));
  expect(planCodec.read(JSON.stringify({ ...rest, demands, nodes: [] }))).toEqual(planOf(unmet("a")));
});
