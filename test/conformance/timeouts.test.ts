import { describe, expect, test } from "vitest";
import type { Json } from "./compare.ts";
import type { Suite } from "./suites.ts";
import { judgeAnswer, judgeCase, SUITES } from "./suites.ts";
import type { VectorCase } from "./vector-case.ts";

const suite = SUITES.find(({ name }) => name === "timeouts/settings");
const surroundings = { vmSizes: {} };

function suiteOfTimeouts(): Suite {
  if (suite === undefined) throw new Error("the suite is there");
  return suite;
}

/** What the library says for a node of array hpc, of array other, and without a node. */
const of = (hpc: Json, other: Json = hpc): Json => ({ hpc, other, no_node: other });

const caseOf = (value: Json, idle: Json, boot: Json): VectorCase => ({
  name: JSON.stringify(value),
  input: { present: true, value },
  expected: { idle_timeout: idle, boot_timeout: boot },
});

const raises = { raises: "TypeError" };

describe("timeouts/settings", () => {
  test.each([
    { one: caseOf({ default: 500 }, of(500), of(500)), verdict: "passed", defects: [] },
    { one: caseOf({ hpc: 200 }, of(200, 300), of(200, 1800)), verdict: "deviated", defects: [48] },
    { one: caseOf({ hpc: null, default: 9 }, of(300, 9), of(1800, 9)), verdict: "deviated", defects: [48] },
    { one: caseOf(600.5, of(raises), of(raises)), verdict: "deviated", defects: [0] },
    { one: caseOf({ hpc: 1.5 }, of(1, 300), of(1, 1800)), verdict: "deviated", defects: [0, 48] },
    { one: caseOf(null, of(300), of(1800)), verdict: "deviated", defects: [0] },
    { one: caseOf(false, of(false), of(false)), verdict: "deviated", defects: [0] },
    { one: caseOf({ hpc: -5 }, of(-5, 300), of(-5, 1800)), verdict: "deviated", defects: [0] },
    { one: caseOf({ hpc: "0" }, of(0, 300), of(0, 1800)), verdict: "deviated", defects: [0, 48] },
    { one: caseOf("soon", of(raises), of(raises)), verdict: "passed", defects: [] },
    { one: caseOf({ hpc: 200 }, of(201, 300), of(200, 1800)), verdict: "failed", defects: [] },
    { one: caseOf({ hpc: 200 }, of(200, 300), of(200, 1799)), verdict: "failed", defects: [] },
  ])("$one.name: $verdict", ({ one, verdict, defects }) => {
    const causes = defects.map((defect) => `defect ${defect}`);
    expect(judgeCase(suiteOfTimeouts(), one, surroundings)).toMatchObject({ kind: verdict, causes });
  });

  test.each([
    { name: "the array's own is not looked at", idle: of(500), boot: of(500) },
    { name: "the default is not looked at", idle: of(200, 300), boot: of(200, 3600) },
    { name: "refused", idle: of(raises), boot: of(raises) },
    { name: "the built-in value, where a default is said", idle: of(200, 500), boot: of(200, 3600) },
  ])("an engine that is wrong fails: $name", ({ idle, boot }) => {
    const one = caseOf({ default: 500, hpc: 200 }, of(200, 500), of(200, 500));
    const answer = { idle_timeout: idle, boot_timeout: boot };
    expect(judgeAnswer(suiteOfTimeouts(), one, answer, surroundings).kind).toBe("failed");
  });
});
