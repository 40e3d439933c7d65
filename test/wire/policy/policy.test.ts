import { describe, expect, test } from "vitest";
import { readPolicy } from "../../../src/wire/policy/policy.ts";
import { writePolicy } from "../../../src/wire/policy/write-policy.ts";
import { lineOf } from "../context.ts";

const defaults = {
  idleTimeoutSeconds: 300,
  bootTimeoutSeconds: 3600,
  snapshotIntervalSeconds: 60,
  maxExpirationSeconds: 86_400,
  callLimitSeconds: 60,
  lagSeconds: 30,
  parallelCreates: 1,
  inFlightGraceSeconds: 900,
  groupFillTimeoutSeconds: 600,
  preference: "existing-first",
  among: "priority",
  planHistorySeconds: 604_800,
  mode: "act",
  arrayModes: new Map(),
  modeIsDefault: true,
};

describe("a cluster's policy", () => {
  test.each([
    { name: "the defaults", input: "{}", policy: defaults, ignored: [] },
    {
      name: "all keys of ours",
      input: {
        idleTimeout: 0,
        bootTimeout: 1200.5,
        maxExpirationInterval: 3600,
        inFlightGrace: 60,
        groupFillTimeout: 120,
        nodearrays: ["execute"],
        preference: "bucket-order",
        among: "cheapest",
        placementGroups: { default: ["pg0"], execute: ["pg1", "pg2"] },
        planHistory: 3600,
        enabled: false,
      },
      policy: {
        idleTimeoutSeconds: 0,
        bootTimeoutSeconds: 1200.5,
        snapshotIntervalSeconds: 60,
        maxExpirationSeconds: 3600,
        inFlightGraceSeconds: 60,
        callLimitSeconds: 60,
        lagSeconds: 30,
        parallelCreates: 1,
        groupFillTimeoutSeconds: 120,
        nodearrays: ["execute"],
        preference: "bucket-order",
        among: "cheapest",
        placementGroups: new Map([
          ["default", ["pg0"]],
          ["execute", ["pg1", "pg2"]],
        ]),
        planHistorySeconds: 3600,
        mode: "observe",
        arrayModes: new Map(),
      },
      ignored: [],
    },
    {
      name: "scalelib's autoscale.json as it is",
      input: {
        cluster_name: "prod",
        url: "https://cc",
        username: "u",
        password: "hunter2",
        idle_timeout: "600",
        boot_timeout: { default: 3600 },
        default_resources: [],
        nodearrays: {
          default: { placement_groups: ["pg0"] },
          hpc: { placement_groups: [], max_placement_groups: 3 },
        },
        lock_file: null,
      },
      policy: {
        ...defaults,
        idleTimeoutSeconds: 600,
        bootTimeoutSeconds: 3600,
        defaultResources: [],
        placementGroups: new Map([
          ["default", ["pg0"]],
          ["hpc", []],
        ]),
      },
      ignored: [
        "cluster_name",
        "url",
        "username",
        "password",
        "nodearrays.hpc.max_placement_groups",
        "lock_file",
      ],
    },
  ])("$name", ({ input, policy, ignored }) => {
    const read = readPolicy(input);
    expect(read).toMatchObject({ kind: "policy", doubts: [] });
    expect(read.kind === "policy" && read.policy).toEqual(policy);
    expect(read.kind === "policy" && read.report.ignored.map(({ key }) => key)).toEqual(ignored);
  });

  test("is written in our own keys and reads back the same", () => {
    const policy = readPolicy({ idle_timeout: 5, nodearrays: ["a b"] });
    if (policy.kind !== "policy") throw new Error("problems");
    const document = writePolicy(policy.policy);
    expect(document).toEqual({
      idleTimeout: 5,
      bootTimeout: 3600,
      maxExpirationInterval: 86_400,
      inFlightGrace: 900,
      groupFillTimeout: 600,
      nodearrays: ["a b"],
      preference: "existing-first",
      among: "priority",
      planHistory: 604_800,
    });
    expect(readPolicy(document)).toMatchObject({ policy: policy.policy, report: { ignored: [] } });
  });

  const KEYS =
    "one of the keys idleTimeout, bootTimeout, downTimeout, failedTimeout, deallocatedTimeout, maxExpirationInterval, inFlightGrace, groupFillTimeout, nodearrays, exclusiveNodearrays, named, default_resources, vmSizes, preference, among, mixes, placementGroups, caps, senders, prices, planHistory, mode, enabled, idle_timeout, boot_timeout";
  test.each([
    {
      name: "not JSON, of which nothing is shown",
      input: '{"password":"hunter2"',
      lines: [": text of 21 characters -> JSON"],
    },
    {
      name: "no object, of which nothing is shown",
      input: '["hunter2"]',
      lines: [": list of 1 item -> an object"],
    },
    {
      name: "unknown keys: their values may be secrets",
      input: { idelTimeout: 5, pasword: "hunter2" },
      lines: [`: "idelTimeout" -> ${KEYS} (idleTimeout?)`, `: "pasword" -> ${KEYS}`],
    },
    {
      name: "wrong types, all at once",
      input: {
        idleTimeout: -1,
        bootTimeout: "10",
        maxExpirationInterval: null,
        inFlightGrace: true,
        groupFillTimeout: -1,
        nodearrays: "execute",
        preference: "cheapest",
        among: 2,
        enabled: 1,
      },
      lines: [
        "nodearrays: text of 7 characters -> a list of node array names",
        "idleTimeout: -1 -> a number of seconds, 0 or more",
        'bootTimeout: "10" -> a number of seconds, 1 or more',
        "maxExpirationInterval: null -> a number of seconds, 1 or more",
        "inFlightGrace: true -> a number of seconds, 1 or more",
        "groupFillTimeout: -1 -> a number of seconds, 0 or more",
        'preference: "cheapest" -> one of existing-first, bucket-order',
        "among: 2 -> one of priority, cheapest",
        "enabled: 1 -> true or false",
      ],
    },
    {
      name: "a bad name in a list",
      input: { nodearrays: ["a", ""] },
      lines: [
        'nodearrays[1]: "" -> text of 1 to 200 characters, without "/", "\\", "%2F", control and direction characters, and not "." or ".."',
      ],
    },
    {
      name: "placement groups that are none, and a slip in scalelib's key",
      input: {
        nodearrays: { a: { placement_groups: "pg0" }, b: { placement_group: ["pg0"] }, c: ["pg0"] },
      },
      lines: [
        "nodearrays.a.placement_groups: text of 3 characters -> a list of placement group names",
        'nodearrays.b: "placement_group" -> one of the keys placement_groups (placement_groups?)',
        "nodearrays.c: list of 1 item -> an object with placement_groups",
      ],
    },
    {
      name: "placement groups in both spellings, one of them without a name",
      input: {
        nodearrays: { a: { placement_groups: ["pg0"] } },
        placementGroups: { a: ["pg1", ""], b: 1 },
      },
      lines: [
        "placementGroups: object with 2 members -> either this key or nodearrays.*.placement_groups",
        'placementGroups.a[1]: "" -> text of 1 to 200 characters, none of them a control or direction character',
        "placementGroups.b: 1 -> a list of placement group names",
      ],
    },
    {
      name: "both spellings",
      input: { idleTimeout: 5, idle_timeout: 6 },
      lines: ["idle_timeout: 6 -> either idleTimeout or idle_timeout, not both"],
    },
    {
      name: "text that is no number",
      input: { boot_timeout: "5m" },
      lines: ["boot_timeout: text of 2 characters -> a number of seconds, 1 or more"],
    },
  ])("is refused: $name", ({ input, lines }) => {
    const read = readPolicy(input);
    expect(read.kind === "problems" ? read.problems.map(lineOf) : read).toEqual(lines);
  });
});

