import { expect, test } from "vitest";
import { accept } from "../../../src/decide/record/accept.ts";
import { noteHeap, smallestHeap, setAside } from "../../../src/decide/record/processes.ts";
import { digest, setName } from "../../../src/domain/ids.ts";
import { budgetOf } from "../../../src/domain/memory-budget.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import type { SetEntry } from "../../../src/domain/request-sets.ts";
import { at, NOW } from "../../support/build-node.ts";
import { buildJob, buildUpdate, EMPTY_RECORD } from "../../support/build-record.ts";

const MIB = 1024 * 1024;

test("the smallest heap of the last hour counts, whichever process asks; without any the asker's own", () => {
  expect(smallestHeap(EMPTY_RECORD, 1048 * MIB, at(0))).toBe(1048 * MIB);
  const both = noteHeap(noteHeap(EMPTY_RECORD, 259 * MIB, at(0)), 1048 * MIB, at(60));
  expect(smallestHeap(both, 4096 * MIB, at(60))).toBe(259 * MIB);
  expect(smallestHeap(both, 100 * MIB, at(60))).toBe(259 * MIB);
  expect(smallestHeap(both, 4096 * MIB, at(3600))).toBe(1048 * MIB);
});

test("each size is noted once, however often it plans", () => {
  const record = [0, 60, 120].reduce(
    (before, second) => noteHeap(before, 259 * MIB, at(second)),
    EMPTY_RECORD,
  );
  expect(record.heaps).toEqual([{ bytes: 259 * MIB, at: at(120) }]);
});

/** Sets that each need some MiB for plans, whose content came one second after the other. */
function holding(...memory: readonly number[]): ClusterRecord {
  const entries = memory.map((mebibytes, index): [ReturnType<typeof setName>, SetEntry] => [
    setName(`s${index}`),
    {
      revision: { value: NOW - 60_000, tieBreak: "" },
      intervalSeconds: 300,
      sentAt: at(-60),
      acceptedAt: at(-60 + index),
      expiresAt: at(240),
      digest: digest(`d${index}`),
      live: true,
      size: { jobs: 1, bytes: 10, memory: mebibytes * MIB },
    },
  ]);
  return { ...EMPTY_RECORD, sets: new Map(entries) };
}

const namesOf = (record: ClusterRecord, mebibytes: number) =>
  [...setAside(record, mebibytes * MIB, NOW)].map(([set, why]) => `${set} ${why}`);

test("what fits is read whole", () => {
  expect(namesOf(holding(30, 30, 30), 90)).toEqual([]);
});

test("what came last is not read where memory is short; what is small still fits", () => {
  expect(namesOf(holding(30, 30, 30, 5), 70)).toEqual(["s2 memory"]);
});

test("a renewal does not make a set the newest", () => {
  const record = holding(30, 30, 30);
  const [name, first] = [...record.sets][0] ?? [];
  if (name === undefined || first === undefined) throw new Error("no set");
  const renewed = { ...first, acceptedAt: NOW, contentAt: first.acceptedAt };
  expect(namesOf({ ...record, sets: new Map(record.sets).set(name, renewed) }, 70)).toEqual(["s2 memory"]);
});

test("after deaths the newest are not read, whatever they need", () => {
  const record = { ...holding(1, 1, 1), deaths: { count: 3, at: NOW } };
  expect(namesOf(record, 90)).toEqual(["s1 deaths", "s2 deaths"]);
});

test("a message is refused where it would need more memory than the smallest heap allows, with the reason in words", () => {
  const memory = budgetOf(259 * MIB).demand;
  const jobs = Array.from({ length: 60_000 }, (_, index) => buildJob(`job-${index}`, 1, { position: index }));
  const update = buildUpdate(1, { demand: { demands: jobs, pools: [], rejectedJobs: [] } });
  expect(accept(EMPTY_RECORD, update, NOW, { memory })).toMatchObject({
    kind: "too-much",
    problem: {
      found: "86.9 MiB of memory for plans of request set standard with this message",
      expected:
        "at most 44.1 MiB of memory for plans, half of what a cluster holds: without rules in senders no request set has more",
    },
  });
  expect(accept(EMPTY_RECORD, update, NOW).kind).toBe("accepted");
});
