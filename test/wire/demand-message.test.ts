import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { clusterName, setName } from "../../src/domain/ids.ts";
import { instant } from "../../src/domain/units.ts";
import { emptyRequestSet, readDemandMessage, readRequestSet } from "../../src/wire/demand-message.ts";
import { CONTEXT, NOW, problemLines, readMembers, updateOf } from "./context.ts";

const TARGET = { version: 1, cluster: "prod", nodearrays: [{ Name: "execute", TargetCount: 3 }] };
const TARGET_TEXT = JSON.stringify(TARGET);

const MESSAGE_KEYS =
  "one of the keys version, cluster, requestSet, revision, expirationInterval, nodearrays, jobs, schedulerNodes, pools, wake";
const NAME =
  'text of 1 to 200 characters, without "/", "\\", "%2F" and control characters, and not "." or ".."';

describe("a good message", () => {
  test.each([
    { name: "plain JSON", input: TARGET_TEXT },
    { name: "plain JSON with blanks and a byte order mark", input: `\uFEFF \n${TARGET_TEXT}\n` },
    { name: "base64 of JSON", input: Buffer.from(TARGET_TEXT).toString("base64") },
    {
      name: "base64 broken into lines",
      input: Buffer.from(TARGET_TEXT)
        .toString("base64")
        .replaceAll(/(.{40})/g, "$1\r\n"),
    },
    { name: "gzip in base64", input: gzipSync(TARGET_TEXT).toString("base64") },
    { name: "bytes of JSON", input: Buffer.from(TARGET_TEXT) },
    { name: "bytes of base64", input: Buffer.from(Buffer.from(TARGET_TEXT).toString("base64")) },
    { name: "gzip bytes", input: gzipSync(TARGET_TEXT) },
    { name: "an object that the queue library has parsed", input: TARGET },
  ])("is read from $name", ({ input }) => {
    expect(updateOf(readDemandMessage(input, CONTEXT)).demand.demands).toEqual([
      {
        kind: "target",
        id: "nodearray:execute",
        array: "execute",
        amount: { unit: "nodes", count: 3 },
        priority: 0,
        position: 0,
      },
    ]);
  });

  test("without the optional keys gets the defaults and the second of its insertion as revision", () => {
    expect(updateOf(readDemandMessage({ version: 1, cluster: "prod", jobs: [] }, CONTEXT))).toEqual({
      cluster: "prod",
      // {"demands":[],"pools":[],"rejectedJobs":[]}
      bytes: 43,
      set: "standard",
      revision: { value: 1_763_636_399_000, tieBreak: "message-1" },
      intervalSeconds: 300,
      sentAt: 1_763_636_399_750,
      expiresAt: 1_763_636_699_750,
      digest: "c71028348dbd09f3f9201698cd8f83169bc88fe000a7876b5425b7aaf3f4cf20",
      demand: { demands: [], pools: [], rejectedJobs: [] },
    });
  });

  test.each([
    {
      name: "an explicit revision has no tie-break",
      members: { revision: 1_763_636_000_123 },
      expected: { revision: { value: 1_763_636_000_123, tieBreak: "" } },
    },
    {
      name: "a revision five minutes ahead is still taken",
      members: { revision: 1_763_636_700_000 },
      expected: { revision: { value: 1_763_636_700_000, tieBreak: "" } },
    },
    {
      name: "a longer interval",
      members: { expirationInterval: 1800 },
      expected: { intervalSeconds: 1800, expiresAt: 1_763_638_199_750 },
    },
    {
      name: "an interval above the cluster's largest is cut",
      members: { expirationInterval: 1e9 },
      expected: { intervalSeconds: 86_400, expiresAt: 1_763_722_799_750 },
    },
    {
      name: "a set of its own, with blanks and letters of any script",
      members: { requestSet: "licences für Tests" },
      expected: { set: "licences für Tests" },
    },
    {
      name: "pools",
      members: { pools: [{ name: "licence-x", total: 10, used: 2.5 }] },
      expected: {
        demand: { demands: [], pools: [{ name: "licence-x", total: 10, used: 2.5 }], rejectedJobs: [] },
      },
    },
    {
      name: "a scheduler's report",
      members: {
        schedulerNodes: [
          {
            hostname: "ip-1",
            jobs: ["17", "18"],
            state: "ALLOC",
            resources: { ncpus: 4, mem: "memory::4g" },
            available: { ncpus: 0 },
          },
          { hostname: "ip-2", jobIds: ["19"] },
          { hostname: "ip-3" },
        ],
      },
      expected: {
        schedulerNodes: [
          { hostname: "ip-1", jobs: ["17", "18"], state: "ALLOC" },
          { hostname: "ip-2", jobs: ["19"] },
          { hostname: "ip-3", jobs: [] },
        ],
      },
    },
  ])("$name", ({ members, expected }) => {
    expect(updateOf(readMembers({ jobs: [], ...members }))).toMatchObject(expected);
  });

  test("whose time is over is stale, on the very millisecond", () => {
    const message = { ...TARGET, requestSet: "lsf", expirationInterval: 60 };
    const at = (now: number) => readDemandMessage(message, { ...CONTEXT, now: instant(now) });
    expect(at(1_763_636_459_749).kind).toBe("update");
    expect(at(1_763_636_459_750)).toEqual({
      kind: "stale",
      cluster: "prod",
      set: "lsf",
      expiredAt: 1_763_636_459_750,
    });
  });

  test("that only wakes", () => {
    expect(readMembers({ wake: true })).toEqual({ kind: "wake", cluster: "prod" });
    expect(readMembers({ wake: true, at: 1_763_636_405_000 })).toEqual({
      kind: "wake",
      cluster: "prod",
      at: 1_763_636_405_000,
    });
  });
});

