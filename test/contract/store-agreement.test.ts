import * as fc from "fast-check";
import { expect, test } from "vitest";
import { memoryRecordStore } from "../../src/adapters/memory/record-store.ts";
import { tableRecordStore } from "../../src/adapters/tables/record-store.ts";
import { openTable } from "../../src/adapters/tables/open-table.ts";
import type { LoadedRecord, RecordStore } from "../../src/app/ports/record-store.ts";
import type { SchedulerNode, SetDemand } from "../../src/domain/demand.ts";
import type { Digest } from "../../src/domain/ids.ts";
import { clusterName, digest, setName } from "../../src/domain/ids.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import { plusSeconds } from "../../src/domain/units.ts";
import { azuriteForThisFile } from "../support/azurite.ts";
import { IS_DEEP } from "../property/runs.ts";
import { emptyRecord, SAMPLE_TIME, sampleEntry } from "../support/sample-record.ts";

const azurite = azuriteForThisFile();
const demo = clusterName("demo");

/** One save: what becomes of some of eight sets. */
interface Step {
  readonly set: number;
  /** Which of six demands it has then; undefined: the set is removed. */
  readonly demand: number | undefined;
  readonly live: boolean;
  readonly reports: boolean;
  /** Another process does it. */
  readonly elsewhere: boolean;
  readonly collect: boolean;
}

const steps = fc.array(
  fc.record<Step>({
    set: fc.nat(7),
    demand: fc.option(fc.nat(5), { nil: undefined, freq: 6 }),
    live: fc.boolean(),
    reports: fc.boolean(),
    elsewhere: fc.boolean(),
    collect: fc.boolean(),
  }),
  { minLength: 1, maxLength: 12 },
);

/** Demands from a few bytes to over 64 KiB, so that packs and bodies of their own both come and go. */
function demandOf(number: number): { readonly digest: Digest; readonly body: SetDemand } {
  const name = "licence ".repeat(4 ** number * 10);
  return {
    digest: digest(`d${number}`),
    body: { demands: [], pools: [{ name, total: number, used: 0 }], rejectedJobs: [] },
  };
}

const reportOf = (number: number): readonly SchedulerNode[] => [{ hostname: `host-${number}`, jobs: [] }];

function applied(record: ClusterRecord, { set, demand, live, reports }: Step): ClusterRecord {
  const sets = new Map(record.sets);
  const name = setName(`set-${set}`);
  if (demand === undefined) sets.delete(name);
  else {
    const report = reports ? digest(`r${set}`) : undefined;
    sets.set(name, { ...sampleEntry(demandOf(demand).digest, report), live });
  }
  return { ...record, plan: record.plan + 1, sets };
}

/** Everything that any set could name; a store takes of it what it needs. */
const changes = {
  demands: new Map([0, 1, 2, 3, 4, 5].map(demandOf).map(({ digest: named, body }) => [named, body])),
  reports: new Map([0, 1, 2, 3, 4, 5, 6, 7].map((number) => [digest(`r${number}`), reportOf(number)])),
};

async function take(store: RecordStore, step: Step): Promise<LoadedRecord> {
  const before = await store.load(demo);
  const outcome = await store.save(applied(before?.record ?? emptyRecord(demo), step), changes, before);
  if (outcome.kind === "conflict") throw new Error("unexpected conflict");
  return outcome.loaded;
}

test("after any sequence of saves by two processes, Table Storage holds what memory holds", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (sequence) => {
      const table = openTable(azurite.account(), { name: azurite.freshName() });
      await table.ensure();
      const clock = { now: () => SAMPLE_TIME };
      const [here, elsewhere] = [tableRecordStore(table, clock), tableRecordStore(table, clock)];
      const model = memoryRecordStore();
      for (const step of sequence) {
        const expected = await take(model, step);
        await take(step.elsewhere ? elsewhere : here, step);
        if (step.collect) await here.collect(demo, plusSeconds(SAMPLE_TIME, 4000));
        const cold = tableRecordStore(table, clock);
        const found = await cold.load(demo);
        expect(found?.record).toStrictEqual(expected.record);
        expect(found && (await cold.bodies(found))).toStrictEqual(await model.bodies(await loadedOf(model)));
      }
    }),
    // In a DEEP run these are the first of more.
    { numRuns: IS_DEEP ? 200 : 12, seed: 20_261_120 },
  );
});

async function loadedOf(model: ReturnType<typeof memoryRecordStore>) {
  return (await model.load(demo)) ?? Promise.reject(new Error("no record"));
}
