import { describe, expect, test } from "vitest";
import { runMainJob } from "../../src/local/main-job.ts";
import { lastLine, NOTHING_FOUND, runMain } from "../support/run-main.ts";

const trace = (name: string) => `test/fixtures/traces/${name}.swf`;

/** Runs the main job in this process: a process of its own costs a second, and its end is the first test's. */
async function play(...args: readonly string[]) {
  let stdout = "";
  let stderr = "";
  const complain = (line: string) => (stderr += `${line}\n`);
  const code = await runMainJob(args, {
    say: (line) => (stdout += `${line}\n`),
    complain,
    progress: { write: (text) => (stderr += text) },
  });
  return { code, stdout, stderr };
}

/** The keys that the last line of `--json` promises. */
const contract = [
  "jobsSubmitted",
  "jobsCompleted",
  "busyNodesStopped",
  "limitsExceeded",
  "nodesBeyondDemand",
  "messagesRejected",
  "nodeHours",
  "leastNodeHours",
  "meanWaitSeconds",
  "p95WaitSeconds",
  "scaleUps",
  "scaleDowns",
];

describe("before anything runs", () => {
  test("--help says how to start it", async () => {
    const { code, stdout } = await play("--help");
    expect(code).toBe(0);
    expect(stdout).toContain("npm start -- [options]");
  });

  test.each([
    {
      name: "arguments that make no sense",
      args: ["--jobs", "many"],
      said: '--jobs: found "many", expected a whole number of at least 1',
    },
    {
      name: "a trace that is not there",
      args: ["--trace", "nowhere.swf"],
      said: "nowhere.swf: found ENOENT: no such file or directory, open 'nowhere.swf', expected a readable file in Standard Workload Format",
    },
    {
      name: "a trace without jobs",
      args: ["--trace", trace("no-jobs")],
      said: "test/fixtures/traces/no-jobs.swf: found no job that can be played, expected at least one",
    },
  ])("$name: said on stderr, exit code 2", async ({ args, said }) => {
    const { code, stdout, stderr } = await play(...args);
    expect(code).toBe(2);
    expect(stderr.split("\n")).toContain(said);
    expect(stdout).toBe("");
  });
});

describe("on the virtual clock", () => {
  test("forty jobs run, and the last line has every figure that is promised", async () => {
    const ended = await runMain("--virtual", "--jobs", "40", "--json");
    expect(ended.code).toBe(0);
    const figures = lastLine(ended);
    expect(Object.keys(figures)).toEqual(expect.arrayContaining(contract));
    expect(contract.filter((key) => typeof figures[key] !== "number")).toEqual([]);
    expect(figures).toMatchObject({ jobsSubmitted: 40, jobsCompleted: 40, ...NOTHING_FOUND });
  });

  test("the same seed gives the same figures, another one others", async () => {
    const figuresOf = async (seed: string) =>
      lastLine(await play("--virtual", "--jobs", "25", "--json", "--seed", seed));
    const [first, again, other] = [await figuresOf("7"), await figuresOf("7"), await figuresOf("8")];
    expect(again).toEqual(first);
    expect(other).not.toEqual(first);
  });

  test("a trace: its machine, its jobs, its work", async () => {
    const ended = await play("--virtual", "--json", "--trace", trace("six-jobs"));
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain("8 nodes of 1 for 8 processors (MaxProcs)");
    expect(lastLine(ended)).toMatchObject({
      jobsSubmitted: 6,
      jobsCompleted: 6,
      // (4 x 600 + 2 x 300 + 8 x 1200 + 60 + 60 + 4 x 300) s = 13,920 s
      leastNodeHours: 3.87,
      mostLiveNodes: 8,
      ...NOTHING_FOUND,
    });
  });

  test("of a trace, --jobs takes the first, and --cores-per-node makes fewer nodes of it", async () => {
    const args = ["--virtual", "--json", "--jobs", "2", "--cores-per-node", "4"];
    const ended = await play("--trace", trace("six-jobs"), ...args);
    expect(ended.code).toBe(0);
    expect(ended.stdout).toContain("2 nodes of 4 for 8 processors (MaxProcs)");
    // (4 x 600 + 2 x 300) s / 4 cores = 750 s
    expect(lastLine(ended)).toMatchObject({ jobsCompleted: 2, leastNodeHours: 0.21, mostLiveNodes: 2 });
  });

  test("a run that takes more node-hours than its own bound says so, and ends with 1", async () => {
    const ended = await play("--virtual", "--json", "--trace", trace("one-second"));
    expect(ended.code).toBe(1);
    // The bound has ten minutes for a node, and nothing for the minute in which it stops.
    expect(ended.stderr).toContain("node-hours: found 0.18, expected at most 0.17\n");
    expect(lastLine(ended)).toMatchObject({ jobsCompleted: 1, ...NOTHING_FOUND });
  });

  test("lines of a trace that cannot be read are named, and the others are played", async () => {
    const ended = await play("--virtual", "--json", "--trace", trace("two-bad-lines"));
    expect(ended.code).toBe(0);
    expect(ended.stderr).toContain("line 3: found 3 fields: 2 60 nonsense, expected at least 18 fields\n");
    expect(ended.stderr).toContain("line 4: found soon, expected a number in field 2 (submit time)\n");
    expect(ended.stdout).toContain("(1 without processors left out)");
    expect(lastLine(ended)).toMatchObject({ jobsSubmitted: 2, jobsCompleted: 2 });
  });
});