describe("the digest", () => {
  const digestOfMembers = (members: Readonly<Record<string, unknown>>) =>
    updateOf(readMembers(members)).digest;
  const job = {
    name: "a",
    user: "eva",
    constraints: [{ ncpus: 2, mem: "memory::4g" }],
    placed: [
      { hostname: "h1", iterations: 1 },
      { hostname: "h2", iterations: 1 },
    ],
    iterations: 2,
  };
  const array = {
    Name: "execute",
    TargetCount: 1,
    Configuration: { a: { x: 1, y: 2 }, b: 3 },
    Region: "westeurope",
  };
  const members = { nodearrays: [array], jobs: [job], pools: [{ name: "p", total: 2, used: 1 }] };

  test("does not depend on the order of keys and of placed hosts", () => {
    expect(
      digestOfMembers({
        pools: [{ used: 1, total: 2, name: "p" }],
        jobs: {
          iterations: 2,
          placed: job.placed.toReversed(),
          constraints: { mem: "memory::4g", ncpus: 2 },
          user: "eva",
          name: "a",
        },
        nodearrays: {
          Region: "westeurope",
          Configuration: { b: 3, a: { y: 2, x: 1 } },
          TargetCount: 1,
          Name: "execute",
        },
      }),
    ).toBe(digestOfMembers(members));
  });

  test("does not cover revision, interval and report: they alone are a mere renewal", () => {
    expect(
      digestOfMembers({
        ...members,
        revision: 1_763_636_399_000,
        expirationInterval: 900,
        schedulerNodes: [{ hostname: "h1" }],
      }),
    ).toBe(digestOfMembers(members));
  });

  test.each([
    { name: "a target", changed: { ...members, nodearrays: [{ ...array, TargetCount: 2 }] } },
    {
      name: "an attribute deep inside",
      changed: { ...members, nodearrays: [{ ...array, Configuration: { a: { x: 1, y: 3 }, b: 3 } }] },
    },
    { name: "a job", changed: { ...members, jobs: [{ ...job, iterations: 3 }] } },
    { name: "a rejected job", changed: { ...members, jobs: [job, { name: "b", iterations: -1 }] } },
    { name: "a pool", changed: { ...members, pools: [{ name: "p", total: 2, used: 2 }] } },
  ])("covers $name", ({ changed }) => {
    expect(digestOfMembers(changed)).not.toBe(digestOfMembers(members));
  });
});

