import { describe, expect, test } from "vitest";
import type { BodyChanges, LoadedRecord, RecordStore } from "../../src/app/ports/record-store.ts";
import type { SetDemand } from "../../src/domain/demand.ts";
import type { ClusterName, Digest } from "../../src/domain/ids.ts";
import { clusterName, digest, nodeId, setName } from "../../src/domain/ids.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import type { SetEntry } from "../../src/domain/request-sets.ts";
import { plusSeconds } from "../../src/domain/units.ts";
import { emptyRecord, SAMPLE_RECORD, SAMPLE_TIME, sampleEntry } from "../support/sample-record.ts";
import { SAMPLE_BODIES } from "../support/sample-bodies.ts";

/** Two processes' views of the same, empty storage. */
export interface StorePair {
  readonly store: RecordStore;
  readonly other: RecordStore;
}

/** A demand that differs by its number, and its digest. */
export function numberedDemand(number: number): { readonly digest: Digest; readonly body: SetDemand } {
  return {
    digest: digest(`digest-${number}`),
    body: { demands: [], pools: [{ name: "licence", total: number, used: 0 }], rejectedJobs: [] },
  };
}

/** The record with one more set, or one set changed, and the change of bodies that goes with it. */
function withSet(record: ClusterRecord, name: string, number: number): readonly [ClusterRecord, BodyChanges] {
  const demand = numberedDemand(number);
  const sets = new Map<ReturnType<typeof setName>, SetEntry>(record.sets).set(
    setName(name),
    sampleEntry(demand.digest),
  );
  return [{ ...record, sets }, { demands: new Map([[demand.digest, demand.body]]) }];
}

async function saved(
  store: RecordStore,
  record: ClusterRecord,
  changes: BodyChanges,
  previous?: LoadedRecord,
) {
  const outcome = await store.save(record, changes, previous);
  if (outcome.kind === "conflict") throw new Error("unexpected conflict");
  return outcome.loaded;
}

async function loaded(store: RecordStore, cluster: ClusterName): Promise<LoadedRecord> {
  return (await store.load(cluster)) ?? Promise.reject(new Error(`no record of ${cluster}`));
}

const demo = clusterName("demo");

