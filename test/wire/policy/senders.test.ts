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
        'senders[0]: "atributes" -> one of the keys requestSets, write, maxPriority, caps, hosts, pools, dynamicArrays, attributes, configuration',
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
