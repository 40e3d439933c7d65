import { describe, expect, test } from "vitest";
import { settle } from "../../../src/decide/intents/settle.ts";
import { owner, placementGroup } from "../../../src/domain/ids.ts";
import type { Intent } from "../../../src/domain/intent.ts";
import type { Instant } from "../../../src/domain/units.ts";
import { at, NOW } from "../../support/build-node.ts";
import { BUCKET, buildCreate, buildIntent } from "../../support/build-record.ts";
import type { Evidence, Settled } from "../../../src/decide/intents/evidence.ts";
import { R1, absent, never, stateOf } from "./settle-stage.ts";

/** What settling a create of four left behind, in short. */
function afterwards({ record }: Settled) {
  return {
    intents: record.intents.map(({ sent, leaseUntil, absentSince }) => ({ sent, leaseUntil, absentSince })),
    coming: record.inFlight.map(({ requestId: id, added, seen, since }) => ({ id, added, seen, since })),
    pauses: record.backoffs.map(({ cause, seconds, message }) => ({ cause, seconds, message })),
  };
}

const gone = { intents: [], coming: [], pauses: [] };
const open = (sent: Intent["sent"], leaseUntil: Instant, absentSince?: Instant) => ({
  intents: [{ sent, leaseUntil, absentSince }],
  coming: [],
  pauses: [],
});

const coming = (added: number, now: Instant) => ({
  ...gone,
  coming: [{ id: R1, added, seen: [], since: now }],
});

const paused = (message: string) => ({ ...gone, pauses: [{ cause: "refused", seconds: 60, message }] });
const maybe = buildCreate("r-1", 4, { sent: "maybe", leaseUntil: NOW });
const refusedOnce = buildCreate("r-1", 4, { sent: "once-refused", leaseUntil: at(10), absentSince: at(0) });
const everyCreate = [
  { before: "never sent", intent: never },
  { before: "maybe sent", intent: maybe },
  { before: "answered 409 once", intent: refusedOnce },
];

const conflict = absent("conflict", "Invalid nodearray");

describe("a create whose fate is clear is settled, whatever was known of it before", () => {
  const table = everyCreate.flatMap(({ before, intent }) =>
    [
      {
        learnt: "accepted in full: all in flight",
        evidence: { kind: "accepted", sets: [{ added: 4 }] },
        outcome: coming(4, at(5)),
      },
      {
        learnt: "accepted in part: that part in flight, the bucket paused with CycleCloud's words",
        evidence: { kind: "accepted", sets: [{ added: 3, message: "quota reached" }] },
        outcome: {
          ...coming(3, at(5)),
          pauses: [{ cause: "fell-short", seconds: 60, message: "4 asked, 3 added: quota reached" }],
        },
      },
      {
        learnt: "accepted, nothing added: only the pause",
        evidence: { kind: "accepted", sets: [{ added: 0 }] },
        outcome: { ...gone, pauses: [{ cause: "fell-short", seconds: 60, message: "4 asked, 0 added" }] },
      },
      { learnt: "found: all of its count in flight", evidence: { kind: "found" }, outcome: coming(4, NOW) },
      {
        learnt: "refused: the bucket is paused, unless an earlier send may have had its effect",
        evidence: { kind: "refused", message: "no such array" },
        outcome: intent.sent === "maybe" ? open("maybe", at(5)) : paused("no such array"),
      },
      {
        learnt: "not sent: dropped, unless an earlier send may have had its effect",
        evidence: { kind: "not-sent" },
        outcome: intent.sent === "maybe" ? open("maybe", at(5)) : gone,
      },
    ].map((row) => ({ before, intent, ...row, evidence: row.evidence as Evidence })),
  );

  test.each(table)("$before, then $learnt", ({ intent, evidence, outcome }) => {
    expect(afterwards(settle(stateOf([intent]), R1, evidence, at(5)))).toEqual(outcome);
  });
});

