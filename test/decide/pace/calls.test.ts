import { describe, expect, test } from "vitest";
import type { MeasuredCall } from "../../../src/decide/pace/calls.ts";
import { noteCalls, noteUnseen, patienceSeconds } from "../../../src/decide/pace/calls.ts";
import type { Calls, ClusterRecord } from "../../../src/domain/record.ts";
import { at, NOW } from "../../support/build-node.ts";
import { buildIntent, EMPTY_RECORD } from "../../support/build-record.ts";
import { DEFAULT_CALL_BOUNDS } from "../../../src/domain/policy.ts";
import type { Instant } from "../../../src/domain/units.ts";

const call = (more: Partial<MeasuredCall>): MeasuredCall => ({
  endpoint: "status",
  seconds: 0.2,
  at: NOW,
  ...more,
});

const recordAfter = (before: Partial<ClusterRecord>, ...measured: readonly MeasuredCall[]) =>
  noteCalls({ ...EMPTY_RECORD, ...before }, measured, DEFAULT_CALL_BOUNDS, NOW);

/** Without the answers, of which only a standstill depends. */
const after = (calls: Calls | undefined, ...measured: readonly MeasuredCall[]) => {
  const noted = recordAfter(calls === undefined ? {} : { calls }, ...measured).calls;
  if (noted === undefined) return undefined;
  return Object.fromEntries(
    Object.entries(noted).map(([endpoint, { answers: _answers, ...rest }]) => [endpoint, rest]),
  );
};

describe("until when CycleCloud stood still", () => {
  const proves = (seconds: number) => ({ provesFrom: at(seconds) });
  const always40 = (count: number) => Array.from({ length: count }, () => call({ seconds: 40 }));

  test.each([
    {
      name: "a call without an answer, however short",
      calls: [call({ seconds: 2, failure: "cut", unanswered: true })],
      found: proves(90),
    },
    {
      name: "a call that hangs while a later status was answered",
      calls: [call({ endpoint: "operations", seconds: 60, failure: "no answer", unanswered: true })],
      before: { lastGoodLookAt: at(-60) },
      found: {},
    },
    {
      name: "a question that began a second after the status of its observation",
      calls: [call({ endpoint: "nodes", seconds: 60, failure: "no answer", unanswered: true })],
      before: { lastGoodLookAt: at(-61) },
      found: {},
    },
    {
      name: "a call that hangs since after the last status",
      calls: [call({ endpoint: "operations", seconds: 60, failure: "no answer", unanswered: true })],
      before: { lastGoodLookAt: at(-62) },
      found: proves(90),
    },
    {
      name: "a change that hangs while a status that began 30 s later was answered",
      calls: [call({ endpoint: "terminate", seconds: 60, failure: "no answer", unanswered: true })],
      before: { lastGoodLookAt: at(-30) },
      found: {},
    },
    {
      name: "a change that hangs while one was answered that began 29 s later",
      calls: [call({ endpoint: "terminate", seconds: 60, failure: "no answer", unanswered: true })],
      before: { lastGoodLookAt: at(-31) },
      found: proves(90),
    },
    {
      name: "a change that hung until just before the last status",
      calls: [call({ endpoint: "create", seconds: 60, at: at(-1), failure: "no answer", unanswered: true })],
      before: { lastGoodLookAt: NOW },
      found: proves(89),
    },
    { name: "an answer after 30 s", calls: [call({ seconds: 30 })], found: proves(90) },
    { name: "an answer after 29.9 s", calls: [call({ seconds: 29.9 })], found: {} },
    {
      name: "a failure that was answered at once, or had no connection",
      calls: [call({ failure: "status 500" })],
      found: {},
    },
    {
      name: "the last of several",
      calls: [call({ seconds: 60, at: at(-100) }), call({ seconds: 60, at: at(-40) })],
      found: proves(50),
    },
    {
      name: "what always takes 40 s, from the sixth answer on",
      calls: always40(5),
      before: { calls: { status: { seconds: 40, at: NOW, answers: [40, 40, 40, 40, 40] } } },
      found: {},
    },
    { name: "the first five of them", calls: always40(5), found: proves(90) },
    {
      name: "90 s where 40 s are usual",
      calls: [call({ seconds: 90 })],
      before: { calls: { status: { seconds: 40, at: NOW, answers: [40, 40, 40, 40, 40] } } },
      found: proves(90),
    },
    {
      name: "an earlier standstill than the record knows",
      calls: [call({ seconds: 60, at: at(-100) })],
      before: proves(60),
      found: proves(60),
    },
  ])("$name", ({ calls, before = {}, found }) => {
    const { provesFrom } = recordAfter(before, ...calls);
    expect(provesFrom === undefined ? {} : { provesFrom }).toEqual(found);
  });

  test("with a limit of 20 s an answer after 10 s is enough, and it still counts until the next observation", () => {
    const bounds = { callLimitSeconds: 20, lagSeconds: 5 };
    expect(noteCalls(EMPTY_RECORD, [call({ seconds: 10 })], bounds, NOW).provesFrom).toBe(at(65));
  });
});

