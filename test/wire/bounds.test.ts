import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { clusterName, setName } from "../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import { BOUNDS } from "../../src/wire/json/bounds.ts";
import { readDemandMessage, readRequestSet } from "../../src/wire/message/demand-message.ts";
import { readPolicy } from "../../src/wire/policy/policy.ts";
import { readWhatIf } from "../../src/wire/what-if.ts";
import { processorMs } from "../support/processor-time.ts";
import { CONTEXT, problemLines } from "./context.ts";

const ADDRESS = { ...CONTEXT, cluster: clusterName("prod"), set: setName("standard") };

/** Over HTTP, where a message may be long. */
const put = (members: object) => readRequestSet({ version: 1, cluster: "prod", ...members }, ADDRESS);

const lines = (members: object): readonly string[] => problemLines(put(members));

function rejectedJob(job: object): readonly string[] {
  const read = put({ jobs: [{ name: "good" }, { name: "bad", ...job }] });
  if (read.kind !== "update") throw new Error(`not an update: ${JSON.stringify(read)}`);
  const { demands, rejectedJobs } = read.update.demand ?? { demands: [], rejectedJobs: [] };
  expect(demands.map(({ id }) => id)).toEqual(["good"]);
  return rejectedJobs.flatMap(({ problems }) =>
    problems.map(({ path, found, expected }) => `${path}: ${found} -> ${expected}`),
  );
}

function nested(levels: number, innermost: object, around: (inner: object) => object): object {
  let value = innermost;
  for (let level = 0; level < levels; level += 1) value = around(value);
  return value;
}

test.each(["TargetCount", "TargetCoreCount"])("%s: ten million is taken, one more is not", (key) => {
  expect(put({ nodearrays: { Name: "htc", [key]: 10_000_000 } }).kind).toBe("update");
  expect(lines({ nodearrays: { Name: "htc", [key]: 10_000_001 } })).toEqual([
    `nodearrays[0].${key}: 10000001 -> at most 10000000`,
  ]);
});

test.each([2 ** 31, 2 ** 53 - 1, 2 ** 53, 1e300])("a target of %d is refused", (count) => {
  expect(lines({ nodearrays: { Name: "htc", TargetCount: count } })).toEqual([
    `nodearrays[0].TargetCount: ${count} -> at most 10000000`,
  ]);
});

test("groups and their size are bounded together", () => {
  const groups = { Name: "htc", TargetGroupCount: 10_000, GroupInstanceCount: 1000 };
  expect(put({ nodearrays: groups }).kind).toBe("update");
  expect(lines({ nodearrays: { ...groups, GroupInstanceCount: 1001 } })).toEqual([
    'nodearrays[0]: {"TargetGroupCount":10000,"GroupInstanceCount":1001} -> at most 10000000 in all groups together',
  ]);
});

test.each([
  { name: "iterations", job: { iterations: 10_000_001 }, line: "iterations: 10000001 -> at most 10000000" },
  { name: "node-count", job: { "node-count": 1e9 }, line: "node-count: 1000000000 -> at most 10000000" },
  {
    name: "iterations on all nodes",
    job: { iterations: 10_000, "node-count": 1001 },
    line: "node-count: 1001 -> at most 10000000 slots on all nodes together",
  },
  {
    name: "priority",
    job: { priority: 1e300 },
    line: "priority: 1e+300 -> a number from -1000000000 to 1000000000",
  },
  {
    name: "an amount",
    job: { constraints: { gpus: 1e300 } },
    line: "constraints.gpus: 1e+300 -> at most 1000000000000000000",
  },
  {
    name: "the name of a resource",
    job: { constraints: { ["r".repeat(201)]: 1 } },
    line: `constraints.${"r".repeat(201)}`.slice(0, 100),
  },
  {
    name: "alternatives",
    job: { constraints: { or: Array.from({ length: 101 }, (_, at) => ({ a: at })) } },
    line: "constraints.or: 101 objects -> at most 100 objects",
  },
  {
    name: "constraints, those inside others included",
    job: {
      constraints: Array.from({ length: 20 }, () => ({
        or: Array.from({ length: 60 }, (_, at) => ({ a: at })),
      })),
    },
    line: "constraints: 1220 constraints, those inside others included -> at most 1000",
  },
  {
    name: "hosts that it runs on",
    job: { "executing-hostnames": Array.from({ length: 20_001 }, (_, at) => `h${at}`) },
    line: "executing-hostnames: 20001 texts -> at most 20000 texts",
  },
])("a job beyond a bound is rejected by itself: $name", ({ job, line }) => {
  const found = rejectedJob(job);
  expect(found.some((one) => one.startsWith(`jobs[1].${line}`))).toBe(true);
});

