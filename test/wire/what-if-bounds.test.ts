import { expect, test } from "vitest";
import { clusterName } from "../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import { boundProblems } from "../../src/wire/json/problems.ts";
import { readPolicy } from "../../src/wire/policy/policy.ts";
import { readWhatIf } from "../../src/wire/what-if.ts";
import { NOW } from "./context.ts";

function problemsOf(body: object): readonly string[] {
  const context = { cluster: clusterName("prod"), policy: DEFAULT_POLICY, now: NOW };
  const read = readWhatIf(Buffer.from(JSON.stringify(body)), context);
  if (read.kind !== "problems") return [];
  return read.problems.map(({ path, expected }) => `${path}: ${expected}`);
}

const limit = { kind: "nodearray", name: "execute", unit: "nodes", more: 1 };
const bucket = { nodearray: "execute", machineType: "Standard_F4s_v2", enabled: true };

test("a dry run may change a thousand limits and buckets, and no more", () => {
  expect(
    problemsOf({
      limits: Array.from({ length: 1000 }, () => limit),
      buckets: Array.from({ length: 1000 }, () => bucket),
    }),
  ).toEqual([]);
  expect(
    problemsOf({
      limits: Array.from({ length: 1001 }, () => limit),
      buckets: Array.from({ length: 1001 }, () => bucket),
    }),
  ).toEqual(["limits: at most 1000 changes", "buckets: at most 1000 changes"]);
});

test("a limit changes by ten million at most", () => {
  expect(problemsOf({ limits: [{ ...limit, more: -10_000_000 }] })).toEqual([]);
  expect(problemsOf({ limits: [{ ...limit, more: 10_000_001 }] })).toEqual([
    "limits[0].more: at most 10000000, up or down",
  ]);
  expect(problemsOf({ limits: [{ ...limit, more: undefined, max: 2 ** 53 - 1 }] })).toEqual([
    "limits[0].max: at most 10000000, up or down",
  ]);
});

test("of a thousand buckets that the cluster does not have, the answer names a hundred", () => {
  const problem = { path: "buckets", found: "x", expected: "a bucket" };
  const shown = boundProblems(Array.from({ length: 1000 }, () => problem));
  expect(shown).toHaveLength(101);
  expect(shown.at(-1)).toEqual({
    path: "",
    found: "900 more problems",
    expected: "an input without problems",
  });
});

const entries = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ select: {}, name: `r${i}`, value: 1 }));

test("what a dry run changes in the configuration comes through a door; what is stored stays as it is", () => {
  const price = { currency: "USD", locations: { here: { Large: 9e307 } } };
  expect(
    problemsOf({ config: { default_resources: entries(201), idleTimeout: 1e308, prices: price } }),
  ).toEqual([
    "config.prices.locations.here.Large: a price per hour of at most 1000000000",
    "config.idleTimeout: at most 31536000 seconds, a year",
    "config.default_resources: at most 200 entries",
  ]);
  const stored = readPolicy({ default_resources: entries(201), planHistory: 1e9 }, "act", "store");
  if (stored.kind === "problems") throw new Error("a stored document stays in force");
  const context = { cluster: clusterName("prod"), policy: stored.policy, now: NOW };
  const read = (config: object) => readWhatIf(Buffer.from(JSON.stringify({ config })), context).kind;
  expect(read({ idleTimeout: 60 })).toBe("what-if");
  expect(read({ default_resources: entries(201) })).toBe("problems");
});

test("a dry run asks for 200,000 jobs in all its sets, and no more; more are not read", () => {
  const sets = (first: number, second: number) => ({
    requestSets: {
      a: { jobs: Array.from({ length: first }, (_, i) => ({ name: `j${i}` })) },
      b: { jobs: Array.from({ length: second }, (_, i) => ({ name: `j${i}` })) },
      c: null,
    },
  });
  expect(problemsOf(sets(3, 2))).toEqual([]);
  expect(problemsOf(sets(199_999, 2))).toEqual(["requestSets: at most 200000 jobs"]);
});