describe("default resources and VM sizes of one's own", () => {
  const document = {
    default_resources: [
      { select: { "node.vm_size": ["Standard_F*"] }, name: "ncpus", value: "node.pcpu_count" },
      { select: {}, name: "disk", value: "memory::20g" },
      { select: {}, name: "mem", value: "node.memory", subtract: "memory::1g" },
      { select: {}, name: "half", value: "node.resources.mem", divide: 2 },
      { select: {}, name: "rack", value: "node.software_configuration.rack" },
      { select: {}, name: "gigabytes", value: "node.resources.memgb.value" },
    ],
    vmSizes: {
      westeurope: {
        standard_x8: { family: "standardXFamily", capabilities: { vCPUsAvailable: 8, GPUs: 2 } },
      },
      "proxied-locations": { usgov: "westeurope" },
    },
  };

  test("are read, and written back as they were", () => {
    const read = readPolicy(document);
    if (read.kind === "problems") throw new Error(read.problems.map(lineOf).join("; "));
    expect(read.policy.defaultResources?.map(({ name }) => name)).toEqual([
      "ncpus",
      "disk",
      "mem",
      "half",
      "rack",
      "gigabytes",
    ]);
    expect(read.policy.vmSizes?.locations.get("westeurope")?.get("standard_x8")).toEqual({
      family: "standardXFamily",
      vcpus: 8,
      gpus: 2,
    });
    expect(writePolicy(read.policy)).toMatchObject(document);
  });

  const entry = { select: {}, name: "x", value: 1 };
  test.each([
    {
      name: "code between backquotes",
      entries: [{ ...entry, value: "`node.vcpu_count * 2`" }],
      lines: [
        'default_resources[0].value: "`node.vcpu_count * 2`" -> data: node.X, node.resources.X, a number or text; code is not run',
      ],
    },
    {
      name: "no select",
      entries: [entry, { name: "x", value: 1 }],
      lines: ["default_resources[1].select: nothing -> an object: for which nodes; {} for all"],
    },
    {
      name: "an operation on a text",
      entries: [{ ...entry, value: "node.vm_size", add: 1 }],
      lines: [
        'default_resources[0].add: "node.vm_size" -> a value that is an amount: a text has no sum or product',
      ],
    },
    {
      name: "two operations",
      entries: [{ ...entry, add: 1, multiply: 2 }],
      lines: [
        'default_resources[0]: "add, multiply" -> at most one of add, subtract, multiply, divide, divide_floor',
      ],
    },
    {
      name: "nothing to divide by",
      entries: [{ ...entry, divide: 0 }],
      lines: ["default_resources[0].divide: 0 -> a number, not 0, or a size such as memory::1g"],
    },
    {
      name: "a key that nobody knows",
      entries: [{ ...entry, vlaue: 2 }],
      lines: [
        'default_resources[0]: "vlaue" -> one of the keys select, name, value, add, subtract, multiply, divide, divide_floor',
      ],
    },
  ])("refuses $name", ({ entries, lines }) => {
    const read = readPolicy({ default_resources: entries });
    expect(read.kind === "problems" ? read.problems.map(lineOf) : read.kind).toEqual(lines);
  });
});

test.each([
  { mixes: "off", kept: { mixes: "off" } },
  { mixes: "on", kept: {} },
])("mixes: $mixes", ({ mixes, kept }) => {
  const read = readPolicy({ mixes });
  if (read.kind !== "policy") throw new Error(JSON.stringify(read));
  expect("mixes" in read.policy ? { mixes: read.policy.mixes } : {}).toEqual(kept);
  expect(readPolicy({ mixes: false })).toMatchObject({ kind: "problems", problems: [{ path: "mixes" }] });
});