/** What every record store promises (app/ports/record-store.ts). `make` gives empty storage. */
export function describeStore(name: string, make: () => Promise<StorePair>): void {
  describe(`record store: ${name}`, () => {
    test("a cluster without a record loads as undefined", async () => {
      const { store } = await make();
      expect(await store.load(demo)).toBeUndefined();
      expect(await store.collect(demo, SAMPLE_TIME)).toBe(0);
    });

    test("every field of record and bodies comes back as it went in, in another process too", async () => {
      const { store, other } = await make();
      await saved(store, SAMPLE_RECORD, SAMPLE_BODIES);
      const found = await loaded(other, SAMPLE_RECORD.cluster);
      expect(found.record).toStrictEqual(SAMPLE_RECORD);
      expect(await other.bodies(found)).toStrictEqual(SAMPLE_BODIES);
    });

    test("the virtual fleet comes back as it went in, and stays where a save does not name it", async () => {
      const { store, other } = await make();
      const comparison = { days: [{ day: "2026-11-20", arrays: [], waiting: { real: 60, virtual: 0 } }] };
      const virtual = { at: SAMPLE_TIME, arrays: [], nodes: [], moved: [], boots: [], made: 3, comparison };
      const first = await saved(store, emptyRecord(demo), { virtual });
      expect((await other.bodies(await loaded(other, demo)))?.virtual).toStrictEqual(virtual);
      await saved(store, { ...first.record, plan: 1 }, {}, first);
      const found = await loaded(other, demo);
      expect(found.record).toStrictEqual({ ...emptyRecord(demo), plan: 1 });
      expect((await other.bodies(found))?.virtual).toStrictEqual(virtual);
    });

    test("of two writers that loaded the same version one wins, and the loser has changed nothing", async () => {
      const { store, other } = await make();
      await saved(store, emptyRecord(demo), {});
      const [first, second] = [await loaded(store, demo), await loaded(other, demo)];
      expect((await store.save({ ...first.record, plan: 1 }, {}, first)).kind).toBe("saved");
      const [record, changes] = withSet(second.record, "late", 1);
      expect(await other.save(record, changes, second)).toStrictEqual({ kind: "conflict" });
      expect((await loaded(other, demo)).record).toStrictEqual({ ...emptyRecord(demo), plan: 1 });
    });

    test("a record is born once", async () => {
      const { store, other } = await make();
      await saved(store, emptyRecord(demo), {});
      expect(await other.save({ ...emptyRecord(demo), plan: 9 }, {}, undefined)).toStrictEqual({
        kind: "conflict",
      });
      expect((await loaded(other, demo)).record.plan).toBe(0);
    });

    test("clusters with like names are apart", async () => {
      const { store } = await make();
      const names = ["a b", "a=20b", "a/b", "a\\b", "a#b", "a?b", "a%20b", "a'b", "A B"].map(clusterName);
      for (const [plan, cluster] of names.entries())
        await saved(store, { ...emptyRecord(cluster), plan }, {});
      const plans = await Promise.all(
        names.map(async (cluster) => (await loaded(store, cluster)).record.plan),
      );
      expect(plans).toStrictEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    });

    test("twenty writers at once, each starting over on a conflict, count to exactly twenty", async () => {
      const { store, other } = await make();
      await saved(store, emptyRecord(demo), {});
      const increment = async (through: RecordStore): Promise<void> => {
        const before = await loaded(through, demo);
        const outcome = await through.save({ ...before.record, plan: before.record.plan + 1 }, {}, before);
        if (outcome.kind === "conflict") return increment(through);
      };
      await Promise.all(Array.from({ length: 20 }, (_, index) => increment(index % 2 === 0 ? store : other)));
      expect((await loaded(store, demo)).record.plan).toBe(20);
    });

    test("a save that names no bodies keeps those there are", async () => {
      const { store, other } = await make();
      const first = await saved(store, SAMPLE_RECORD, SAMPLE_BODIES);
      const renewed = new Map(
        [...SAMPLE_RECORD.sets].map(([set, entry]) => [set, { ...entry, intervalSeconds: 60 }]),
      );
      await saved(store, { ...SAMPLE_RECORD, plan: 18, sets: renewed }, {}, first);
      expect(await other.bodies(await loaded(other, SAMPLE_RECORD.cluster))).toStrictEqual(SAMPLE_BODIES);
    });

    test("a save replaces the bodies that it names and keeps the others", async () => {
      const { store, other } = await make();
      const first = await saved(store, SAMPLE_RECORD, SAMPLE_BODIES);
      await saved(store, SAMPLE_RECORD, { ledger: new Map() }, first);
      const bodies = await other.bodies(await loaded(other, SAMPLE_RECORD.cluster));
      expect(bodies).toStrictEqual({ ...SAMPLE_BODIES, ledger: new Map() });
    });

    test("bodies of lapsed, changed and removed sets are dropped, others stay", async () => {
      const { store, other } = await make();
      const [one, one_] = withSet(emptyRecord(demo), "lapses", 1);
      const first = await saved(store, one, one_);
      const [two, two_] = withSet(first.record, "changes", 2);
      const second = await saved(store, two, two_, first);
      const [three, three_] = withSet(second.record, "stays", 3);
      const third = await saved(store, three, three_, second);
      const [four, four_] = withSet(third.record, "changes", 4);
      const lapsed = { ...sampleEntry(numberedDemand(1).digest), live: false };
      const sets = new Map(four.sets).set(setName("lapses"), lapsed);
      const fourth = await saved(store, { ...four, sets }, four_, third);
      const expected = new Map(
        [4, 3].map((number) => [numberedDemand(number).digest, numberedDemand(number).body]),
      );
      expect((await store.bodies(fourth))?.demands).toStrictEqual(expected);
      expect((await other.bodies(await loaded(other, demo)))?.demands).toStrictEqual(expected);
    });

    test("a body that another set holds already need not be given again", async () => {
      const { store, other } = await make();
      const first = await saved(store, ...withSet(emptyRecord(demo), "one", 1));
      const [both] = withSet(first.record, "two", 1);
      const second = await saved(store, both, {}, first);
      const sets = new Map([...second.record.sets].filter(([set]) => set === "two"));
      await saved(store, { ...second.record, sets }, {}, second);
      const { digest: named, body } = numberedDemand(1);
      expect((await other.bodies(await loaded(other, demo)))?.demands).toStrictEqual(
        new Map([[named, body]]),
      );
    });

    test("a record that names a body nobody gave is refused", async () => {
      const { store } = await make();
      const [record] = withSet(emptyRecord(demo), "one", 1);
      await expect(store.save(record, {}, undefined)).rejects.toMatchObject({
        name: "PortError",
        kind: "unexpected",
      });
      expect(await store.load(demo)).toBeUndefined();
    });

    test("the collector leaves what the record names, however old", async () => {
      const { store, other } = await make();
      await saved(store, SAMPLE_RECORD, SAMPLE_BODIES);
      expect(await store.collect(SAMPLE_RECORD.cluster, plusSeconds(SAMPLE_TIME, 1_000_000))).toBe(0);
      expect(await other.bodies(await loaded(other, SAMPLE_RECORD.cluster))).toStrictEqual(SAMPLE_BODIES);
    });

    test("a conflict leaves the record usable: loading again and saving works", async () => {
      const { store, other } = await make();
      const first = await saved(store, emptyRecord(demo), {});
      await saved(other, { ...emptyRecord(demo), plan: 1 }, {}, await loaded(other, demo));
      const [record, changes] = withSet(first.record, "one", 1);
      expect((await store.save(record, changes, first)).kind).toBe("conflict");
      const [again, againChanges] = withSet((await loaded(store, demo)).record, "one", 1);
      await saved(store, again, { ...againChanges, ledger: sampleLedger }, await loaded(store, demo));
      const found = await loaded(other, demo);
      expect(found.record.plan).toBe(1);
      expect((await other.bodies(found))?.ledger).toStrictEqual(sampleLedger);
    });
  });
}

const sampleLedger = new Map([...SAMPLE_BODIES.ledger].filter(([node]) => node === nodeId("n-1")));
