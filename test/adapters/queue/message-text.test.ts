import { gunzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { rejectedText, travellingText } from "../../../src/adapters/queue/message-text.ts";
import type { RejectedMessage } from "../../../src/app/ports/demand-queue.ts";
import { SAMPLE_TIME } from "../../support/sample-record.ts";

/** A quote takes six characters, an ampersand five, an angle bracket four. */
const escapedBytes = (text: string): number =>
  Buffer.byteLength(
    text
      .replaceAll(/["']/g, "&quot;")
      .replaceAll(/&(?!quot;)/g, "&amp;")
      .replaceAll(/[<>]/g, "&lt;"),
  );

const LIMIT = 65_536;

describe("text that travels", () => {
  test.each([
    { name: "JSON", text: '{"a":"<&>"}', travels: '{"a":"<&>"}' },
    { name: "beyond ASCII, tab and line feed", text: "\tü\n\u{1F600}", travels: "\tü\n\u{1F600}" },
    { name: "a control character", text: "\u0001", travels: "AQ==" },
    { name: "a carriage return, which XML would turn into a line feed", text: "a\r\n", travels: "YQ0K" },
    { name: "a character that XML forbids", text: "\uFFFF", travels: "77+/" },
    { name: "nothing", text: "", travels: "" },
  ])("$name", ({ text, travels }) => {
    expect(travellingText(text)).toBe(travels);
  });

  test("65,536 plain characters travel as they are", () => {
    expect(travellingText("x".repeat(LIMIT))).toBe("x".repeat(LIMIT));
  });

  test("text that grows too much by escaping travels in base64", () => {
    // 11,000 quotes of 6 bytes escaped are 66,000; base64 makes them 14,668.
    const text = '"'.repeat(11_000);
    expect(Buffer.from(travellingText(text) ?? "", "base64").toString()).toBe(text);
  });

  test("text too large for base64 is gzipped", () => {
    const text = '"'.repeat(60_000);
    expect(gunzipSync(Buffer.from(travellingText(text) ?? "", "base64")).toString()).toBe(text);
  });

  test("what fits in no form is undefined", () => {
    const incompressible = Array.from({ length: 60_000 }, (_, at) =>
      String.fromCharCode(256 + ((at * 48_271) % 40_000)),
    ).join("");
    expect(travellingText(incompressible)).toBeUndefined();
  });
});

const message = (text: string, problems: RejectedMessage["problems"] = []): RejectedMessage => ({
  messageId: "m-1",
  rejectedAt: SAMPLE_TIME,
  cluster: "demo",
  set: "standard",
  problems,
  text,
});

const problem = { path: "/jobs/0", found: '"<x>"', expected: "an object", didYouMean: "job" };

describe("rejected message", () => {
  test("what fits is whole", () => {
    const whole = message("{\u0000\uFFFE", [problem]);
    expect(JSON.parse(rejectedText(whole))).toStrictEqual(whole);
    expect(rejectedText(whole)).toContain(String.raw`"{\u0000\ufffe"`);
  });

  test.each([
    { name: "plain", text: "x".repeat(70_000), least: 60_000 },
    { name: "quotes, which grow sevenfold", text: '"'.repeat(65_536), least: 9_000 },
    { name: "control characters", text: "\u0001".repeat(65_536), least: 10_000 },
    { name: "characters of four bytes", text: "\u{1F600}".repeat(32_000), least: 16_000 },
  ])("a large text is cut until it fits: $name", ({ text, least }) => {
    const sent = rejectedText(message(text, [problem]));
    expect(escapedBytes(sent)).toBeLessThanOrEqual(LIMIT);
    const read = JSON.parse(sent);
    expect(read.problems).toStrictEqual([problem]);
    expect(read.textLength).toBe(text.length);
    expect(read.text.length).toBeGreaterThan(least);
    // A cut may part a surrogate pair, and the rest is its beginning.
    expect(text.startsWith(read.text)).toBe(true);
  });

  test("many problems leave room for the text, and say how many were left out", () => {
    const sent = rejectedText(
      message(
        "x".repeat(70_000),
        Array.from({ length: 5000 }, () => problem),
      ),
    );
    expect(escapedBytes(sent)).toBeLessThanOrEqual(LIMIT);
    const read = JSON.parse(sent);
    expect(read.problems.length + read.problemsLeftOut).toBe(5000);
    expect(read.problems.length).toBeGreaterThan(100);
    expect(read.text.length).toBeGreaterThan(30_000);
  });
});