test.each([
  { name: "not", job: { constraints: nested(2000, { a: 1 }, (inner) => ({ not: inner })) } },
  { name: "or", job: { constraints: nested(400, { a: 1 }, (inner) => ({ or: [{ b: 2 }, inner] })) } },
  { name: "never", job: { constraints: { never: nested(4000, [], (inner) => [inner]) } } },
  { name: "metadata", job: { metadata: nested(100_000, {}, (inner) => ({ a: inner })) } },
])("a job nested too deep ($name) is rejected by itself", ({ job }) => {
  const [line] = rejectedJob(job);
  expect(line).toMatch(/^jobs\[1\].*: one level more -> at most 64 levels of nesting$/);
});

test("an attribute nested too deep rejects the message, dynamic or not", () => {
  const Configuration = nested(4000, {}, (inner) => ({ a: inner }));
  const dynamic = { Name: "d", Dynamic: true, Extends: "htc", TargetCount: 1, Configuration };
  expect(lines({ nodearrays: [dynamic] })).toHaveLength(1);
  expect(lines({ nodearrays: [{ Name: "htc", TargetCount: 1, Configuration }] })).toHaveLength(1);
});

test("configuration nested too deep is refused", () => {
  const deep = nested(100_000, {}, (inner) => ({ a: inner }));
  expect(readPolicy(JSON.stringify({ idleTimeout: 300 })).kind).toBe("policy");
  const text = `{"caps":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  expect(readPolicy(text)).toMatchObject({
    kind: "problems",
    problems: [{ expected: "at most 64 levels of nesting" }],
  });
  expect(readPolicy(deep)).toMatchObject({ kind: "problems" });
});

test("of a thousand jobs that cannot be read a hundred are named, the rest is counted, and the others stand", () => {
  const jobs = [...Array.from({ length: 1000 }, () => ({})), { name: "good" }];
  const read = put({ jobs });
  expect(read).toMatchObject({
    kind: "update",
    update: { demand: { demands: [{ id: "good" }], moreRejectedJobs: 900 } },
  });
  const { rejectedJobs = [] } = read.kind === "update" ? (read.update.demand ?? {}) : {};
  expect(rejectedJobs).toHaveLength(100);
});

test.each([
  { list: "jobs", most: BOUNDS.jobs, what: "jobs" },
  { list: "nodearrays", most: BOUNDS.nodearrays, what: "entries" },
  { list: "pools", most: BOUNDS.pools, what: "pools" },
  { list: "schedulerNodes", most: BOUNDS.hosts, what: "hosts" },
])("a list of $list that is too long is not read", ({ list, most, what }) => {
  const items = Array.from({ length: most + 1 }, () => 0);
  expect(lines({ [list]: items })).toEqual([
    `${list}: ${most + 1} ${what} -> at most ${most} ${what}`,
    ...(list === "pools" || list === "schedulerNodes" ? [] : []),
  ]);
});

test("a text, an object or an input that is too large is refused with its path", () => {
  expect(
    lines({ nodearrays: { Name: "htc", TargetCount: 1, CloudInit: "x".repeat(BOUNDS.text + 1) } }),
  ).toEqual(["nodearrays.CloudInit: 131073 characters -> at most 131072 characters"]);
  const Configuration = Object.fromEntries(
    Array.from({ length: BOUNDS.members + 1 }, (_, at) => [`k${at}`, at]),
  );
  expect(lines({ nodearrays: { Name: "htc", TargetCount: 1, Configuration } })).toEqual([
    "nodearrays.Configuration: 10001 members -> at most 10000 members",
  ]);
  const text = `{"version":1,"jobs":[${"{},".repeat(5_000_000)}{}]}`;
  expect(problemLines(readRequestSet(text, ADDRESS))).toEqual([
    ": more than 4000000 values -> at most 4000000 values in one input",
  ]);
});

test("a queue message of more than 600,000 values is refused before it is parsed; over HTTP it is read", () => {
  const text = `{"version":1,"cluster":"prod","jobs":[${"0,".repeat(650_000)}0]}`;
  const packed = gzipSync(text).toString("base64");
  expect(problemLines(readDemandMessage(packed, CONTEXT))).toEqual([
    ": more than 600000 values -> at most 600000 values in one input",
  ]);
  expect(problemLines(readRequestSet(text, ADDRESS))).toEqual(["jobs: 650001 jobs -> at most 200000 jobs"]);
});

test("a number beyond the largest is refused, not sent on as null", () => {
  const text = '{"version":1,"nodearrays":{"Name":"htc","TargetCount":1,"Weight":1e999}}';
  expect(problemLines(readRequestSet(text, ADDRESS))).toEqual([
    "nodearrays.Weight: a number beyond the largest -> a number below 1.8e308",
  ]);
});

/** Most of them are far below 64 KiB when packed, and once cost from seconds to the life of the process. */
test.each([
  { name: "empty jobs", text: `{"version":1,"cluster":"prod","jobs":[${"{},".repeat(1_398_000)}{}]}` },
  {
    name: "empty nodearrays",
    text: `{"version":1,"cluster":"prod","nodearrays":[${"{},".repeat(1_398_000)}{}]}`,
  },
  {
    name: "pools that are none",
    text: `{"version":1,"cluster":"prod","pools":[${"0,".repeat(2_000_000)}0]}`,
  },
  {
    name: "jobs with unknown keys",
    text: `{"version":1,"cluster":"prod","jobs":[${'{"iteration":1,"nme":2,"usr":3},'.repeat(120_000)}{}]}`,
  },
  {
    name: "an object of unknown keys",
    text: JSON.stringify({
      version: 1,
      cluster: "prod",
      jobs: [Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`k${at}`, at]))],
    }),
  },
  { name: "nesting", text: `{"version":1,"cluster":"prod","jobs":${"[".repeat(1e6)}${"]".repeat(1e6)}}` },
])("a message as large as the door lets in is read in bounded time: $name", ({ text }) => {
  const packed = gzipSync(text).toString("base64");
  const before = process.cpuUsage();
  const read = readDemandMessage(packed, CONTEXT);
  const { user, system } = process.cpuUsage(before);
  expect(read.kind).toMatch(/update|rejected/);
  expect((user + system) / 1e6).toBeLessThan(3);
});

describe("long texts that begin like sizes are read in less than a second of processor time", () => {
  const LONG = `memory::${"1".repeat(50_000)}.${"1".repeat(50_000)}!`;
  const inTime = <T>(read: () => T): T => {
    const before = processorMs();
    const done = read();
    expect(processorMs() - before).toBeLessThan(1000);
    return done;
  };

  test.each([
    { name: "digits", rejected: 1, constraint: () => ({ mem: `${"1".repeat(2040)}.${"1".repeat(2040)}!` }) },
    { name: "letters", rejected: 0, constraint: (at: number) => ({ [`r${at}`]: `${"a".repeat(4090)}1` }) },
  ])("900 texts of $name, none with a prefix, in one job", ({ rejected, constraint }) => {
    const constraints = Array.from({ length: 900 }, (_, at) => constraint(at));
    const read = inTime(() => put({ jobs: [{ name: "j", constraints }] }));
    if (read.kind !== "update") throw new Error(JSON.stringify(read));
    expect(read.update.demand?.rejectedJobs).toHaveLength(rejected);
  });

  test.each([
    { name: "value", entry: { value: LONG } },
    { name: "add", entry: { value: "memory::1g", add: LONG } },
  ])("a default resource's $name, of a dry run and of a stored configuration", ({ name, entry }) => {
    const config = { default_resources: [{ select: {}, name: "x", ...entry }] };
    const body = Buffer.from(JSON.stringify({ config }));
    const context = { cluster: ADDRESS.cluster, policy: DEFAULT_POLICY, now: CONTEXT.now };
    const reads = [
      { read: () => readWhatIf(body, context), path: `config.default_resources[0].${name}` },
      {
        read: () => readPolicy(JSON.stringify(config), "act", "store"),
        path: `default_resources[0].${name}`,
      },
    ];
    for (const { read, path } of reads)
      expect(inTime<unknown>(read)).toMatchObject({
        kind: "problems",
        problems: [{ path, expected: expect.stringContaining("a size such as memory::") }],
      });
  });
});
