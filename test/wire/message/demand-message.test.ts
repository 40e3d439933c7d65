import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { clusterName, setName } from "../../../src/domain/ids.ts";
import { instant } from "../../../src/domain/units.ts";
import {
  emptyRequestSet,
  readDemandMessage,
  readRequestSet,
} from "../../../src/wire/message/demand-message.ts";
import { CONTEXT, NOW, problemLines, readMembers, updateOf } from "../context.ts";

const TARGET = { version: 1, cluster: "prod", nodearrays: [{ Name: "execute", TargetCount: 3 }] };
const TARGET_TEXT = JSON.stringify(TARGET);
const MESSAGE_KEYS =
  "one of the keys version, cluster, requestSet, revision, expirationInterval, nodearrays, jobs, schedulerNodes, pools, readAt, others, wake";

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

  test("needs no version: a mistake is the only one that is named", () => {
    expect(readRequestSet({ jobs: [] }, context)).toMatchObject({ kind: "update" });
    expect(problemLines(readRequestSet({ jbos: [] }, context))).toEqual([expect.stringContaining('"jbos"')]);
    expect(problemLines(readRequestSet({ version: 2, jobs: [] }, context))).toEqual(["version: 2 -> 1"]);
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
