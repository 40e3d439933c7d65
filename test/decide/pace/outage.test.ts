import { describe, expect, test } from "vitest";
import {
  beginEpoch,
  beginEpochSetBack,
  bornRecord,
  withCreatesWait,
} from "../../../src/decide/record/epoch.ts";
import { accept } from "../../../src/decide/record/accept.ts";
import { isResting, nextOutage } from "../../../src/decide/pace/outage.ts";
import type { WholeUpdate } from "../../../src/domain/demand.ts";
import { epoch, setName } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import type { Instant } from "../../../src/domain/units.ts";
import { at, buildNode, buildSnapshot, EXECUTE, NOW, PROD } from "../../support/build-node.ts";
import { buildCreate, buildState, buildUpdate, EMPTY_RECORD } from "../../support/build-record.ts";

const standard = setName("standard");
const other = setName("other");

/** A record whose last observation was 900 s ago, with sets that were pushed this many seconds from now. */
function away(pushed: Readonly<Record<string, number>>, more: Partial<ClusterRecord> = {}): ClusterRecord {
  const sets = Object.fromEntries(
    Object.entries(pushed).map(([name, seconds]) => [name, { sentAt: at(seconds), intervalSeconds: 3600 }]),
  );
  return buildState({ sets, record: { lastGoodLookAt: at(-900), ...more } }).record;
}

const rest = (record: ClusterRecord, now: Instant = NOW) => nextOutage(record, DEFAULT_POLICY, now).outage;

describe("a gap of 900 s since the last observation", () => {
  test.each([
    { name: "every set was pushed again", pushed: { standard: -1, other: -300 }, awaiting: undefined },
    { name: "one of two was", pushed: { standard: -1, other: -1000 }, awaiting: [other] },
    {
      name: "one of two was, the other came within 120 s of the last observation",
      pushed: { standard: -1, other: -781 },
      awaiting: [other],
    },
    { name: "there is no set", pushed: {}, awaiting: [] },
  ])("$name", ({ pushed, awaiting }) => {
    const expected =
      awaiting === undefined ? undefined : { from: at(-900), to: NOW, until: at(300), awaiting };
    expect(rest(away(pushed))).toEqual(expected);
  });

  test("idle clocks begin again, also where there is nothing to wait for", () => {
    expect(nextOutage(away({ standard: -1 }), DEFAULT_POLICY, NOW).isRestart).toBe(true);
    expect(nextOutage(away({}, { lastGoodLookAt: at(-120) }), DEFAULT_POLICY, NOW).isRestart).toBe(false);
  });

  test("it falls into a rest that lasts its full time: so does the new one", () => {
    const outage = { from: at(-1000), to: at(-1000), until: at(100), awaiting: [] };
    expect(rest(away({ standard: -1 }, { outage }))).toEqual({
      from: at(-900),
      to: NOW,
      until: at(300),
      awaiting: [],
    });
  });
});

test("a set that asked for nothing is not awaited; one that only reports hosts is", () => {
  const record = away({ standard: -1, other: -1000 });
  const held = record.sets.get(other);
  if (held === undefined) throw new Error("the record has the set");
  const idle = { ...held, size: { jobs: 0, bytes: 0, memory: 0 } };
  const sets = new Map(record.sets).set(other, idle);
  expect(rest({ ...record, sets })).toBeUndefined();
  const separateReports = new Map([[other, { ...idle, size: { jobs: 0, bytes: 40, memory: 160 } }]]);
  expect(rest({ ...record, sets, separateReports })).toMatchObject({ awaiting: [other] });
});

test("a message that was sent before the outage and delivered after it is no push", () => {
  const record = away({ standard: -901 });
  const held = record.sets.get(standard);
  if (held === undefined) throw new Error("the record has the set");
  const late = { ...record, sets: new Map([[standard, { ...held, acceptedAt: NOW }]]) };
  expect(rest(late)).toMatchObject({ awaiting: [standard] });
});

