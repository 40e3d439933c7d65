import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import { readSwfTrace } from "../../../src/local/workload/swf.ts";
import { workloadLike } from "../../support/workload-like.ts";

const folder = mkdtempSync(join(tmpdir(), "swf-"));
afterAll(() => rmSync(folder, { recursive: true }));

const twoJobs = `; Version: 2.2
; MaxProcs: 100
    1        0     10    120    4     -1    -1    8    600    -1  1   1   1  -1 -1 -1 -1 -1
    2       30     10     60    2     -1    -1   -1     -1    -1  1   1   1  -1 -1 -1 -1 -1
`;

let files = 0;
const parseSwf = async (text: string, options: { readonly jobs?: number } = {}) => {
  const path = join(folder, `text-${(files += 1)}.swf`);
  writeFileSync(path, text);
  const read = await readSwfTrace(path, options);
  if (read.kind === "unreadable") throw new Error(read.reason);
  return read;
};

function line(changes: Readonly<Record<number, string>>): string {
  const fields = "7 50 -1 100 2 -1 -1 2 -1 -1 1 1 1 -1 -1 -1 -1 -1".split(" ");
  return fields.map((text, index) => changes[index + 1] ?? text).join(" ");
}

describe("jobs", () => {
  test("requested processors come before allocated ones, a walltime of -1 is not known", async () => {
    expect((await parseSwf(twoJobs)).jobs).toEqual([
      { name: "job-1", submitMs: 0, processors: 8, runMs: 120_000, walltimeMs: 600_000 },
      { name: "job-2", submitMs: 30_000, processors: 2, runMs: 60_000, walltimeMs: undefined },
    ]);
  });

  test.each([
    { name: "cancelled while queued (-1) runs for one second", runTime: "-1", runMs: 1000 },
    { name: "shorter than the log's resolution (0) runs for one second", runTime: "0", runMs: 1000 },
    { name: "a second is a second", runTime: "1", runMs: 1000 },
  ])("run time: $name", async ({ runTime, runMs }) => {
    expect((await parseSwf(line({ 4: runTime }))).jobs.map((job) => job.runMs)).toEqual([runMs]);
  });

  test("sorted by submission, the first at 0, repeated numbers told apart", async () => {
    const trace = await parseSwf(
      [line({ 2: "90" }), line({ 2: "50" }), line({ 1: "8", 2: "60" })].join("\n"),
    );
    expect(trace.jobs.map(({ name, submitMs }) => [name, submitMs])).toEqual([
      ["job-7", 0],
      ["job-8", 10_000],
      ["job-7.2", 40_000],
    ]);
  });

  test("without any known processors a job is counted, not replayed", async () => {
    const trace = await parseSwf([line({ 5: "-1", 8: "-1" }), line({ 5: "0", 8: "0" }), line({})].join("\n"));
    expect([trace.jobs.length, trace.jobsWithoutProcessors, trace.badLines]).toEqual([1, 2, []]);
  });

  test("only the first so many are kept", async () => {
    expect((await parseSwf(twoJobs, { jobs: 1 })).jobs.map((job) => job.name)).toEqual(["job-1"]);
  });

  test("an empty text is a trace without jobs", async () => {
    expect(await parseSwf("")).toEqual({
      kind: "trace",
      jobs: [],
      jobsWithoutProcessors: 0,
      badLines: [],
      maxProcessors: 0,
      maxProcessorsFrom: "widest job",
    });
  });
});

describe("lines that cannot be read are reported and the others stand", () => {
  test.each([
    {
      name: "cut off",
      bad: "7 50 -1 100",
      found: "4 fields: 7 50 -1 100",
      expected: "at least 18 fields",
    },
    {
      name: "a word where a number belongs",
      bad: line({ 4: "soon" }),
      found: "soon",
      expected: "a number in field 4 (run time)",
    },
    {
      name: "no submit time",
      bad: line({ 2: "-1" }),
      found: "-1",
      expected: "a submit time of at least 0 in field 2",
    },
    {
      name: "not SWF at all",
      bad: "x".repeat(100),
      found: `1 fields: ${"x".repeat(57)}...`,
      expected: "at least 18 fields",
    },
  ])("$name", async ({ bad, found, expected }) => {
    const trace = await parseSwf(`; MaxProcs: 4\n${line({})}\n${bad}\n${line({ 1: "9" })}\n`);
    expect(trace.badLines).toEqual([{ line: 3, found, expected }]);
    expect(trace.jobs.map((job) => job.name)).toEqual(["job-7", "job-9"]);
  });

  test("text in fields that a replay does not need is no reason", async () => {
    expect((await parseSwf(`${line({ 15: "q_1d" })} {1,2} 1:ppn=64`)).jobs).toHaveLength(1);
  });
});

