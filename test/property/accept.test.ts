/** P1 of architecture.md, Properties. How to replay a failure stands in runs.ts. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { accept } from "../../src/decide/record/accept.ts";
import { recallSets, retireSets } from "../../src/decide/record/finished-sets.ts";
import type { Pool, RequestSetUpdate, SchedulerNode, SetDemand } from "../../src/domain/demand.ts";
import { compareRevisions } from "../../src/domain/demand.ts";
import type { Digest } from "../../src/domain/ids.ts";
import { digest, setName } from "../../src/domain/ids.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import type { Held } from "../../src/domain/request-sets.ts";
import { poolsOf, reportsOf } from "../../src/domain/request-sets.ts";
import { at, NOW } from "../support/build-node.ts";
import { buildPartial, buildTarget, buildUpdate, EMPTY_RECORD } from "../support/build-record.ts";
import { runsOf, TIMEOUT } from "./runs.ts";
import { lapseParts } from "../../src/decide/record/lapse.ts";

const runs = runsOf(20_251_119, { usual: 150, deep: 50_000 });

/**
 * Few values of everything, so that messages often agree in some of it; some have expired on arrival. Each part of a message is absent as
 * often as present.
 */
const anyUpdate: fc.Arbitrary<RequestSetUpdate> = fc
  .record({
    set: fc.constantFrom("standard", "other"),
    revisionValue: fc.nat(2),
    tieBreak: fc.constantFrom("", "a", "b"),
    target: fc.constantFrom(undefined, undefined, undefined, 0, 1, 2),
    sent: fc.integer({ min: -3, max: 0 }),
    lasts: fc.constantFrom(2, 5, 9),
    host: fc.constantFrom(undefined, undefined, undefined, "none", "ip-a", "ip-b"),
    licences: fc.constantFrom(undefined, undefined, undefined, 0, 1, 2),
  })
  .filter(
    ({ target, host, licences }) => target !== undefined || host !== undefined || licences !== undefined,
  )
  .map(({ set, revisionValue, tieBreak, target, sent, lasts, host, licences }): RequestSetUpdate => {
    const envelope = {
      set: setName(set),
      sentAt: at(sent),
      intervalSeconds: lasts,
      expiresAt: at(sent + lasts),
      ...(host === undefined ? {} : { schedulerNodes: hostsNamed(host) }),
    };
    const pools = licences === undefined ? undefined : poolsOfSize(licences);
    if (target === undefined)
      return buildPartial(
        { ...envelope, ...(pools === undefined ? {} : { pools }) },
        { revisionValue, tieBreak },
      );
    const demand = { demands: [buildTarget(target)], pools: pools ?? [], rejectedJobs: [] };
    return buildUpdate(target, {
      ...envelope,
      revisionValue,
      tieBreak,
      demand,
      digest: digest(JSON.stringify(demand)),
    });
  });

const hostsNamed = (host: string): readonly SchedulerNode[] =>
  host === "none" ? [] : [{ hostname: host, jobs: [] }];
const poolsOfSize = (total: number): readonly Pool[] =>
  total === 0 ? [] : [{ name: "licence", total, used: 0 }];

const anyUpdates = fc.array(anyUpdate, { minLength: 1, maxLength: 8 });

/** The same messages in another order, some of them more than once. */
const deliveredTwice = anyUpdates.chain((updates) =>
  fc.record({
    updates: fc.constant(updates),
    again: fc
      .array(fc.constantFrom(...updates), { maxLength: 4 })
      .chain((repeats) =>
        fc.shuffledSubarray([...updates, ...repeats], { minLength: updates.length + repeats.length }),
      ),
  }),
);

function acceptAll(updates: readonly RequestSetUpdate[], from: ClusterRecord = EMPTY_RECORD): ClusterRecord {
  return updates.reduce((record, update) => {
    const outcome = accept(record, update, NOW);
    return outcome.kind === "accepted" ? outcome.record : record;
  }, from);
}

/** All that a record holds of its senders. */
const heldOf = ({ sets, separateReports, separatePools }: ClusterRecord): Held => ({
  sets,
  separateReports,
  separatePools,
});

test(
  "P1: any order and any number of deliveries give the same sets",
  () => {
    fc.assert(
      fc.property(deliveredTwice, ({ updates, again }) => {
        expect(heldOf(acceptAll(again))).toEqual(heldOf(acceptAll(updates)));
      }),
      runs,
    );
  },
  TIMEOUT,
);

