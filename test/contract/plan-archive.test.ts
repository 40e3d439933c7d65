import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { memoryPlanArchive } from "../../src/adapters/memory/stores.ts";
import { ledgerCodec } from "../../src/adapters/tables/codec.ts";
import { storedText } from "../support/stored-text.ts";
import { compress } from "../../src/adapters/tables/compress.ts";
import { historyPartition, planKey } from "../../src/adapters/tables/keys.ts";
import { openTable } from "../../src/adapters/tables/open-table.ts";
import { tablePlanArchive } from "../../src/adapters/tables/plan-archive.ts";
import { planCodec } from "../../src/adapters/tables/plan-codec.ts";
import { chunkProperties } from "../../src/adapters/tables/rows.ts";
import type { PlanArchive } from "../../src/app/ports/record-store.ts";
import { clusterName, nodeId, setName } from "../../src/domain/ids.ts";
import type { KeptPlan } from "../../src/domain/kept-plan.ts";
import { keepPlan } from "../../src/domain/kept-plan.ts";
import type { DemandOutcome, Plan } from "../../src/domain/plan.ts";
import { plusSeconds } from "../../src/domain/units.ts";
import { azuriteForThisFile } from "../support/azurite.ts";
import { memoryTable } from "../support/memory-table.ts";
import { SAMPLE_BODIES } from "../support/sample-bodies.ts";
import { SAMPLE_TIME } from "../support/sample-record.ts";

/** What the archive of plans promises (app/ports/record-store.ts), in memory and on Azurite. */
const azurite = azuriteForThisFile();

const kinds: readonly { readonly name: string; make: () => Promise<PlanArchive> }[] = [
  { name: "memory", make: async () => memoryPlanArchive() },
  {
    name: "Azurite",
    async make() {
      const table = openTable(azurite.account(), { name: azurite.freshName() });
      await table.ensure();
      return tablePlanArchive(table);
    },
  },
];

const demo = clusterName("demo/1");
const other = clusterName("demo");
const later = (seconds: number) => plusSeconds(SAMPLE_TIME, seconds);

/** The sample's plan, with every kind of everything, under another number and time. */
function kept(number: number, seconds = 0, more: Partial<Plan> = {}): KeptPlan {
  const { plan, ledger } = SAMPLE_BODIES;
  if (plan === undefined) throw new Error("the sample has a plan");
  return keepPlan({ ...plan, number, at: later(seconds), ...more }, ledger);
}

async function numbersOf(
  plans: PlanArchive,
  ...query: Parameters<PlanArchive["list"]>
): Promise<readonly number[]> {
  return (await plans.list(...query)).map(({ number }) => number);
}

describe.each(kinds)("plans: $name", ({ make }) => {
  test("kept and read back whole, by cluster and number; a number kept again is replaced", async () => {
    const plans = await make();
    await plans.keep(demo, kept(7));
    await plans.keep(demo, kept(8, 60));
    await plans.keep(demo, kept(8, 90));
    await plans.keep(other, kept(9));
    expect(await plans.read(demo, 7)).toEqual(kept(7));
    expect(await plans.read(demo, 8)).toEqual(kept(8, 90));
    expect(await plans.read(demo, 9)).toBeUndefined();
    expect(await numbersOf(plans, demo, 0, 100, 10)).toEqual([7, 8]);
    expect(await plans.list(demo, 8, 8, 10)).toEqual([{ number: 8, at: later(90), counts: kept(8).counts }]);
    expect(await numbersOf(plans, demo, 0, 100, 1)).toEqual([7]);
    expect(await numbersOf(plans, demo, 9, 100, 10)).toEqual([]);
  });

  test("pruned by age, in more than one transaction", async () => {
    const plans = await make();
    // A transaction holds 100 operations.
    for (let number = 0; number < 104; number++) await plans.keep(demo, kept(number, number));
    await plans.keep(other, kept(1));
    expect(await plans.prune(demo, later(101))).toBe(101);
    expect(await plans.prune(demo, later(101))).toBe(0);
    expect(await numbersOf(plans, demo, 0, 1000, 1000)).toEqual([101, 102, 103]);
    expect(await numbersOf(plans, other, 0, 1000, 1000)).toEqual([1]);
  });
});

/** Texts that do not compress: 32 random-looking bytes each. */
const noise = (number: number): string => createHash("sha256").update(String(number)).digest("hex");

describe("a plan that no row can hold", () => {
  const outcome = (number: number, placed: number): DemandOutcome => ({
    set: setName("standard"),
    id: noise(number),
    kind: "job",
    unit: "slots",
    asked: 2,
    placed,
    pending: 0,
    reasons: placed === 2 ? [] : [{ code: "no-bucket", array: "execute" }],
  });
  const nodesOf = (count: number): Plan["nodes"] =>
    new Map(
      Array.from({ length: count }, (_, i) => [
        nodeId(noise(i)),
        i < 3 ? { kind: "busy" } : { kind: "needed", by: [noise(i)] },
      ]),
    );

  test.each([
    {
      name: "demands that lack nothing are left out; the others keep their ranks",
      more: { demands: Array.from({ length: 40_000 }, (_, i) => outcome(i, i % 1000 === 999 ? 1 : 2)) },
      expected: {
        demands: 40,
        kept: { positions: Array.from({ length: 40 }, (_, i) => i * 1000 + 999), of: 40_000 },
      },
      nodes: "all",
      counts: { demands: 40_000, unmet: 40 },
    },
    {
      name: "so are nodes that are needed",
      more: { demands: [outcome(1, 2), outcome(2, 0)], nodes: nodesOf(30_000) },
      expected: { demands: 1, kept: { positions: [1], of: 2 } },
      nodes: 3,
      counts: { demands: 2, unmet: 1, nodes: 30_000 },
    },
    {
      name: "in the end a few of those that are short are left",
      more: { demands: Array.from({ length: 40_000 }, (_, i) => outcome(i, 0)), nodes: nodesOf(30_000) },
      expected: { demands: 5000, kept: { of: 40_000 } },
      nodes: 3,
      counts: { demands: 40_000, unmet: 40_000, nodes: 30_000 },
    },
  ])("$name", async ({ more, expected, nodes, counts }) => {
    const table = openTable(azurite.account(), { name: azurite.freshName() });
    await table.ensure();
    const plans = tablePlanArchive(table);
    await plans.keep(demo, kept(1, 0, more));
    const read = await plans.read(demo, 1);
    expect(read?.counts).toMatchObject(counts);
    expect(read?.plan.demands).toHaveLength(expected.demands);
    expect(read?.plan.kept).toMatchObject(expected.kept);
    expect(read?.plan.nodes.size).toBe(nodes === "all" ? kept(1).plan.nodes.size : nodes);
    expect(read?.plan.loads?.loads).toEqual([]);
  });
});

test("a plan that a build before 0.1.0 kept, with each part as a text of its own, is read", async () => {
  const table = memoryTable({ sleep: async () => undefined });
  const { plan, ledger, counts } = kept(7);
  const text = JSON.stringify({
    plan: storedText(planCodec, plan),
    ledger: storedText(ledgerCodec, ledger),
    counts,
  });
  const row = { madeAt: BigInt(plan.at), counts: JSON.stringify(counts) };
  await table.put(historyPartition(demo), planKey(7), { ...row, ...chunkProperties(await compress(text)) });
  expect(await tablePlanArchive(table).read(demo, 7)).toEqual(kept(7));
});
