import { describe, expect, test } from "vitest";
import type { MeasuredCall } from "../../../src/decide/pace/calls.ts";
import { noteCalls, patienceSeconds } from "../../../src/decide/pace/calls.ts";
import type { Calls } from "../../../src/domain/calls.ts";
import { at, NOW } from "../../support/build-node.ts";
import { EMPTY_RECORD } from "../../support/build-record.ts";

const call = (more: Partial<MeasuredCall>): MeasuredCall => ({
  endpoint: "status",
  seconds: 0.2,
  at: NOW,
  ...more,
});

const after = (calls: Calls | undefined, ...measured: readonly MeasuredCall[]) =>
  noteCalls(calls === undefined ? EMPTY_RECORD : { ...EMPTY_RECORD, calls }, measured, NOW).calls;

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
