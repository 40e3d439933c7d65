import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { readDemandMessage } from "../../../src/wire/message/demand-message.ts";
import { CONTEXT, problemLines, readMembers } from "../context.ts";

const TARGET = { version: 1, cluster: "prod", nodearrays: [{ Name: "execute", TargetCount: 3 }] };
const TARGET_TEXT = JSON.stringify(TARGET);
const MESSAGE_KEYS =
  "one of the keys version, cluster, requestSet, revision, expirationInterval, nodearrays, jobs, schedulerNodes, pools, readAt, others, wake";

const NAME =
  'text of 1 to 200 characters, without "/", "\\", "%2F", control and direction characters, and not "." or ".."';

/** A text in UTF-16, in either order of its bytes, with a mark before it or without; and in base64, as it comes through the queue. */
function utf16Forms(text: string) {
  const little = Buffer.from(text, "utf16le");
  const marked = Buffer.from(`\uFEFF${text}`, "utf16le");
  return [
    { name: "UTF-16", input: little },
    { name: "UTF-16 with a mark, as from Out-File", input: marked },
    { name: "UTF-16 with the high byte first", input: Buffer.from(marked).swap16() },
    { name: "UTF-16 with the high byte first, without a mark", input: Buffer.from(little).swap16() },
    { name: "UTF-16 in lines", input: Buffer.from(`\r\n ${text}`, "utf16le") },
    { name: "base64 of UTF-16", input: marked.toString("base64") },
  ];
}

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
    ...utf16Forms(TARGET_TEXT).map(({ name, input }) => ({
      name,
      input,
      lines: [`: text in UTF-16 -> ${ENCODINGS}, in UTF-8`],
    })),
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
        'schedulerNodes[2]: "job_ids" -> one of the keys hostname, resources, available, jobs, jobIds, state, keep (jobIds?)',
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
