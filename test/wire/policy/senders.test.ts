import { describe, expect, test } from "vitest";
import { readPolicy } from "../../../src/wire/policy/policy.ts";
import { writePolicy } from "../../../src/wire/policy/write-policy.ts";

const read = (senders: unknown) => readPolicy({ senders });

/** "path: found -> expected" */
function problemsOf(senders: unknown): readonly string[] {
  const policy = read(senders);
  return policy.kind === "problems"
    ? policy.problems.map(({ path, found, expected }) => `${path}: ${found} -> ${expected}`)
    : [];
}

const FREE_KEY =
  'a key of Configuration, such as "application_version"; what CycleCloud reads itself is allowed by attributes';

test("rules are read in their order, and written so that they read back the same", () => {
  const policy = read([
    {
      requestSets: ["pbs", "slurm-*"],
      maxPriority: 100,
      caps: { nodes: 50, cores: 500 },
      attributes: ["ImageName", "Configuration.cyclecloud.mounts"],
    },
    { requestSets: "report-*", hosts: true, pools: false, dynamicArrays: false },
    { requestSets: "lab", share: 0.5, pools: ["licence-*", "a/b"], dynamicArrays: [] },
    { requestSets: "*", write: false },
  ]);
  if (policy.kind !== "policy") throw new Error(JSON.stringify(policy));
  const rest = { write: true, hosts: true, pools: true, dynamicArrays: true, attributes: [] };
  expect(policy.policy.senders).toEqual([
    {
      ...rest,
      requestSets: ["pbs", "slurm-*"],
      maxPriority: 100,
      caps: { nodes: 50, cores: 500 },
      attributes: ["ImageName", "Configuration.cyclecloud.mounts"],
    },
    { ...rest, requestSets: ["report-*"], pools: false, dynamicArrays: false },
    { ...rest, requestSets: ["lab"], share: 0.5, pools: ["licence-*", "a/b"], dynamicArrays: [] },
    { ...rest, requestSets: ["*"], write: false },
  ]);
  expect(policy.report.used).toEqual([{ key: "senders", as: "senders" }]);
  expect(readPolicy(JSON.stringify(writePolicy(policy.policy)))).toMatchObject({ policy: policy.policy });
});

test.each([
  { configuration: [], read: { every: [] } },
  {
    configuration: ["application_version", "site.row"],
    read: { every: ["application_version", "site.row"] },
  },
  {
    configuration: { default: [], hpc: ["application_version"] },
    read: { every: [], byArray: new Map([["hpc", ["application_version"]]]) },
  },
  { configuration: { hpc: [] }, read: { byArray: new Map([["hpc", []]]) } },
  { configuration: {}, read: {} },
])("keys of Configuration are read and written: $configuration", ({ configuration, read: expected }) => {
  const policy = read([{ requestSets: "*", configuration }]);
  if (policy.kind !== "policy") throw new Error(JSON.stringify(policy));
  expect(policy.policy.senders?.[0]?.configuration).toEqual(expected);
  expect(writePolicy(policy.policy).senders).toMatchObject([{ configuration }]);
});

test("without the section there is none, and GET shows none", () => {
  const policy = readPolicy({});
  expect(
    policy.kind === "policy" && [policy.policy.senders, "senders" in writePolicy(policy.policy)],
  ).toEqual([undefined, false]);
});

