import { expect, test } from "vitest";
import { reserveForHead } from "../../../src/local/workload/backfill.ts";

const running = [
  { expectedEnd: 50, openSlots: 4 },
  { expectedEnd: 200, openSlots: 3 },
  { expectedEnd: 300, openSlots: 2 },
];

test.each([
  {
    name: "waits for the second end and leaves one slot",
    wanted: 8,
    free: 2,
    coming: 0,
    expected: { kind: "reserved", shadowAt: 200, spareSlots: 1 },
  },
  {
    name: "a job past its expected end is taken to end now",
    wanted: 6,
    free: 2,
    coming: 0,
    expected: { kind: "reserved", shadowAt: 100, spareSlots: 0 },
  },
  {
    name: "hosts still to come are counted on at once",
    wanted: 8,
    free: 2,
    coming: 10,
    expected: { kind: "reserved", shadowAt: 100, spareSlots: 4 },
  },
  {
    name: "hosts still to come shorten the wait for others",
    wanted: 8,
    free: 0,
    coming: 1,
    expected: { kind: "reserved", shadowAt: 200, spareSlots: 0 },
  },
  {
    name: "wider than everything present",
    wanted: 12,
    free: 2,
    coming: 0,
    expected: { kind: "out-of-reach" },
  },
])("$name", ({ wanted, free, coming, expected }) => {
  expect(reserveForHead({ now: 100, wanted, freeSlots: free, comingSlots: coming, running })).toEqual(
    expected,
  );
});