describe("an observation that began long after the last good one", () => {
  const intents = [buildIntent("a", { effect: { kind: "terminate", nodes: [] } })];
  const proofAfter = (before: Partial<ClusterRecord>) =>
    noteUnseen(
      { ...EMPTY_RECORD, intents, ...before },
      { began: at(-2), arrivedAt: NOW },
      DEFAULT_CALL_BOUNDS,
    ).provesFrom;

  test.each([
    { name: "91 s after it", before: { lastGoodLookAt: at(-93) }, found: at(90) },
    { name: "90 s after it", before: { lastGoodLookAt: at(-92) }, found: undefined },
    { name: "the first one", before: {}, found: undefined },
    { name: "nothing is open", before: { lastGoodLookAt: at(-900), intents: [] }, found: undefined },
    {
      name: "statuses take 20 s, 130 s after it",
      before: { lastGoodLookAt: at(-132), calls: { status: { seconds: 20, at: NOW } } },
      found: undefined,
    },
    {
      name: "a later moment is known",
      before: { lastGoodLookAt: at(-900), provesFrom: at(91) },
      found: at(91),
    },
  ])("$name", ({ before, found }) => {
    expect(proofAfter(before)).toBe(found);
  });
});

describe("how long a call takes", () => {
  test("quick calls are not kept", () => {
    expect(after(undefined, call({}), call({ endpoint: "create", seconds: 0.9 }))).toBeUndefined();
  });

  test("it rises at once, and falls by half with each quicker call", () => {
    expect(after(undefined, call({ seconds: 22.04 }))).toEqual({ status: { seconds: 22, at: NOW } });
    const slow: Calls = { status: { seconds: 22, at: at(-60) } };
    expect(after(slow, call({ seconds: 40 }))).toEqual({ status: { seconds: 40, at: NOW } });
    expect(after(slow, call({ seconds: 2 }))).toEqual({ status: { seconds: 12, at: NOW } });
    const quick = Array.from({ length: 6 }, () => call({ seconds: 0 }));
    expect(after(slow, ...quick)).toBeUndefined();
  });

  test("each endpoint separately; one that was not called for 15 minutes is forgotten", () => {
    const before: Calls = { create: { seconds: 20, at: at(-899) }, terminate: { seconds: 20, at: at(-900) } };
    expect(after(before, call({ endpoint: "nodes", seconds: 3 }))).toEqual({
      create: { seconds: 20, at: at(-899) },
      nodes: { seconds: 3, at: NOW },
    });
  });
});

describe("a call that fails", () => {
  test("is kept with its words and since when; the next success ends it", () => {
    const failing = after(undefined, call({ endpoint: "nodes", failure: "HTTP 429" }));
    expect(failing).toEqual({
      nodes: { seconds: 0.2, at: NOW, failure: { since: NOW, message: "HTTP 429" } },
    });
    const later = after(failing, call({ endpoint: "nodes", at: at(60), failure: "HTTP 500" }));
    expect(later?.nodes?.failure).toEqual({ since: NOW, message: "HTTP 500" });
    expect(after(later, call({ endpoint: "nodes", at: at(120) }))).toBeUndefined();
  });

  test("a status that hangs does not count once one that began later was answered; other calls do", () => {
    const failed = (more: Partial<MeasuredCall>) => call({ seconds: 60, failure: "no answer", ...more });
    const secondsAfter = (lastGoodLookAt: Instant, more: Partial<MeasuredCall> = {}) =>
      Object.values(recordAfter({ lastGoodLookAt }, failed(more)).calls ?? {}).map(({ seconds }) => seconds);
    expect(secondsAfter(at(-59))).toEqual([]);
    expect(secondsAfter(at(-60))).toEqual([60]);
    expect(secondsAfter(at(-59), { endpoint: "nodes" })).toEqual([60]);
  });

  test("says the least that an answer takes, and nothing if it was quick", () => {
    const slow: Calls = { status: { seconds: 22, at: at(-60) } };
    expect(after(slow, call({ seconds: 60, failure: "no answer" }))?.status?.seconds).toBe(60);
    expect(after(slow, call({ failure: "HTTP 429" }))?.status?.seconds).toBe(22);
  });
});

test("bounds grow by two calls of the slowest endpoint, 90 s each at most", () => {
  expect(patienceSeconds({})).toBe(0);
  const calls = after(undefined, call({ seconds: 8 }), call({ endpoint: "create", seconds: 1000 }));
  expect(patienceSeconds({ calls: calls ?? {} })).toBe(180);
});
