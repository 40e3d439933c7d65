import { describe, expect, test } from "vitest";
import { parseSchedule } from "../../../src/local/host/ncrontab.ts";
import { finishRun, isSubMinute, startSchedule } from "../../../src/local/host/timer-trigger.ts";

const at = (time: string) => Date.parse(`2026-11-20T${time}Z`);
const hourly = parseSchedule("0 0 * * * *");

describe("at a start", () => {
  test.each([
    {
      name: "nothing is remembered: wait for the next occurrence",
      stored: undefined,
      status: { last: undefined, next: at("11:00:00"), lastUpdated: at("10:20:00") },
      isPastDue: false,
    },
    {
      name: "nothing was missed: go on",
      stored: { last: at("10:00:00"), next: at("11:00:00"), lastUpdated: at("10:00:00") },
      status: { last: at("10:00:00"), next: at("11:00:00"), lastUpdated: at("10:00:00") },
      isPastDue: false,
    },
    {
      name: "one occurrence was missed: run late",
      stored: { last: at("09:00:00"), next: at("10:00:00"), lastUpdated: at("09:00:00") },
      status: { last: at("09:00:00"), next: at("10:00:00"), lastUpdated: at("09:00:00") },
      isPastDue: true,
    },
    {
      name: "seven were missed: run late, once",
      stored: { last: at("03:00:00"), next: at("04:00:00"), lastUpdated: at("03:00:00") },
      status: { last: at("03:00:00"), next: at("04:00:00"), lastUpdated: at("03:00:00") },
      isPastDue: true,
    },
    {
      name: "the first run ever was missed: run late",
      stored: { last: undefined, next: at("10:00:00"), lastUpdated: at("09:30:00") },
      status: { last: undefined, next: at("10:00:00"), lastUpdated: at("09:30:00") },
      isPastDue: true,
    },
    {
      name: "the schedule was changed, and its occurrence is past: nothing was missed",
      stored: { last: at("09:00:00"), next: at("09:15:00"), lastUpdated: at("09:00:00") },
      status: { last: undefined, next: at("11:00:00"), lastUpdated: at("10:20:00") },
      isPastDue: false,
    },
    {
      name: "the schedule was changed, and its occurrence is to come",
      stored: { last: at("10:10:00"), next: at("10:15:00"), lastUpdated: at("10:10:00") },
      status: { last: undefined, next: at("11:00:00"), lastUpdated: at("10:20:00") },
      isPastDue: false,
    },
  ])("$name", ({ stored, status, isPastDue }) => {
    expect(startSchedule(hourly, stored, at("10:20:00"))).toEqual({ status, isPastDue });
  });
});

describe("after a run", () => {
  const before = { last: at("09:00:00"), next: at("10:00:00"), lastUpdated: at("09:00:00") };
  test.each([
    {
      name: "on time",
      kind: "regular" as const,
      began: "10:00:00.400",
      last: "10:00:00.400",
      next: "11:00:00",
    },
    {
      name: "a moment early: it is not due again",
      kind: "regular" as const,
      began: "09:59:59.990",
      last: "10:00:00",
      next: "11:00:00",
    },
    {
      name: "so late that the next is past: due at once",
      kind: "regular" as const,
      began: "10:59:59",
      last: "10:59:59",
      next: "11:00:00",
    },
    { name: "past due", kind: "past-due" as const, began: "10:20:00", last: "10:20:00", next: "11:00:00" },
    {
      name: "at start: the regular occurrence still comes",
      kind: "startup" as const,
      began: "09:30:00",
      last: "09:30:00",
      next: "10:00:00",
    },
  ])("$name", ({ kind, began, last, next }) => {
    expect(finishRun(hourly, before, at(began), kind)).toEqual({
      last: at(last),
      next: at(next),
      lastUpdated: at(last),
    });
  });
});

test.each([
  { expression: "*/30 * * * * *", subMinute: true },
  { expression: "0,10 0 * * * *", subMinute: true },
  { expression: "0 * * * * *", subMinute: false },
  { expression: "0 0 * * * *", subMinute: false },
])("$expression fires more than once a minute: $subMinute", ({ expression, subMinute }) => {
  expect(isSubMinute(parseSchedule(expression), at("10:20:00"))).toBe(subMinute);
});
