/** P1 of design.md section 6. How to replay a failure stands in runs.ts. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { accept } from "../../src/decide/accept.ts";
import type { RequestSetUpdate } from "../../src/domain/demand.ts";
import { setName } from "../../src/domain/ids.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import { at, NOW } from "../support/build-node.ts";
import { buildUpdate, EMPTY_RECORD } from "../support/build-record.ts";
import { runsOf, TIMEOUT } from "./runs.ts";

const runs = runsOf(20_251_119, { deep: 50_000 });

/** Few values of everything, so that messages often agree in some of it; some have expired on arrival. */
const anyUpdate: fc.Arbitrary<RequestSetUpdate> = fc
  .record({
    set: fc.constantFrom("standard", "other"),
    revisionValue: fc.nat(2),
    tieBreak: fc.constantFrom("", "a", "b"),
    target: fc.nat(2),
    sent: fc.integer({ min: -3, max: 0 }),
    lasts: fc.constantFrom(2, 5, 9),
    host: fc.constantFrom(undefined, "ip-a", "ip-b"),
  })
  .map(({ set, revisionValue, tieBreak, target, sent, lasts, host }) =>
    buildUpdate(target, {
      set: setName(set),
      revisionValue,
      tieBreak,
      sentAt: at(sent),
      intervalSeconds: lasts,
      expiresAt: at(sent + lasts),
      ...(host === undefined ? {} : { schedulerNodes: [{ hostname: host, jobs: [] }] }),
    }),
  );

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

test(
  "P1: any order and any number of deliveries give the same sets",
  () => {
    fc.assert(
      fc.property(deliveredTwice, ({ updates, again }) => {
        expect(acceptAll(again).sets).toEqual(acceptAll(updates).sets);
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
        expect(acceptAll(yours, acceptAll(mine)).sets).toEqual(acceptAll(mine, acceptAll(yours)).sets);
      }),
      runs,
    );
  },
  TIMEOUT,
);

test(
  "P1: the generation moves exactly when the demand in force of some set does",
  () => {
    fc.assert(
      fc.property(anyUpdates, (updates) => {
        let record = EMPTY_RECORD;
        for (const update of updates) {
          const before = record;
          record = acceptAll([update], record);
          const moved = record.sets.get(update.set)?.digest !== before.sets.get(update.set)?.digest;
          expect(record.generation - before.generation).toBe(moved ? 1 : 0);
        }
      }),
      runs,
    );
  },
  TIMEOUT,
);
