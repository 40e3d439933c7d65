import { existsSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { lastLine, npmStart, ROOT } from "../support/run-main.ts";

const folder = path.join(ROOT, "../shared/traces");
if (!existsSync(folder))
  console.warn("skipped: the recorded workloads are not at ../shared/traces beside this repository");

/** Recorded workloads of weeks and months, through the command that README names, as a process of its own. */
describe.skipIf(!existsSync(folder))("recorded workloads on the virtual clock", () => {
  test.each([
    {
      name: "KTH-SP2, its first 5000 jobs",
      file: "KTH-SP2-1996-2.swf.gz",
      args: ["--jobs", "5000"],
      jobs: 5000,
    },
    { name: "NASA-iPSC, all jobs", file: "NASA-iPSC-1993-3.1-cln.swf.gz", args: [], jobs: 18_239 },
  ])("$name: every job runs, within two minutes and the node-hours allowed", async ({ file, args, jobs }) => {
    const { code, seconds, figures } = await play(file, args);
    expect({ code, jobsCompleted: figures["jobsCompleted"] }).toEqual({ code: 0, jobsCompleted: jobs });
    expect(seconds).toBeLessThan(120);
    // Counted here again, not taken from the bound that the run prints.
    const hours = (key: string) => Number(figures[key]);
    const allowed = 1.5 * hours("leastNodeHours") + (hours("nodesCreated") * (300 + 300)) / 3600;
    expect(hours("nodeHours")).toBeLessThanOrEqual(allowed);
  });

  test("CEA-Curie, its first 5000 jobs on nodes of 16 cores: every job runs, within five minutes", async () => {
    const { code, seconds, figures } = await play("CEA-Curie-2011-sample.swf.gz", [
      "--jobs",
      "5000",
      "--cores-per-node",
      "16",
    ]);
    expect({ code, jobsCompleted: figures["jobsCompleted"] }).toEqual({ code: 0, jobsCompleted: 5000 });
    expect(seconds).toBeLessThan(300);
  });
});

async function play(file: string, args: readonly string[]) {
  const ended = await npmStart(["--virtual", "--json", "--trace", path.join(folder, file), ...args]).ended;
  console.log(`${file} ${args.join(" ")}: exit ${ended.code} after ${ended.seconds.toFixed(1)} s`);
  console.log(ended.stdout.trimEnd().split("\n").at(-1));
  return { ...ended, figures: lastLine(ended) };
}