describe("is refused", () => {
  test.each([
    { senders: {}, lines: ["senders: {} -> a list of rules, each an object with requestSets"] },
    { senders: ["pbs"], lines: ["senders[0]: text of 3 characters -> an object with requestSets"] },
    {
      senders: [{ write: false }],
      lines: ["senders[0].requestSets: nothing -> a name or shell pattern, or a list of them"],
    },
    {
      senders: [{ requestSets: [] }],
      lines: ["senders[0].requestSets: [] -> a name or shell pattern, or a list of them"],
    },
    {
      senders: [{ requestSets: ["a", 5] }],
      lines: ["senders[0].requestSets[1]: 5 -> a name or shell pattern, or a list of them"],
    },
    {
      senders: [{ requestSets: "*", hosts: "no", maxPriority: 1e300, atributes: [] }],
      lines: [
        'senders[0]: "atributes" -> one of the keys requestSets, write, maxPriority, caps, share, hosts, pools, dynamicArrays, nodeNames, attributes, configuration',
        "senders[0].maxPriority: 1e+300 -> a number from -1000000000 to 1000000000",
        "senders[0].hosts: text of 2 characters -> true or false",
      ],
    },
    {
      senders: [{ requestSets: "*", caps: { gpus: 1 }, attributes: ["", 1] }],
      lines: [
        'senders[0].caps: "gpus" -> one of the keys nodes, cores',
        'senders[0].attributes[0]: "" -> the name of a node attribute, or a path such as "Configuration.cyclecloud.mounts", or "*"',
        'senders[0].attributes[1]: 1 -> the name of a node attribute, or a path such as "Configuration.cyclecloud.mounts", or "*"',
      ],
    },
    {
      senders: [{ requestSets: "*", attributes: "KeepAlive" }],
      lines: [
        'senders[0].attributes: text of 9 characters -> a list, each the name of a node attribute, or a path such as "Configuration.cyclecloud.mounts", or "*"',
      ],
    },
    {
      senders: [{ requestSets: "*", share: -1, pools: "licence-x", dynamicArrays: ["a/b"] }],
      lines: [
        "senders[0].share: -1 -> a number from 0 to 1000",
        "senders[0].pools: text of 9 characters -> true, false, or a list of names or shell patterns",
        'senders[0].dynamicArrays[0]: "a/b" -> text of 1 to 200 characters, without "/", "\\", "%2F", control and direction characters, and not "." or ".."',
      ],
    },
    {
      senders: [{ requestSets: "*", share: 1001, pools: [5] }],
      lines: [
        "senders[0].share: 1001 -> a number from 0 to 1000",
        "senders[0].pools[0]: 5 -> text of 1 to 200 characters, none of them a control or direction character",
      ],
    },
    {
      senders: [{ requestSets: "*", configuration: "site" }],
      lines: [
        "senders[0].configuration: text of 4 characters -> a list of keys of Configuration, or an object of such lists: default, and node arrays",
      ],
    },
    {
      senders: [
        { requestSets: "*", configuration: { hpc: "x", default: ["Run_List", "cyclecloud.mounts", ""] } },
        { requestSets: "*", configuration: ["Configuration.site"] },
      ],
      lines: [
        `senders[0].configuration.hpc: text of 1 character -> a list, each ${FREE_KEY}`,
        `senders[0].configuration.default[0]: "Run_List" -> ${FREE_KEY}`,
        `senders[0].configuration.default[1]: "cyclecloud.mounts" -> ${FREE_KEY}`,
        `senders[0].configuration.default[2]: "" -> ${FREE_KEY}`,
        `senders[1].configuration[0]: "Configuration.site" -> ${FREE_KEY}`,
      ],
    },
  ])("$senders", ({ senders, lines }) => {
    expect(problemsOf(senders)).toEqual(lines);
  });

  test("more rules than anybody reads", () => {
    expect(problemsOf(Array.from({ length: 1001 }, () => ({ requestSets: "*" })))).toEqual([
      "senders: 1001 rules -> at most 1000 rules",
    ]);
  });
});

test("10,000 names in all rules, and no more at the door; a stored document with more stays in force", () => {
  const list = (count: number) => Array.from({ length: count }, (_, i) => `name-${i}`);
  const nine = Array.from({ length: 9 }, () => ({
    requestSets: list(900),
    pools: list(50),
    dynamicArrays: list(50),
  }));
  expect(problemsOf([...nine, { requestSets: list(1000) }])).toEqual([]);
  const senders = [...nine, { requestSets: list(1000) }, { requestSets: "*" }];
  expect(problemsOf(senders)).toEqual([
    "senders: 10001 names in all rules -> at most 10000 names in all rules",
  ]);
  const stored = readPolicy({ senders }, "act", "store");
  expect(stored.kind === "policy" && stored.policy.senders).toHaveLength(11);
  expect(stored.kind === "policy" && stored.refused.map(({ mend }) => mend)).toEqual([
    "config set senders=[...]",
  ]);
});

test("a list that does not end with a rule for all others: that is doubted", () => {
  const policy = read([{ requestSets: "pbs" }, { requestSets: ["team-*", "lab"] }]);
  expect(policy.kind === "policy" && policy.doubts).toEqual([
    {
      path: "senders",
      found: "no rule for all other request sets",
      expected: 'a last rule for "*": a request set that no rule names may do everything',
    },
  ]);
  const whole = read([{ requestSets: "pbs" }, { requestSets: ["lab", "*"] }]);
  expect(whole.kind === "policy" && whole.doubts).toEqual([]);
  const none = read([]);
  expect(none.kind === "policy" && none.doubts).toEqual([]);
});

test("a rule behind one for all sets never counts: that is doubted", () => {
  const policy = read([{ requestSets: "*" }, { requestSets: "pbs", maxPriority: 5 }]);
  expect(policy.kind === "policy" && policy.doubts).toEqual([
    {
      path: "senders[1]",
      found: '"pbs"',
      expected:
        "no rule behind senders[0], which names every request set: the first rule that names one counts",
    },
  ]);
});
