import { expect, test } from "vitest";
import { beginPlanning, endPlanning, forgetDeaths, leftOutBy } from "../../../src/decide/record/processes.ts";
import { processId } from "../../../src/domain/ids.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import { at } from "../../support/build-node.ts";
import { EMPTY_RECORD } from "../../support/build-record.ts";

const begin = (record: ClusterRecord, name: string, seconds: number): ClusterRecord =>
  beginPlanning(record, processId(name), at(seconds));

/** Processes that each begin a plan and die, one each three minutes. */
function dying(record: ClusterRecord, from: number, count: number): ClusterRecord {
  return Array.from({ length: count }, (_, index) => index).reduce(
    (before, index) => begin(before, `p${from + index * 180}`, from + index * 180),
    record,
  );
}

test("one death is no reason: an instance may end at any time", () => {
  const record = dying(EMPTY_RECORD, 0, 2);
  expect(record.deaths).toEqual({ count: 1, at: at(180) });
  expect(leftOutBy(record, at(180))).toBe(0);
});

test("after two in a row one set is left out, and twice as many after each further one", () => {
  const counts = [3, 4, 5, 6].map((processes) => {
    const record = dying(EMPTY_RECORD, 0, processes);
    return leftOutBy(record, at((processes - 1) * 180));
  });
  expect(counts).toEqual([1, 2, 4, 8]);
});

test("a plan that is under way elsewhere is no death", () => {
  const record = begin(begin(EMPTY_RECORD, "a", 0), "b", 119);
  expect(record.deaths).toBeUndefined();
  expect(record.planning?.map(({ process }) => process)).toEqual(["a", "b"]);
});

test("an observation that ended is no death, nor is a process that begins again", () => {
  const ended = endPlanning(begin(EMPTY_RECORD, "a", 0), processId("a"));
  expect(ended.planning).toBeUndefined();
  expect(begin(begin(EMPTY_RECORD, "a", 0), "a", 300).deaths).toBeUndefined();
});

test("ten minutes later a plan tries with all; if that ends in a death, as many are left out as before", () => {
  const record = dying(EMPTY_RECORD, 0, 4);
  expect(leftOutBy(record, at(540))).toBe(2);
  const calm = endPlanning(record, processId("p540"));
  expect(leftOutBy(calm, at(1139))).toBe(2);
  expect(leftOutBy(calm, at(1140))).toBe(0);
  const tried = begin(begin(calm, "trial", 1140), "next", 1320);
  expect(tried.deaths).toEqual({ count: 3, at: at(1320) });
  expect(leftOutBy(tried, at(1320))).toBe(2);
});

test("a death with some sets left out leaves out more", () => {
  const record = begin(dying(EMPTY_RECORD, 0, 3), "last", 540);
  expect(record.deaths).toEqual({ count: 3, at: at(540) });
});

test("a plan with all sets ends it", () => {
  expect(leftOutBy(forgetDeaths(dying(EMPTY_RECORD, 0, 4), at(540)), at(540))).toBe(0);
});

test("a process that died before a plan with all sets was made did not die of the record", () => {
  const both = begin(begin(EMPTY_RECORD, "before", 0), "after", 60);
  const planned = forgetDeaths(both, at(30));
  expect(planned.planning?.map(({ process }) => process)).toEqual(["after"]);
  expect(begin(planned, "next", 300).deaths).toEqual({ count: 1, at: at(300) });
});
