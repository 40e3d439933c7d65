import { describe, expect, test } from "vitest";
import {
  beginObservation,
  endObservation,
  endPriority,
  isLanding,
  isPlanFirst,
  letPlanFirst,
  mendObservations,
  noteChanged,
  noteGoodObservation,
  outageSeconds,
} from "../../../src/decide/pace/observation-times.ts";
import { notBefore } from "../../../src/decide/record/whose-turn.ts";
import { owner, setName } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { Calls, ClusterRecord } from "../../../src/domain/record.ts";
import type { SenderRules } from "../../../src/domain/sender-rules.ts";
import { at, NOW } from "../../support/build-node.ts";
import { EMPTY_RECORD } from "../../support/build-record.ts";
import { SENDER_RULE } from "../../support/sender-rule.ts";

const ours = owner("ours");

/** Seconds after NOW at which the next observation may begin. */
function next(record: ClusterRecord, seconds: number, forDemand = true): number {
  const until = notBefore(record, ours, at(seconds), { forDemand });
  return until === undefined ? seconds : (until - NOW) / 1000;
}

/** An observation that begins and ends at that moment. */
const observe = (record: ClusterRecord, seconds: number): ClusterRecord =>
  endObservation(beginObservation(record, at(seconds)), at(seconds));

describe("the bucket of observations", () => {
  test("three at once, then one each 6 s: 13 in any 60 s", () => {
    let record = EMPTY_RECORD;
    const begun: number[] = [];
    for (let seconds = 0; seconds <= 60; seconds += 0.5) {
      while (next(record, seconds) === seconds) {
        begun.push(seconds);
        record = observe(record, seconds);
      }
    }
    expect(begun).toEqual([0, 0, 0, 6, 12, 18, 24, 30, 36, 42, 48, 54, 60]);
  });

  test("it is full again after 18 s, and no fuller later", () => {
    const empty = [0, 0, 0].reduce(observe, EMPTY_RECORD);
    const full = [18, 18, 18].reduce(observe, empty);
    expect(next(full, 18)).toBe(24);
    expect(next([3600, 3600, 3600].reduce(observe, empty), 3600)).toBe(3606);
  });

  test("an observation without a note of its tokens: there is none for 6 s", () => {
    const record = observe(EMPTY_RECORD, 0);
    expect(next(record, 1)).toBe(1);
    expect(next({ ...record, lookedAt: at(1) }, 1)).toBe(7);
    expect(next({ ...EMPTY_RECORD, lookedAt: at(1) }, 7)).toBe(7);
  });
});

describe("clocks that differ", () => {
  test("an instance an hour ahead has observed: the bucket is set to our clock, and 24 s later we observe", () => {
    const ahead = observe(EMPTY_RECORD, 3600);
    const mended = mendObservations(ahead, NOW);
    expect(mended).toMatchObject({ lookedAt: NOW, looks: { tokens: -3, at: NOW } });
    expect(next(mended, 0)).toBe(24);
    expect(next(mended, 24)).toBe(24);
  });

  test("two instances 11 s apart do not observe more often than one", () => {
    let record = EMPTY_RECORD;
    const begun: number[] = [];
    for (let seconds = 0; seconds < 120; seconds += 0.25) {
      for (const skew of [0, 11]) {
        if (next(record, seconds + skew) === seconds + skew) {
          begun.push(seconds);
          record = observe(record, seconds + skew);
        } else record = mendObservations(record, at(seconds + skew));
      }
    }
    const inMinute = begun.map((from) => begun.filter((one) => from <= one && one < from + 60).length);
    expect(Math.max(...inMinute)).toBeLessThanOrEqual(13);
    expect(begun.length).toBeGreaterThan(15);
  });
});

describe("observations under way", () => {
  const slow = (seconds: number): Partial<ClusterRecord> => ({ calls: { status: { seconds, at: NOW } } });

  test("a second begins when the first is older than twice the measured call, at least 5 s", () => {
    expect(next(beginObservation(EMPTY_RECORD, NOW), 1)).toBe(5);
    expect(next(beginObservation({ ...EMPTY_RECORD, ...slow(22) }, NOW), 1)).toBe(44);
  });

  test("a third waits until the first is taken for lost", () => {
    const two = beginObservation(beginObservation(EMPTY_RECORD, NOW), at(5));
    expect(next(two, 20)).toBe(90);
    expect(next(two, 90)).toBe(90);
  });

  test("the end of an observation ends those that began before it", () => {
    const two = beginObservation(beginObservation(EMPTY_RECORD, NOW), at(5));
    expect(endObservation(two, at(5)).looks).not.toHaveProperty("underWay");
    expect(endObservation(two, NOW).looks).toMatchObject({ underWay: [at(5)] });
  });
});

