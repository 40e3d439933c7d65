import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { lastLine, npmStart } from "../support/run-main.ts";
import type { Likeness } from "../support/workload-like.ts";
import { workloadLike } from "../support/workload-like.ts";

const folder = mkdtempSync(path.join(tmpdir(), "workloads-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Workloads of weeks and months like recorded ones, through the command that README names, as a process of its own. */
describe("workloads like recorded ones on the virtual clock", () => {
  test.each([
    { log: "KTH-SP2", args: ["--jobs", "5000"], jobs: 5000 },
    { log: "LCG", args: ["--jobs", "5000"], jobs: 5000 },
    { log: "NASA-iPSC", args: [], jobs: 18_239 },
  ] as const)(
    "$log, $jobs jobs: every job runs, within two minutes and the node-hours allowed",
    async ({ log, args, jobs }) => {
      const { code, seconds, figures } = await play(log, args);
      expect({ code, jobsCompleted: figures["jobsCompleted"] }).toEqual({ code: 0, jobsCompleted: jobs });
      expect(seconds).toBeLessThan(120);
      // Counted here again, not taken from the bound that the run prints.
      const hours = (key: string) => Number(figures[key]);
      const allowed = 1.5 * hours("leastNodeHours") + (hours("nodesCreated") * (300 + 300)) / 3600;
      expect(hours("nodeHours")).toBeLessThanOrEqual(allowed);
    },
  );

  test("CEA-Curie, its first 5000 jobs on nodes of 16 cores: every job runs, within five minutes", async () => {
    const { code, seconds, figures } = await play("CEA-Curie", ["--jobs", "5000", "--cores-per-node", "16"]);
    expect({ code, jobsCompleted: figures["jobsCompleted"] }).toEqual({ code: 0, jobsCompleted: 5000 });
    expect(seconds).toBeLessThan(300);
  });
});

async function play(log: Likeness, args: readonly string[]) {
  const file = path.join(folder, `${log}.swf`);
  writeFileSync(file, workloadLike(log));
  const ended = await npmStart(["--virtual", "--json", "--trace", file, ...args]).ended;
  console.log(`${file} ${args.join(" ")}: exit ${ended.code} after ${ended.seconds.toFixed(1)} s`);
  console.log(ended.stdout.trimEnd().split("\n").at(-1));
  return { ...ended, figures: lastLine(ended) };
}