describe("a bad message is rejected with everything that is wrong", () => {
  const ENCODINGS = "JSON, base64 of JSON, or base64 of gzipped JSON";
  test.each([
    { name: "not JSON", input: "demand: 3 nodes", lines: [`: text of 15 characters -> ${ENCODINGS}`] },
    { name: "empty", input: "", lines: [`: "" -> ${ENCODINGS}`] },
    {
      name: "cut JSON, of which nothing is shown",
      input: TARGET_TEXT.slice(0, -1).padEnd(200, " x"),
      lines: [`: text of 199 characters -> ${ENCODINGS}`],
    },
    {
      name: "base64 of something else",
      input: Buffer.from("hello world").toString("base64"),
      lines: [`: text of 16 characters -> ${ENCODINGS}`],
    },
    {
      name: "gzip that is cut off",
      input: gzipSync(TARGET_TEXT).subarray(0, 40).toString("base64"),
      lines: [`: gzip data that is cut off or damaged -> ${ENCODINGS}`],
    },
    {
      name: "gzip of more than 4 MiB",
      input: gzipSync(" ".repeat(4 * 1024 * 1024 + 1)).toString("base64"),
      lines: [": more than 4 MiB -> at most 4 MiB of JSON, unpacked"],
    },
    { name: "a list", input: "[1,2]", lines: [": list of 2 items -> an object: a demand message"] },
    { name: "a number", input: "1234", lines: [": 1234 -> an object: a demand message"] },
  ])("$name", ({ input, lines }) => {
    expect(problemLines(readDemandMessage(input, CONTEXT))).toEqual(lines);
  });

  test.each([
    {
      name: "no version and no cluster",
      message: {},
      lines: ["version: nothing -> 1", `cluster: nothing -> ${NAME}`],
    },
    { name: "a version of the future", message: { version: 2, cluster: "prod" }, lines: ["version: 2 -> 1"] },
    {
      name: "an unknown cluster, nearly known",
      message: { version: 1, cluster: "prdo" },
      lines: ['cluster: "prdo" -> a known cluster: prod, test'],
    },
    {
      name: "an unknown cluster with one letter too many",
      message: { version: 1, cluster: "tests" },
      lines: ['cluster: "tests" -> a known cluster: prod, test (test?)'],
    },
    {
      name: "a control character in a name",
      message: { version: 1, cluster: "prod", requestSet: "a\u0000b" },
      lines: [`requestSet: "a\\u0000b" -> ${NAME}`],
    },
    {
      name: "an empty name",
      message: { version: 1, cluster: "prod", requestSet: "" },
      lines: [`requestSet: "" -> ${NAME}`],
    },
    {
      name: "a name that is too long",
      message: { version: 1, cluster: "prod", requestSet: "s".repeat(201) },
      lines: [`requestSet: "${"s".repeat(78)}… -> ${NAME}`],
    },
    {
      name: "unknown keys, one of them nearly right",
      message: { version: 1, cluster: "prod", nodeArrays: [], colour: 1 },
      lines: [`: "nodeArrays" -> ${MESSAGE_KEYS} (nodearrays?)`, `: "colour" -> ${MESSAGE_KEYS}`],
    },
    {
      name: "wrong types everywhere, all at once",
      message: {
        version: "1",
        cluster: 7,
        requestSet: [],
        revision: 1.5,
        expirationInterval: "300",
        nodearrays: 3,
        jobs: "x",
        schedulerNodes: {},
        pools: null,
      },
      lines: [
        'version: "1" -> 1',
        `cluster: 7 -> ${NAME}`,
        `requestSet: [] -> ${NAME}`,
        "revision: 1.5 -> a whole number: milliseconds since 1970",
        'expirationInterval: "300" -> a number of seconds above 0',
        "nodearrays: 3 -> a list of objects, or one object",
        "jobs: text of 1 character -> a list of objects, or one object",
        "pools: null -> a list of objects with name, total and used",
        "schedulerNodes: {} -> a list of objects with hostname and jobs",
      ],
    },
    {
      name: "an interval of nothing",
      message: { version: 1, cluster: "prod", expirationInterval: 0 },
      lines: ["expirationInterval: 0 -> a number of seconds above 0"],
    },
    {
      name: "a negative revision",
      message: { version: 1, cluster: "prod", revision: -1 },
      lines: ["revision: -1 -> a whole number: milliseconds since 1970"],
    },
    {
      name: "a revision more than five minutes ahead",
      message: { version: 1, cluster: "prod", revision: 1_763_636_700_001 },
      lines: [
        "revision: 1763636700001 -> milliseconds since 1970, at most 5 minutes ahead of 2025-11-20T11:00:00.000Z (1763636700000)",
      ],
    },
    {
      name: "a host twice, a host without a name and a job id that is no text",
      message: {
        version: 1,
        cluster: "prod",
        schedulerNodes: [{ hostname: "h1" }, { jobs: [] }, { hostname: "h1", jobs: [17], job_ids: [] }],
      },
      lines: [
        "schedulerNodes[1].hostname: nothing -> text, not empty",
        'schedulerNodes[2]: "job_ids" -> one of the keys hostname, resources, available, jobs, jobIds, state (jobIds?)',
        "schedulerNodes[2].jobs[0]: 17 -> text, not empty",
        'schedulerNodes[2].hostname: "h1" -> each host only once',
      ],
    },
    {
      name: "pools that are wrong",
      message: {
        version: 1,
        cluster: "prod",
        pools: [
          { name: "p", total: -1, used: 0 },
          { name: "q", total: 1, used: 1, free: 0 },
          { name: "r", total: 1, used: 1 },
          { name: "r", total: 2, used: 1 },
          5,
        ],
      },
      lines: [
        "pools[0].total: -1 -> a number, 0 or more",
        'pools[1]: "free" -> one of the keys name, total, used',
        'pools[3].name: "r" -> each pool only once',
        "pools[4]: 5 -> an object with name, total and used",
      ],
    },
    {
      name: "wake with something else",
      message: { version: 1, cluster: "prod", wake: true, jobs: [] },
      lines: [': "jobs" -> one of the keys version, cluster, wake, at, id'],
    },
    {
      name: "wake that is not true, for an unknown cluster",
      message: { version: 1, cluster: "nowhere", wake: "yes", at: "noon" },
      lines: [
        "wake: text of 3 characters -> true",
        "at: text of 4 characters -> a whole number: milliseconds since 1970",
        'cluster: "nowhere" -> a known cluster: prod, test',
      ],
    },
  ])("$name", ({ message, lines }) => {
    expect(problemLines(readDemandMessage(message, CONTEXT))).toEqual(lines);
  });

  test("and says whose it was, where that could be read", () => {
    expect(readMembers({ requestSet: "lsf", nodearrays: 3 })).toMatchObject({
      kind: "rejected",
      cluster: "prod",
      set: "lsf",
    });
    expect(readMembers({ nodearrays: 3 })).toMatchObject({ cluster: "prod", set: "standard" });
    expect(readDemandMessage({ version: 1, cluster: 7 }, CONTEXT)).not.toHaveProperty("cluster");
  });

  test("of a thousand problems a hundred are named and the rest counted", () => {
    const lines = problemLines(
      readMembers(Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`key${index}`, 1]))),
    );
    expect(lines).toHaveLength(101);
    expect(lines.at(-1)).toBe(": 900 more problems -> an input without problems");
  });
});

