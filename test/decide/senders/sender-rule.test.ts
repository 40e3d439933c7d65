import { describe, expect, test } from "vitest";
import {
  mayDefineArray,
  mayOwnPool,
  ruleOf,
  stepsToFindRules,
} from "../../../src/decide/senders/sender-rule.ts";
import { setName } from "../../../src/domain/ids.ts";
import type { SenderRule } from "../../../src/domain/sender-rules.ts";
import { SENDER_RULE } from "../../support/sender-rule.ts";

const rules = (...all: readonly Partial<SenderRule>[]): readonly SenderRule[] =>
  all.map((rule) => ({ ...SENDER_RULE, ...rule }));

describe("who may own a pool", () => {
  const lists = rules(
    { requestSets: ["pbs"], pools: ["licence-*", "shift"] },
    { requestSets: ["slurm"], pools: ["licence-x", "slurm-*"] },
    { requestSets: ["none"], pools: false },
    { requestSets: ["read"], write: false },
    { requestSets: ["team-*"] },
  );
  test.each([
    { set: "pbs", may: ["licence-x", "licence-y", "shift"], not: ["free", "slurm-1"] },
    { set: "slurm", may: ["licence-x", "slurm-1"], not: ["licence-y", "shift", "free"] },
    { set: "team-1", may: ["free", "licence", "SHIFT"], not: ["licence-x", "shift", "slurm-1"] },
    { set: "no-rule", may: ["free"], not: ["licence-x", "shift"] },
    { set: "none", may: [], not: ["free", "licence-x"] },
    { set: "read", may: [], not: ["free"] },
  ])("$set", ({ set, may, not }) => {
    const owned = [...may, ...not].filter((pool) => mayOwnPool(lists, setName(set), pool));
    expect(owned).toEqual(may);
  });

  test("without rules every set may, and an empty list owns nothing", () => {
    expect(mayOwnPool([], setName("any"), "licence-x")).toBe(true);
    expect(mayOwnPool(rules({ pools: [] }), setName("any"), "licence-x")).toBe(false);
  });
});

test("who may define a dynamic node array", () => {
  const lists = rules({ requestSets: ["pbs"], dynamicArrays: ["licensed", "big-*"] }, { requestSets: ["*"] });
  const defines = (set: string) =>
    ["licensed", "big-1", "other"].filter((array) => mayDefineArray(lists, setName(set), array));
  expect(defines("pbs")).toEqual(["licensed", "big-1"]);
  expect(defines("evil")).toEqual(["other"]);
});

describe("what it costs to find rules", () => {
  const sets = Array.from({ length: 2000 }, (_, i) => setName("a".repeat(150) + i));
  /** 10,000 patterns, as many as a configuration may have, that each name has to be compared with whole. */
  const dear = rules(
    ...Array.from({ length: 100 }, (_, rule) => ({
      requestSets: Array.from({ length: 100 }, (_, i) => `*a*b*${rule}_${i}`),
    })),
  );

  test("is counted, and the search ends when it is too much", () => {
    const before = process.cpuUsage();
    const steps = stepsToFindRules(dear, sets, 1_000_000);
    const { user, system } = process.cpuUsage(before);
    expect(steps).toBeGreaterThan(1_000_000);
    expect((user + system) / 1e6).toBeLessThan(1);
  });

  test("is the same whether they were looked up before or not", () => {
    const some = sets.slice(0, 3);
    const fresh = (): readonly SenderRule[] => rules({ requestSets: ["b*", "*b*"] }, { requestSets: ["a*"] });
    const known = fresh();
    for (const set of some) ruleOf(known, set);
    // A list is one step, a pattern one, and one that begins like the name an eighth of 3 x 151 or 2 x 151 characters: 57 and 38.
    expect(stepsToFindRules(known, some, Infinity)).toBe(3 * (1 + 2 + 57 + 1 + 1 + 38));
    expect(stepsToFindRules(fresh(), some, Infinity)).toBe(3 * (1 + 2 + 57 + 1 + 1 + 38));
  });

  test("names and patterns that begin otherwise cost next to nothing", () => {
    const usual = rules(
      ...Array.from({ length: 100 }, (_, i) => ({ requestSets: [`team-${i}`, `pbs-${i}-*`] })),
    );
    expect(stepsToFindRules(usual, sets, Infinity)).toBe(2000 * 200);
  });
});