describe("a message counts from its own time", () => {
  /** One message: when it was taken, and its revision. Both in seconds from now, with the outage from -900, and noticeable from -780 on. */
  interface Message {
    readonly taken: number;
    readonly revision: number;
    readonly count?: number;
  }
  const HELD = { taken: -910, revision: -910 };

  function isAwaited(messages: readonly Message[], more: Partial<WholeUpdate> = {}): boolean {
    let record: ClusterRecord = { ...EMPTY_RECORD, lastGoodLookAt: at(-900) };
    for (const { taken, revision, count = 10 } of messages) {
      const sentAt = at(taken);
      const times = { sentAt, intervalSeconds: 9000, expiresAt: at(taken + 9000) };
      const update = buildUpdate(count, { ...times, revisionValue: at(revision), ...more });
      const accepted = accept(record, update, sentAt);
      if (accepted.kind === "accepted") record = accepted.record;
    }
    return rest(record)?.awaiting.length === 1;
  }

  test.each<{ readonly name: string; readonly messages: readonly Message[]; readonly awaited: boolean }>([
    {
      name: "one that lay in front of the host since just after the outage began",
      messages: [HELD, { taken: -1, revision: -895, count: 5 }],
      awaited: true,
    },
    {
      name: "one that lay there since the moment at which the outage was noticeable",
      messages: [HELD, { taken: -1, revision: -780, count: 5 }],
      awaited: true,
    },
    { name: "one a second later", messages: [HELD, { taken: -1, revision: -779, count: 5 }], awaited: false },
    { name: "one that was sent now", messages: [HELD, { taken: -1, revision: -1 }], awaited: false },
    {
      name: "a sender whose clock is ten minutes ahead: as before, what we saw of it counts",
      messages: [HELD, { taken: -1, revision: 599 }],
      awaited: false,
    },
    {
      name: "a sender whose clock is twenty minutes behind gets the full time",
      messages: [HELD, { taken: -1, revision: -1201 }],
      awaited: true,
    },
    {
      name: "a revision of over a day ago is no time",
      messages: [
        { taken: -910, revision: -90_000 },
        { taken: -1, revision: -89_999 },
      ],
      awaited: false,
    },
    {
      name: "a pure renewal, once: it may have lain in front of the host",
      messages: [HELD, { taken: -40, revision: -910 }],
      awaited: true,
    },
    {
      name: "two that lay there together, and were taken one after the other",
      messages: [HELD, { taken: -40, revision: -910 }, { taken: -39, revision: -910 }],
      awaited: true,
    },
    {
      name: "a pure renewal, twice",
      messages: [HELD, { taken: -40, revision: -910 }, { taken: -10, revision: -910 }],
      awaited: false,
    },
    {
      name: "two that lay there, and one that came later",
      messages: [
        HELD,
        { taken: -40, revision: -910 },
        { taken: -39, revision: -910 },
        { taken: -9, revision: -910 },
      ],
      awaited: false,
    },
    {
      name: "a repeated one, and then a change that lay in front of another host",
      messages: [
        HELD,
        { taken: -40, revision: -910 },
        { taken: -10, revision: -910 },
        { taken: -5, revision: -890, count: 5 },
      ],
      awaited: true,
    },
    {
      name: "a change that lay there, and that its sender repeats because it had no answer",
      messages: [HELD, { taken: -40, revision: -895, count: 5 }, { taken: -10, revision: -895, count: 5 }],
      awaited: false,
    },
  ])("$name: awaited $awaited", ({ messages, awaited }) => {
    expect(isAwaited(messages)).toBe(awaited);
  });

  test("where the senders' clocks run at another speed, a revision is no time", () => {
    const messages = [HELD, { taken: -1, revision: -895 }];
    expect(isAwaited(messages)).toBe(true);
    expect(isAwaited(messages, { untimed: true })).toBe(false);
  });
});

describe("a new epoch", () => {
  const before = away(
    { standard: -60, other: -60 },
    { lastGoodLookAt: at(-30), intents: [buildCreate("r-1", 3)], plan: 40 },
  );

  test("after a lost body: what was not in it stays, and scale-down rests until the lost set is pushed again", () => {
    const next = beginEpoch(before, { epoch: epoch("epoch-2"), awaiting: [other] }, NOW);
    expect(next).toEqual({
      ...before,
      epoch: "epoch-2",
      epochAt: NOW,
      outage: { from: NOW, to: NOW, until: at(300), awaiting: [other] },
    });
    expect(nextOutage(next, DEFAULT_POLICY, NOW).isRestart).toBe(true);
    expect(isResting(next, DEFAULT_POLICY, at(299))).toBe(true);
    expect(isResting(next, DEFAULT_POLICY, at(300))).toBe(false);
    const pushed = { ...next, sets: away({ standard: -60, other: 10 }).sets };
    expect(isResting(pushed, DEFAULT_POLICY, at(11))).toBe(false);
    expect(rest(pushed, at(11))).toBeUndefined();
  });

  test("after a restore: plans count on from the highest that is known, and the rest lasts its full time", () => {
    const next = beginEpochSetBack(before, { epoch: epoch("epoch-2"), plan: 75 }, NOW);
    expect(next).toMatchObject({ plan: 75, createsFrom: at(60), intents: before.intents });
    const pushed = { ...next, sets: away({ standard: 10, other: 10 }).sets, lastGoodLookAt: at(190) };
    expect(rest(pushed, at(200))).toEqual({ from: NOW, to: NOW, until: at(300), awaiting: [] });
  });

  test("a lower plan number is not taken", () => {
    expect(beginEpochSetBack(before, { epoch: epoch("epoch-2"), plan: 12 }, NOW).plan).toBe(40);
  });
});

describe("a record that is new, and the first observation shows a node", () => {
  const born = bornRecord(PROD, epoch("epoch-1"), NOW);
  const plan = (now: Instant, lagSeconds: number) =>
    withCreatesWait(
      born,
      born,
      buildSnapshot([buildNode("n1")]),
      { managed: new Set([EXECUTE]), lagSeconds },
      now,
    ).createsFrom;

  test.each([
    { name: "creates wait for a minute", lagSeconds: 30, now: at(1), from: at(60) },
    { name: "where CycleCloud shows nodes late, for longer", lagSeconds: 120, now: at(1), from: at(150) },
    { name: "the minute is over", lagSeconds: 30, now: at(60), from: undefined },
    { name: "the longer time is not", lagSeconds: 120, now: at(149), from: at(150) },
  ])("$name", ({ lagSeconds, now, from }) => {
    expect(plan(now, lagSeconds)).toEqual(from);
  });
});