describe("a request set over HTTP", () => {
  const context = {
    cluster: clusterName("prod"),
    set: setName("lsf"),
    now: NOW,
    maxExpirationSeconds: 86_400,
    knownClusters: new Set(["prod"]),
  };

  test("needs neither cluster nor set and counts as of now", () => {
    expect(
      updateOf(
        readRequestSet('{"version":1,"nodearrays":{"Name":"execute","TargetCoreCount":128}}', context),
      ),
    ).toMatchObject({
      cluster: "prod",
      set: "lsf",
      revision: { value: 1_763_636_400_000, tieBreak: "" },
      sentAt: 1_763_636_400_000,
      expiresAt: 1_763_636_700_000,
    });
  });

  test("may repeat them", () => {
    expect(readRequestSet({ version: 1, cluster: "prod", requestSet: "lsf", jobs: [] }, context).kind).toBe(
      "update",
    );
  });

  test.each([
    {
      name: "another cluster and set than the address",
      body: { version: 1, cluster: "test", requestSet: "pbs" },
      lines: [
        'cluster: "test" -> a known cluster: prod',
        'cluster: "test" -> "prod", as in the address, or leave the key out',
        'requestSet: "pbs" -> "lsf", as in the address, or leave the key out',
      ],
    },
    { name: "no object", body: "[]", lines: [": [] -> an object: a demand message"] },
    {
      name: "not JSON",
      body: "{",
      lines: [": text of 1 character -> JSON, base64 of JSON, or base64 of gzipped JSON"],
    },
    {
      name: "a wake message",
      body: { version: 1, wake: true },
      lines: [`: "wake" -> ${MESSAGE_KEYS.replace(", wake", "")}`],
    },
  ])("is rejected: $name", ({ body, lines }) => {
    const read = readRequestSet(body, context);
    expect(problemLines(read)).toEqual(lines);
    expect(read).toMatchObject({ cluster: "prod", set: "lsf" });
  });

  test("that is deleted asks for nothing and has the digest of an empty message", () => {
    const emptied = emptyRequestSet(
      clusterName("prod"),
      setName("lsf"),
      { value: 5, tieBreak: "" },
      NOW,
      300,
    );
    expect(emptied).toEqual({
      cluster: "prod",
      bytes: 43,
      set: "lsf",
      revision: { value: 5, tieBreak: "" },
      intervalSeconds: 300,
      sentAt: 1_763_636_400_000,
      expiresAt: 1_763_636_700_000,
      digest: updateOf(readMembers({ jobs: [] })).digest,
      demand: { demands: [], pools: [], rejectedJobs: [] },
      ends: true,
    });
  });
});