describe("an overtaken observation that is good", () => {
  const seen = (seconds: number, calls?: Calls): ClusterRecord => ({
    ...EMPTY_RECORD,
    lastGoodLookAt: at(seconds),
    ...(calls === undefined ? {} : { calls }),
  });
  const noted = (record: ClusterRecord) =>
    noteGoodObservation(record, at(-1), DEFAULT_POLICY, NOW).lastGoodLookAt;

  test("shows that we were there", () => {
    expect(noted(seen(-120))).toBe(at(-1));
    expect(noted(seen(0))).toBe(at(0));
  });

  test("does not end an outage, which begins later where calls are slow", () => {
    const slow: Calls = { create: { seconds: 22, at: NOW } };
    expect(noted(seen(-121))).toBe(at(-121));
    expect(outageSeconds({ calls: slow }, DEFAULT_POLICY)).toBe(164);
    expect(noted(seen(-164, slow))).toBe(at(-1));
  });
});

describe("the priority of a plan", () => {
  const first = letPlanFirst(EMPTY_RECORD, NOW);
  const slow = letPlanFirst(first, at(5));

  test("5 s, of which the first 1.3 s are for what was under way", () => {
    expect(first).toEqual({ ...EMPTY_RECORD, planBy: at(5) });
    expect([0, 4.9, 5].map((seconds) => isPlanFirst(first, at(seconds)))).toEqual([true, true, false]);
    expect([0, 1.2, 1.3].map((seconds) => isLanding(first, at(seconds)))).toEqual([true, true, false]);
    expect(isLanding(EMPTY_RECORD, NOW)).toBe(false);
  });

  test("15 s after it was lost, and 5 s again after that was lost, too", () => {
    expect(slow).toEqual({ ...EMPTY_RECORD, planBy: at(20), planSlow: true });
    expect([5, 6.2, 6.3].map((seconds) => isLanding(slow, at(seconds)))).toEqual([true, true, false]);
    expect(letPlanFirst(slow, at(20))).toEqual({ ...EMPTY_RECORD, planBy: at(25) });
  });

  test("5 s again after it was saved in the longer time, too", () => {
    expect(endPriority(slow)).toEqual(EMPTY_RECORD);
  });
});

describe("demand that changes again and again", () => {
  const senders = ["evil*", "honest"].map((set) => ({ ...SENDER_RULE, requestSets: [set] }));
  const change = (record: ClusterRecord, set: string, rules: SenderRules = senders): ClusterRecord =>
    noteChanged(record, setName(set), rules);
  /** A sender changes its demand each second, and each change is observed as soon as it may be. */
  const flooded = (rules?: SenderRules): ClusterRecord => {
    let record = EMPTY_RECORD;
    for (let second = 0; second <= 60; second += 1) {
      record = change(record, `evil-${second}`, rules);
      if (next(record, second) === second) record = observe(record, second);
    }
    return record;
  };

  test("of one sender leaves an observation for another one, and has one itself each 6 s", () => {
    const record = flooded();
    expect(next(change(record, "honest"), 60)).toBe(60);
    expect(next(change(record, "evil-61"), 60)).toBe(66);
  });

  test("of one sender leaves one for the tick", () => {
    expect(next(change(flooded(), "evil-61"), 60, false)).toBe(60);
  });

  test("of another one, too: its next change waits until there are two", () => {
    const served = observe(change(flooded(), "honest"), 60);
    expect(next(change(served, "honest"), 60)).toBe(72);
    expect(next(change(served, "evil-61"), 60)).toBe(66);
    // The other one's change comes with it.
    expect(next(change(change(served, "honest"), "evil-61"), 60)).toBe(66);
  });

  test("takes all of them without rules, because names can be invented", () => {
    expect(next(change(flooded([]), "honest", []), 60)).toBeCloseTo(66, 1);
  });
});