describe("size of the machine", () => {
  test.each([
    {
      name: "MaxProcs before MaxNodes",
      headers: "; MaxNodes: 8\n; MaxProcs: 16",
      size: 16,
      from: "MaxProcs",
    },
    { name: "MaxNodes when there is no MaxProcs", headers: "; MaxNodes: 8", size: 8, from: "MaxNodes" },
    { name: "the widest job without a header", headers: "", size: 2, from: "widest job" },
    { name: "an unknown MaxProcs", headers: "; MaxProcs: -1", size: 2, from: "widest job" },
    { name: "a job wider than the header says", headers: "; MaxProcs: 1", size: 2, from: "widest job" },
  ])("$name", async ({ headers, size, from }) => {
    const trace = await parseSwf(`${headers}\n${line({})}`);
    expect([trace.maxProcessors, trace.maxProcessorsFrom]).toEqual([size, from]);
  });
});

describe("files", () => {
  test.each([
    { name: "plain", content: Buffer.from(twoJobs) },
    { name: "gzip, whatever its name", content: gzipSync(twoJobs) },
  ])("$name", async ({ name, content }) => {
    const path = join(folder, `${name.slice(0, 5)}.swf`);
    writeFileSync(path, content);
    expect(await readSwfTrace(path)).toEqual(await parseSwf(twoJobs));
  });

  test("a missing file and a broken gzip are unreadable, with the reason", async () => {
    const broken = join(folder, "broken.swf.gz");
    writeFileSync(broken, gzipSync(twoJobs).subarray(0, 40));
    const missing = join(folder, "missing.swf");
    expect(await readSwfTrace(broken)).toEqual({
      kind: "unreadable",
      path: broken,
      reason: "unexpected end of file",
    });
    expect(await readSwfTrace(missing)).toMatchObject({
      kind: "unreadable",
      path: missing,
      reason: expect.stringContaining("ENOENT"),
    });
  });
});

/** In the forms of four archives, with the figures of their logs. The figures here are the logs' own: half and nine tenths of the jobs. */
describe("logs as archives have them", () => {
  test.each([
    { log: "KTH-SP2", size: 100, from: "MaxProcs", processors: [3, 16], hasWalltimes: true },
    { log: "NASA-iPSC", size: 128, from: "MaxProcs", processors: [4, 32], hasWalltimes: false },
    { log: "CEA-Curie", size: 93_312, from: "MaxProcs", processors: [32, 512], hasWalltimes: true },
    { log: "MetaCentrum", size: undefined, from: "widest job", processors: [1, 32], hasWalltimes: true },
  ] as const)("$log", async ({ log, size, from, processors, hasWalltimes }) => {
    const jobs = 10_000;
    const trace = await parseSwf(workloadLike(log, { jobs }));
    expect([trace.jobs.length, trace.jobsWithoutProcessors, trace.badLines]).toEqual([jobs, 0, []]);
    expect(trace.maxProcessorsFrom).toBe(from);
    expect(new Set(trace.jobs.map((job) => job.name)).size).toBe(jobs);
    expect(Math.min(...trace.jobs.map((job) => job.runMs))).toBe(1000);
    const widths = trace.jobs.map((job) => job.processors).sort((a, b) => a - b);
    const found = [widths[jobs / 2], widths[jobs * 0.9]];
    // Widths are drawn from a few that are in the log.
    expect(found.map((width = 0, i) => width / (processors[i] ?? 0))).toEqual([
      expect.closeTo(1, 1),
      expect.closeTo(1, 1),
    ]);
    expect(trace.maxProcessors).toBe(size ?? widths.at(-1));
    expect(trace.jobs.some((job) => job.walltimeMs !== undefined)).toBe(hasWalltimes);
  });
});
