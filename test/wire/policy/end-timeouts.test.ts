import { expect, test } from "vitest";
import type { EndTimeout } from "../../../src/domain/timeouts.ts";
import { endTimeoutOf } from "../../../src/domain/timeouts.ts";
import { arrayName } from "../../../src/domain/ids.ts";
import { readPolicy } from "../../../src/wire/policy/policy.ts";
import { writePolicy } from "../../../src/wire/policy/write-policy.ts";

/** `downTimeout` and `failedTimeout` of a configuration. */

const read = (document: object) => {
  const answer = readPolicy(document);
  return answer.kind === "policy"
    ? answer.policy
    : answer.problems.map(({ path, expected }) => `${path}: ${expected}`);
};

test.each<{ value: unknown; means: EndTimeout }>([
  { value: 600, means: { every: 600 } },
  { value: 0, means: { every: 0 } },
  { value: "never", means: { every: "never" } },
  { value: { default: 600, hpc: "never" }, means: { every: 600, byArray: new Map([["hpc", "never"]]) } },
  { value: { hpc: 60 }, means: { every: 300, byArray: new Map([["hpc", 60]]) } },
  { value: {}, means: { every: 300 } },
])("downTimeout $value is read, and written as the same time", ({ value, means }) => {
  const policy = read({ downTimeout: value });
  expect(policy).toMatchObject({ downTimeout: means });
  if (!Array.isArray(policy)) expect(read(writePolicy(policy))).toEqual(policy);
});

test.each([
  {
    value: -1,
    lines: [
      'downTimeout: a number of seconds, 0 or more, or "never", or an object of them: default, and node arrays',
    ],
  },
  {
    value: "600",
    lines: [
      'downTimeout: a number of seconds, 0 or more, or "never", or an object of them: default, and node arrays',
    ],
  },
  { value: { hpc: null }, lines: ['downTimeout.hpc: a number of seconds, 0 or more, or "never"'] },
])("downTimeout $value is refused", ({ value, lines }) => {
  expect(read({ downTimeout: value })).toEqual(lines);
});

test("without the keys a node that was shut down ends after 300 s, and one that failed never", () => {
  const policy = read({});
  if (Array.isArray(policy)) throw new Error("an empty document is read");
  const node = { array: arrayName("hpc"), purpose: { kind: "array" } } as const;
  expect([endTimeoutOf(policy, node, "off"), endTimeoutOf(policy, node, "failed")]).toEqual([300, "never"]);
  const named = read({ failedTimeout: { hpc: 900 } });
  if (Array.isArray(named)) throw new Error("it is read");
  expect(endTimeoutOf(named, node, "failed")).toBe(900);
  expect(endTimeoutOf(named, { ...node, array: arrayName("htc") }, "failed")).toBe("never");
});
