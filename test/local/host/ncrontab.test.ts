import { describe, expect, test } from "vitest";
import { parseSchedule } from "../../../src/local/host/ncrontab.ts";

/** 2026-11-20 is a Friday. */
describe("occurrences, worked out by hand", () => {
  test.each([
    {
      name: "every five minutes",
      expression: "0 */5 * * * *",
      from: "2026-11-20T11:03:10Z",
      occurrences: ["2026-11-20T11:05:00Z", "2026-11-20T11:10:00Z", "2026-11-20T11:15:00Z"],
    },
    {
      name: "five fields leave out the second",
      expression: "*/5 * * * *",
      from: "2026-11-20T11:58:10Z",
      occurrences: ["2026-11-20T12:00:00Z", "2026-11-20T12:05:00Z"],
    },
    {
      name: "an occurrence is strictly after the time asked from",
      expression: "0 * * * * *",
      from: "2026-11-20T11:03:00Z",
      occurrences: ["2026-11-20T11:04:00Z"],
    },
    {
      name: "a fraction of a second before the occurrence",
      expression: "0 * * * * *",
      from: "2026-11-20T11:02:59.999Z",
      occurrences: ["2026-11-20T11:03:00Z"],
    },
    {
      name: "day and day of week must both match: Friday the 13th",
      expression: "0 0 12 13 * 5",
      from: "2026-01-01T00:00:00Z",
      occurrences: ["2026-02-13T12:00:00Z", "2026-03-13T12:00:00Z", "2026-11-13T12:00:00Z"],
    },
    {
      name: "working days skip the weekend",
      expression: "0 30 9 * * 1-5",
      from: "2026-11-20T10:00:00Z",
      occurrences: ["2026-11-23T09:30:00Z", "2026-11-24T09:30:00Z"],
    },
    {
      name: "a/n runs from a to the end of the field",
      expression: "5/20 * * * * *",
      from: "2026-11-20T10:00:00Z",
      occurrences: [
        "2026-11-20T10:00:05Z",
        "2026-11-20T10:00:25Z",
        "2026-11-20T10:00:45Z",
        "2026-11-20T10:01:05Z",
      ],
    },
    {
      name: "a range with a step",
      expression: "0 10-30/10 8 * * *",
      from: "2026-11-20T08:10:00Z",
      occurrences: ["2026-11-20T08:20:00Z", "2026-11-20T08:30:00Z", "2026-11-21T08:10:00Z"],
    },
    {
      name: "names of months and days, in any case and length",
      expression: "0 0 0 * Jan,DECEMBER Mon",
      from: "2026-11-20T00:00:00Z",
      occurrences: ["2026-12-07T00:00:00Z", "2026-12-14T00:00:00Z"],
    },
    {
      name: "Sunday is 0",
      expression: "0 0 0 * * 0",
      from: "2026-11-20T00:00:00Z",
      occurrences: ["2026-11-22T00:00:00Z", "2026-11-29T00:00:00Z"],
    },
    {
      name: "leap days",
      expression: "0 0 0 29 2 *",
      from: "2026-01-01T00:00:00Z",
      occurrences: ["2028-02-29T00:00:00Z", "2032-02-29T00:00:00Z"],
    },
    {
      name: "the last second of a year",
      expression: "59 59 23 31 12 *",
      from: "2026-12-31T23:59:59Z",
      occurrences: ["2027-12-31T23:59:59Z"],
    },
    {
      name: "months of 30 days are left out of the 31st",
      expression: "0 0 0 31 * *",
      from: "2026-11-01T00:00:00Z",
      occurrences: ["2026-12-31T00:00:00Z", "2027-01-31T00:00:00Z", "2027-03-31T00:00:00Z"],
    },
  ])("$name: $expression", ({ expression, from, occurrences }) => {
    const schedule = parseSchedule(expression);
    let time = Date.parse(from);
    for (const occurrence of occurrences) {
      time = schedule.next(time);
      expect(new Date(time).toISOString()).toBe(occurrence.replace("Z", ".000Z"));
    }
  });
});

describe("refused", () => {
  test.each([
    { name: "too few fields", expression: "* * * *", says: "4 fields" },
    { name: "a time span", expression: "00:05:00", says: "1 fields" },
    { name: "second 60", expression: "60 * * * * *", says: '"60" is not a second (0 to 59)' },
    { name: "day 0", expression: "0 0 0 0 * *", says: '"0" is not a day (1 to 31)' },
    { name: "month 13", expression: "0 0 0 1 13 *", says: '"13" is not a month (1 to 12)' },
    {
      name: "Sunday as 7, as Unix cron allows",
      expression: "0 0 0 * * 7",
      says: '"7" is not a day of week (0 to 6)',
    },
    { name: "step 0", expression: "*/0 * * * * *", says: '"*/0" is not a second' },
    { name: "a range that runs backwards", expression: "0 30-10 * * * *", says: '"30-10" is not a minute' },
    { name: "an unknown name", expression: "0 0 0 * Foo *", says: '"Foo" is not a month' },
    { name: "an empty part of a list", expression: "1,,2 * * * * *", says: '"" is not a second' },
  ])("$name: $expression", ({ expression, says }) => {
    expect(() => parseSchedule(expression)).toThrow(says);
  });

  test("a day that no month has is found out when it is asked for", () => {
    expect(() => parseSchedule("0 0 0 31 2 *").next(0)).toThrow("never occurs");
  });
});
