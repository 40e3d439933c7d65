import { describe, expect, test } from "vitest";
import {
  certainAfterSend,
  certainBefore,
  isWorthResending,
  maySendNow,
  sendTimes,
} from "../../../src/decide/intents/send-times.ts";
import { dropSilentCreates } from "../../../src/decide/intents/settle-create.ts";
import { takeOver } from "../../../src/decide/record/whose-turn.ts";
import { owner } from "../../../src/domain/ids.ts";
import { at, NOW } from "../../support/build-node.ts";
import { buildCreate, EMPTY_RECORD } from "../../support/build-record.ts";

const bounds = { callLimitSeconds: 60, lagSeconds: 30, parallelCreates: 1 };
const fresh = buildCreate("r-1", 4);
const taken = buildCreate("r-1", 4, { sent: "maybe", leaseUntil: at(120) });

test("the times of an intent grow with the limit of a call and the age of what CycleCloud shows", () => {
  expect(sendTimes(NOW, bounds)).toEqual({
    committedAt: NOW,
    leaseUntil: at(60),
    notAfter: at(180),
    certainFrom: at(210),
  });
  expect(sendTimes(NOW, { ...bounds, callLimitSeconds: 90, lagSeconds: 45 })).toMatchObject({
    notAfter: at(210),
    certainFrom: at(255),
  });
});

describe("who may send when", () => {
  test.each([
    { name: "the owner", intent: fresh, now: at(29.999), may: true },
    { name: "the owner, 30 s after the commit", intent: fresh, now: at(30), may: false },
    { name: "the instance that has taken it over", intent: taken, now: at(119.999), may: true },
    { name: "once the take-over has ended", intent: taken, now: at(120), may: false },
    {
      name: "when the call could end after the last moment",
      intent: { ...taken, leaseUntil: at(180) },
      now: at(120.001),
      may: false,
    },
  ])("$name: $may", ({ intent, now, may }) => {
    expect(maySendNow(intent, now, bounds)).toBe(may);
  });

  test("a create that was answered 409 is not sent again", () => {
    expect(isWorthResending(taken, at(100), bounds)).toBe(true);
    expect(isWorthResending({ ...taken, refusal: "invalid" }, at(100), bounds)).toBe(false);
  });
});

describe("from when on a question is certain", () => {
  test.each([
    { name: "its owner may have sent it last at 30 s", intent: fresh, from: at(120) },
    { name: "as the record says", intent: { ...taken, certainFrom: at(140) }, from: at(140) },
  ])("before one's own send: $name", ({ intent, from }) => {
    expect(certainBefore(intent, bounds)).toEqual(from);
  });

  test.each([
    { name: "answered", answered: true, from: at(40) },
    { name: "not answered", answered: false, from: at(100) },
  ])("after one's own send that was $name", ({ answered, from }) => {
    expect(certainAfterSend(fresh, { answered }, at(10), bounds)).toEqual(from);
  });
});

describe("a take-over", () => {
  const other = owner("other");

  test("says in the record that it may send until the last moment, and hands over what was so before", () => {
    const { record, taken: handed } = takeOver({ ...EMPTY_RECORD, intents: [fresh] }, other, at(60), bounds);
    expect(record.intents).toMatchObject([{ owner: other, sent: "maybe", certainFrom: at(210) }]);
    expect(handed).toMatchObject([{ owner: other, sent: "maybe", certainFrom: at(120) }]);
  });

  test("a create without any news for 15 minutes ends", () => {
    const record = { ...EMPTY_RECORD, intents: [taken] };
    expect(dropSilentCreates(record, at(899.999))).toBe(record);
    expect(takeOver(record, other, at(900), bounds)).toEqual({ record: EMPTY_RECORD, taken: [] });
  });
});