test(
  "P1: two instances that each saw a part agree once each has seen the other's",
  () => {
    fc.assert(
      fc.property(anyUpdates, anyUpdates, (mine, yours) => {
        expect(heldOf(acceptAll(yours, acceptAll(mine)))).toEqual(heldOf(acceptAll(mine, acceptAll(yours))));
      }),
      runs,
    );
  },
  TIMEOUT,
);

/** The same message at a revision of its own. */
const renumbered = (updates: readonly RequestSetUpdate[], order: readonly number[]) =>
  updates.map((update, index) => ({ ...update, revision: { value: order[index] ?? index, tieBreak: "" } }));

test(
  "P1: sets that have left the record refuse and take what they would have in it",
  () => {
    const inAnyOrder = anyUpdates.chain((updates) =>
      fc.record({
        updates: fc
          .shuffledSubarray([...updates.keys()], { minLength: updates.length })
          .map((order) => renumbered(updates, order)),
        finishedAfter: fc.nat(updates.length),
      }),
    );
    fc.assert(
      fc.property(inAnyOrder, ({ updates, finishedAfter }) => {
        const over = lapseParts(acceptAll(updates.slice(0, finishedAfter)), at(1_000), 86_400);
        const { record: left, finished } = retireSets(over, { shown: 0, most: 0 });
        expect(heldOf(left)).toEqual({
          sets: new Map(),
          separateReports: new Map(),
          separatePools: new Map(),
        });
        const later = updates.slice(finishedAfter);
        let [inRecord, apart] = [over, left];
        for (const update of later) {
          const one = accept(inRecord, update, NOW);
          const other = accept(recallSets(apart, finished, [update.set]), update, NOW);
          expect(other.kind).toBe(one.kind);
          if (one.kind === "accepted") inRecord = one.record;
          if (other.kind === "accepted") apart = other.record;
        }
        const touched = later.map(({ set }) => set);
        const liveParts = (record: ClusterRecord) =>
          [record.sets, record.separateReports, record.separatePools].map((entries) =>
            touched.map((set) => (entries.get(set)?.live === true ? entries.get(set) : undefined)),
          );
        expect(liveParts(apart)).toEqual(liveParts(inRecord));
      }),
      runs,
    );
  },
  TIMEOUT,
);

test(
  "P1: the generation moves exactly when the demand or the pools in force of some set do",
  () => {
    fc.assert(
      fc.property(anyUpdates, (updates) => {
        let record = EMPTY_RECORD;
        const bodies = new Map<Digest, SetDemand>();
        for (const update of updates) {
          const before = record;
          const outcome = accept(before, update, NOW);
          if (outcome.kind !== "accepted") continue;
          ({ record } = outcome);
          for (const [named, body] of outcome.demands) bodies.set(named, body);
          const digestOf = ({ sets }: ClusterRecord) => sets.get(update.set)?.digest;
          const poolsOfSet = (held: ClusterRecord) =>
            bodies.get(poolsOf(held).get(update.set)?.digest ?? digest("none"))?.pools ?? [];
          const moved = digestOf(record) !== digestOf(before);
          const otherPools = JSON.stringify(poolsOfSet(record)) !== JSON.stringify(poolsOfSet(before));
          const isFirst = !before.separatePools.has(update.set) && record.separatePools.has(update.set);
          // Whether pools that came with demand are the very same cannot be seen without its body: a plan too many.
          const moves = moved || otherPools || (isFirst && before.sets.has(update.set));
          expect(record.generation - before.generation).toBe(moves ? 1 : 0);
        }
      }),
      runs,
    );
  },
  TIMEOUT,
);

test(
  "P1: each part that is in force is of the highest revision that was sent for it",
  () => {
    fc.assert(
      fc.property(anyUpdates, (updates) => {
        const record = acceptAll(updates);
        const sent = updates.filter(({ set, expiresAt }) => set === "standard" && expiresAt > NOW);
        const newest = (has: (update: RequestSetUpdate) => boolean) =>
          sent
            .filter((update) => update.demand !== undefined || has(update))
            .map(({ revision }) => revision)
            .toSorted(compareRevisions)
            .at(-1);
        const standard = setName("standard");
        expect(record.sets.get(standard)?.revision).toEqual(newest(() => false));
        expect(reportsOf(record).get(standard)?.revision).toEqual(
          newest(({ schedulerNodes }) => schedulerNodes !== undefined),
        );
        expect(poolsOf(record).get(standard)?.revision).toEqual(
          newest((update) => update.demand === undefined && update.pools !== undefined),
        );
      }),
      runs,
    );
  },
  TIMEOUT,
);
