import { describe, expect, test } from "vitest";
import { readPath } from "../../../src/wire/policy/config-path.ts";
import { refusalText } from "../../../src/wire/policy/refusals.ts";
import { readPolicy } from "../../../src/wire/policy/policy.ts";

/** Bounds that hold for new documents only. What is stored stays in force, with the command that mends it. */

function problemsOf(document: object): readonly string[] {
  const read = readPolicy(document);
  return read.kind === "problems"
    ? read.problems.map(({ path, found, expected }) => `${path}: ${found} -> ${expected}`)
    : [];
}

function stored(document: object) {
  const read = readPolicy(document, "act", "store");
  if (read.kind === "problems") throw new Error(JSON.stringify(read.problems));
  return read;
}

const YEAR = 31_536_000;

describe("a duration of more than a year", () => {
  test.each([
    { document: { idleTimeout: 1e308 }, path: "idleTimeout" },
    { document: { idle_timeout: YEAR + 1 }, path: "idle_timeout" },
    { document: { idle_timeout: "31536001" }, path: "idle_timeout" },
    { document: { bootTimeout: { default: 60, hpc: 1e300 } }, path: "bootTimeout.hpc" },
    { document: { boot_timeout: { hpc: "99999999999" } }, path: "boot_timeout.hpc" },
    { document: { downTimeout: { default: "never", hpc: 1e9 } }, path: "downTimeout.hpc" },
    { document: { failedTimeout: 1e9 }, path: "failedTimeout" },
    { document: { maxExpirationInterval: 1e308 }, path: "maxExpirationInterval" },
    { document: { inFlightGrace: 1e9 }, path: "inFlightGrace" },
    { document: { groupFillTimeout: 1e9 }, path: "groupFillTimeout" },
    { document: { planHistory: 1e9 }, path: "planHistory" },
  ])("is refused as $path, and stays in force where it is stored", ({ document, path }) => {
    expect(problemsOf(document)).toEqual([expect.stringMatching(/-> at most 31536000 seconds, a year$/)]);
    const { refused, policy } = stored(document);
    expect(refused.map(({ problem, mend }) => [problem.path, mend])).toEqual([
      [path, `config set ${path}=SECONDS`],
    ]);
    expect(readPolicy(document, "act", "store")).toMatchObject({ policy });
  });

  test("a year, never, and scalelib's null are none", () => {
    const timeouts = {
      idleTimeout: YEAR,
      boot_timeout: { hpc: null },
      downTimeout: "never",
      planHistory: YEAR,
    };
    expect(problemsOf(timeouts)).toEqual([]);
  });

  test("the trouble says what mends it", () => {
    const [refusal] = stored({ planHistory: 1e9 }).refused;
    expect(refusal && refusalText(refusal)).toBe(
      "the stored configuration is in force although a new one like it would be refused: planHistory: found 1000000000, expected at most 31536000 seconds, a year; mend it with config set planHistory=SECONDS",
    );
  });
});

test("200 default resources, and no more", () => {
  const entries = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ select: {}, name: `r${i}`, value: 1 }));
  expect(problemsOf({ default_resources: entries(200) })).toEqual([]);
  const document = { default_resources: entries(201) };
  expect(problemsOf(document)).toEqual(["default_resources: 201 entries -> at most 200 entries"]);
  expect(stored(document).policy.defaultResources).toHaveLength(201);
  expect(stored(document).refused.map(({ mend }) => mend)).toEqual(["config set default_resources=[...]"]);
});

describe("a name in which a character acts on what is beside it", () => {
  const expected = "a name without control and direction characters";

  test.each([
    { document: { nodearrays: ["hpc", "a\u202eb"] }, at: "nodearrays[1]", mend: "nodearrays" },
    { document: { mode: { "a\u200f": "act" } }, at: 'mode["a\\u200f"]', mend: 'mode["a\\u200f"]' },
    {
      document: { caps: { requestSets: { "a\u2028b": { nodes: 3 } } } },
      at: 'caps.requestSets["a\\u2028b"]',
      mend: 'caps.requestSets["a\\u2028b"]',
    },
    {
      document: { senders: [{ requestSets: ["*", "pbs\u061c"], pools: ["x\u202e"] }] },
      at: "senders[0].requestSets[1]",
      also: "senders[0].pools[0]",
      mend: "senders",
    },
    {
      document: { default_resources: [{ select: { "a\u001b": 1 }, name: "b", value: 1 }] },
      at: 'default_resources[0].select["a\\u001b"]',
      mend: "default_resources",
    },
    {
      document: { placementGroups: { hpc: ["pg\u2067"] } },
      at: "placementGroups.hpc[0]",
      mend: "placementGroups.hpc",
    },
  ])("is refused at $at, and stays in force where it is stored", ({ document, at, also, mend }) => {
    const paths = also === undefined ? [at] : [at, also];
    expect(problemsOf(document)).toEqual(
      paths.map((path) => expect.stringMatching(new RegExp(`^${escaped(path)}: [^]* -> ${expected}$`))),
    );
    expect(stored(document).refused.map((one) => [one.problem.path, one.mend])).toEqual(
      paths.map((path) => [path, `config unset ${mend}`]),
    );
  });

  test("the command that mends it can be copied", () => {
    const read = stored({ mode: { default: "observe", "a\u202eb": "act" } });
    const [{ mend } = { mend: "" }] = read.refused;
    expect(readPath(mend.slice("config unset ".length))).toEqual(["mode", "a\u202eb"]);
  });

  test("of a user it is taken: people paste it", () => {
    expect(problemsOf({ caps: { users: { "\u200fאבי": { nodes: 3 } } } })).toEqual([]);
  });
});

const escaped = (text: string): string => text.replaceAll(/[.[\]\\]/g, String.raw`\$&`);