describe("a create that CycleCloud does not know", () => {
  test.each([
    {
      name: "never sent before, answered 409: either invalid or a repetition; asked again after 10 s",
      intent: never,
      evidence: conflict,
      now: at(5),
      outcome: open("once-refused", at(15), at(5)),
    },
    {
      name: "never sent before, no answer to the send: it may still arrive, so the same id is sent again",
      intent: never,
      evidence: absent("no-answer"),
      now: at(5),
      outcome: open("maybe", at(5), at(5)),
    },
    {
      name: "never sent, only asked for: open as it was, to be sent by the next owner",
      intent: never,
      evidence: absent("none"),
      now: at(5),
      outcome: open("never", at(5), at(5)),
    },
    {
      name: "maybe sent before, answered 409: an earlier send may be on its way, so this says nothing",
      intent: maybe,
      evidence: conflict,
      now: at(5),
      outcome: open("maybe", at(5), at(5)),
    },
    {
      name: "maybe sent before, no answer again",
      intent: maybe,
      evidence: absent("no-answer"),
      now: at(5),
      outcome: open("maybe", at(5), at(5)),
    },
    {
      name: "maybe sent, asked twice 10 s apart without a 409: never taken for invalid",
      intent: { ...maybe, absentSince: at(0) },
      evidence: absent("none"),
      now: at(20),
      outcome: open("maybe", at(20), at(0)),
    },
    {
      name: "answered 409 once, asked again too early: the first ask's time stands",
      intent: refusedOnce,
      evidence: absent("none"),
      now: at(9.999),
      outcome: open("once-refused", at(9.999), at(0)),
    },
    {
      name: "answered 409 once, asked again after 10 s: invalid, and the bucket is paused",
      intent: refusedOnce,
      evidence: absent("none", undefined, at(10)),
      now: at(10),
      outcome: paused("CycleCloud refused the request as invalid (409)"),
    },
    {
      name: "answered 409 a second time after 10 s: invalid, with CycleCloud's words",
      intent: refusedOnce,
      evidence: absent("conflict", "Invalid nodearray", at(10)),
      now: at(10),
      outcome: paused("Invalid nodearray"),
    },
    {
      name: "asked when no send can arrive any more: dropped, and planned again without a pause",
      intent: maybe,
      evidence: absent("none", undefined, at(210)),
      now: at(211),
      outcome: gone,
    },
    {
      name: "asked a moment too early, though answered later: still open",
      intent: maybe,
      evidence: absent("none", undefined, at(209.999)),
      now: at(260),
      outcome: open("maybe", at(260), at(260)),
    },
    {
      name: "asked by one from whom another has taken it over since, and who may have sent it: still open",
      intent: { ...maybe, certainFrom: at(210) },
      evidence: { ...absent("none", undefined, at(130)), held: { by: owner("dead"), certainFrom: at(120) } },
      now: at(135),
      outcome: open("maybe", NOW),
    },
    {
      name: "answered 409 to the instance that took it over, and then asked when no send can arrive any more: invalid",
      intent: { ...maybe, refusal: "Invalid nodearray" },
      evidence: absent("none", undefined, at(210)),
      now: at(211),
      outcome: paused("Invalid nodearray"),
    },
  ])("$name", ({ intent, evidence, now, outcome }) => {
    expect(afterwards(settle(stateOf([intent]), R1, evidence, now))).toEqual(outcome);
  });
});

test.each(everyCreate)("a create of which nothing could be learnt stays open ($before)", ({ intent }) => {
  const settled = settle(stateOf([intent]), R1, { kind: "unclear" }, at(5));
  const sent = intent.sent === "once-refused" ? "once-refused" : "maybe";
  expect(afterwards(settled)).toEqual(open(sent, at(5), intent.absentSince));
});

test("409, ten seconds, nothing found: the whole way of an invalid request", () => {
  const afterSend = settle(stateOf([never]), R1, conflict, at(1));
  const [intent] = afterSend.record.intents;
  expect(intent).toMatchObject({ sent: "once-refused", leaseUntil: at(11) });
  const unknown = absent("none");
  const early = settle(afterSend, R1, unknown, at(6));
  expect(early.record.intents).toHaveLength(1);
  const settled = settle(early, R1, absent("none", undefined, at(11)), at(11));
  expect(settled.record.intents).toEqual([]);
  // In CycleCloud's words, which came with the 409 and not with the asks.
  expect(settled.record.backoffs).toEqual([
    { bucket: BUCKET, until: at(71), seconds: 60, cause: "refused", message: "Invalid nodearray" },
  ]);
});

describe("settling", () => {
  test("an id that is settled already changes nothing", () => {
    const once = settle(stateOf([never]), R1, { kind: "accepted", sets: [{ added: 4 }] }, at(5));
    expect(settle(once, R1, { kind: "found" }, at(6))).toBe(once);
  });

  test("one intent leaves the others alone", () => {
    const other = buildCreate("r-2", 9);
    const settled = settle(stateOf([never, other]), R1, { kind: "accepted", sets: [{ added: 4 }] }, at(5));
    expect(settled.record.intents).toEqual([other]);
  });

  test("what is in flight keeps bucket and purpose of its request", () => {
    const bucket = { ...BUCKET, placementGroup: placementGroup("group-a") };
    const purpose = { kind: "group", key: "execute:4n", group: "group-a" } as const;
    const intent = buildIntent("r-1", { effect: { kind: "create", sets: [{ bucket, count: 4, purpose }] } });
    const settled = settle(stateOf([intent]), R1, { kind: "found" }, at(5));
    expect(settled.record.inFlight).toEqual([
      {
        requestId: R1,
        bucket,
        purpose,
        added: 4,
        unconfirmed: { listed: 0, since: at(5) },
        seen: [],
        since: NOW,
        plannedAt: NOW,
      },
    ]);
  });
});
