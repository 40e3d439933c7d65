import { TableServiceClient } from "@azure/data-tables";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import type { Seconds } from "../../src/domain/units.ts";
import type { Site } from "../schedulers/real-slurm.ts";
import { openRealSlurm } from "../schedulers/real-slurm.ts";

/** The agent with the app on a real Slurm: what takes longer than `npm run test:schedulers`. Most of the time these tests wait. */

const ended = (site: Site): number =>
  new Set(site.runs().flatMap(({ job, ended: at }) => (at === undefined ? [] : [job]))).size;

/** All these jobs end, and all nodes go. */
async function finish(site: Site, jobs: number, most: Seconds = 900): Promise<void> {
  await site.until(`${jobs} jobs have run`, most, () => ended(site) >= jobs);
  await site.until("all nodes have gone", 400, () => site.alive().length === 0);
  // A size that the app does not offer stays closed, and a name that no range has for ten minutes.
  const isOver = (line: string): boolean => !/offers none of|in no host range/.test(line);
  await site.until("no mark is left", 100, async () => (await marked(site)).filter(isOver).length === 0);
  expect(new Set(site.runs().map(({ job }) => job)).size).toBe(jobs);
}

/** Nodes that are set DOWN with the mark of the agent or of a shim. */
async function marked(site: Site): Promise<readonly string[]> {
  const shown = await site.run("scontrol", "show", "nodes", "-o");
  return shown
    .split("\n")
    .filter((line) => line.includes("Reason=autoscaler: ") && line.includes("State=DOWN"));
}

const begunOn = (site: Site, nodes: RegExp): number =>
  site.runs().filter((run) => nodes.test(run.nodes)).length;

/** Two jobs fill the limit of htc; four more, which may run in hpc too, are refused, and run there after Slurm's hold. */
async function refuse(site: Site): Promise<readonly Seconds[]> {
  for (const _ of [1, 2]) await site.submit(30, "--exclusive");
  await site.until("the limit is used", 90, () => begunOn(site, /^htc/) === 2);
  const at = Date.now();
  const jobs: string[] = [];
  for (const _ of [1, 2, 3, 4]) jobs.push(await site.submit(1, "-p", "htc,hpc", "--exclusive"));
  const isBegun = (job: string): boolean => site.runs().some((run) => run.job === job);
  await site.until("the refused jobs run", 260, () => jobs.every(isBegun));
  const waits = jobs.map((job) => ((site.runs().find((run) => run.job === job)?.begun ?? 0) - at) / 1000);
  const refused = site.said
    .filter(({ line }) => /^htc.*power_down_force/.test(line))
    .map((one) => (one.at - at) / 1000);
  console.log(`refused after ${refused.join(", ")} s; run after ${waits.join(", ")} s`);
  return waits.toSorted((a, b) => a - b);
}

describe.concurrent("a real Slurm", () => {
  test("200 jobs in bursts, while agent, app and slurmctld are killed", async (closing) => {
    const site = await openRealSlurm(closing, { nodes: { htc: 10, hpc: 6 } });
    let jobs = 0;
    // A slurmctld that was just killed takes no job: those that it did not number are submitted again.
    const submit = (...words: Parameters<typeof site.submit>): Promise<void> =>
      site.until("a job is taken", 120, () =>
        site.submit(...words).then(
          () => true,
          () => false,
        ),
      );
    const burst = async (): Promise<void> => {
      for (let job = 0; job < 15; job += 1) await submit(2 + (job % 4) * 3);
      await submit(3, "--array=1-25");
      for (const nodes of [1, 2, 1, 3, 4, 2, 1, 5, 1, 1]) await submit(4, "-p", "hpc", "-N", String(nodes));
      jobs += 50;
    };
    const over = new AbortController();
    const killing = (async () => {
      for (let kill = 0; !over.signal.aborted; kill += 1) {
        await pause(5000 + Math.random() * 20_000);
        const part = [site.agent, site.app, site.controller][kill % 3];
        // 22.05 itself does not survive SIGKILL of slurmctld: it forgets what power saving did, drains nodes and holds jobs (docs/slurm.md).
        await part?.kill(part === site.controller ? "SIGTERM" : "SIGKILL");
        await pause(Math.random() * 10_000);
        await part?.start();
      }
    })();
    for (let bursts = 0; bursts < 4; bursts += 1) {
      await burst();
      await site.until("the burst has run", 600, () => ended(site) >= jobs);
      await pause(bursts % 2 === 0 ? 30_000 : 1000);
    }
    over.abort();
    await killing;
    await finish(site, jobs);
    expect(await site.faults()).toEqual([]);
  });

  test("after a refusal a job runs elsewhere: 150 s where a node is up, 210 s where one must boot", async (closing) => {
    const arrays = { htc: { maxCount: 2 } };
    const site = await openRealSlurm(closing, { nodes: { htc: 8, hpc: 4 }, arrays, suspendTime: 30 });
    const [, , , boot = 0] = await refuse(site);
    await finish(site, 6);
    expect(await site.faults()).toEqual([]);
    expect(boot).toBeLessThanOrEqual(210);
  });

  test("the same where nodes are up", async (closing) => {
    const arrays = { htc: { maxCount: 2 } };
    const site = await openRealSlurm(closing, { nodes: { htc: 8, hpc: 4 }, arrays, suspendTime: 240 });
    for (let job = 0; job < 4; job += 1) await site.submit(1, "-p", "hpc");
    await site.until("four nodes are up", 120, () => ended(site) === 4);
    const [, , , up = 0] = await refuse(site);
    expect(up).toBeLessThanOrEqual(150);
  });

  test("of 50 names 47 boot at once; one that is not mapped, one of a refused size and one whose old node terminates wait for no other", async (closing) => {
    const ranges = ["nodes=htc-[1-48] nodearray=htc", "nodes=htc-49 nodearray=htc size=Standard_X9"];
    const timings = { secondsToTerminate: 60, jitter: 0 };
    const site = await openRealSlurm(closing, { nodes: { htc: 50 }, ranges, timings, resumeTimeout: 300 });
    await site.submit(1, "-w", "htc-48");
    await site.until("its node terminates", 240, () =>
      site.events.some(({ kind }) => kind === "terminate-accepted"),
    );
    const at = Date.now();
    await site.submit(5, "--array=1-50", "--exclusive");
    const created = () =>
      site.events.flatMap((event) => (event.kind === "node-created" && event.at >= at ? [event] : []));
    await site.until("47 nodes are created", 40, () => created().length >= 47);
    expect(created().every((event) => event.name !== "htc-48")).toBe(true);
    await finish(site, 51);
    expect(created().some(({ name }) => name === "htc-48")).toBe(true);
    const told = site.changes().filter((line) => line.includes("power_down_force"));
    expect(told.some((line) => /nodename=htc-49 .*Standard_X9/.test(line))).toBe(true);
    expect(told.some((line) => /nodename=htc-50 .*in no host range/.test(line))).toBe(true);
  });

  test("a resume one second after SuspendTimeout, while the old node still runs", async (closing) => {
    const site = await openRealSlurm(closing, { nodes: { htc: 1 }, suspendTimeout: 5, resumeTimeout: 300 });
    await site.submit(1);
    await site.until("it is suspended", 120, () => site.calls("suspend").length > 0);
    await pause(6000);
    await site.submit(1);
    await finish(site, 2, 400);
    expect(await site.faults()).toEqual([]);
  });

  test("the app's table is lost while ten nodes run jobs", async (closing) => {
    const site = await openRealSlurm(closing, { nodes: { htc: 12 } });
    for (let job = 0; job < 10; job += 1) await site.submit(240, "--exclusive");
    await site.until("ten jobs run", 120, () => site.runs().length === 10);
    await site.app.kill();
    const tables = TableServiceClient.fromConnectionString(site.system.connectionString, {
      allowInsecureConnection: true,
    });
    for await (const { name = "" } of tables.listTables()) {
      await tables.deleteTable(name);
      await tables.createTable(name);
    }
    await site.app.start();
    await finish(site, 10, 400);
    expect(await site.faults()).toEqual([]);
  });

  test("the app is away for ten minutes: what runs goes on, what comes meanwhile runs afterwards", async (closing) => {
    const site = await openRealSlurm(closing, { nodes: { htc: 8 } });
    for (let job = 0; job < 4; job += 1) await site.submit(job < 2 ? 5 : 500, "--exclusive");
    await site.until("four jobs run", 120, () => site.runs().length === 4);
    await site.app.kill();
    await pause(60_000);
    for (let job = 0; job < 4; job += 1) await site.submit(5, "--exclusive");
    await pause(540_000);
    await site.app.start();
    await finish(site, 8, 600);
    expect(await site.faults()).toEqual([]);
  });

  test("the agent of the first controller is dead: that of the second acts", async (closing) => {
    const site = await openRealSlurm(closing);
    const second = site.agentOn("second");
    await second.start();
    await site.submit(1);
    await site.until("it waits", 60, () =>
      site.said.some(({ line }) => line.includes("another controller acts")),
    );
    await site.until("a job has run", 120, () => ended(site) === 1);
    await site.agent.kill();
    for (let job = 0; job < 5; job += 1) await site.submit(1, "--exclusive");
    await finish(site, 6);
    await second.kill();
    expect(await site.faults()).toEqual([]);
  });

  test("powered-down nodes that an administrator sets DOWN, and an array that turns to observe while siblings are marked", async (closing) => {
    const site = await openRealSlurm(closing, {
      nodes: { htc: 8, hpc: 2 },
      arrays: { htc: { maxCount: 1 } },
    });
    await site.run("scontrol", "update", "nodename=htc-[7-8]", "state=down", "reason=broken");
    for (let job = 0; job < 3; job += 1) await site.submit(40, "--exclusive");
    await site.until("siblings are marked", 120, async () => (await marked(site)).length >= 3);
    await site.api.putConfig("demo", JSON.stringify({ mode: "observe", named: ["htc", "hpc"] }));
    await site.until("no mark is left", 60, async () => (await marked(site)).length === 0);
    expect(site.changes().filter((line) => /htc-\S*[78]/.test(line))).toEqual([]);
    const shown = await site.run("scontrol", "show", "nodes", "-o", "htc-[7-8]");
    expect(shown.match(/State=DOWN.*Reason=broken/g)).toHaveLength(2);
  });

  test("of two partitions one belongs to other programs", async (closing) => {
    const ranges = ["nodes=htc-[1-4] nodearray=htc"];
    const site = await openRealSlurm(closing, { nodes: { htc: 4, hpc: 2 }, ranges, others: true });
    for (const partition of ["htc", "hpc", "htc"]) await site.submit(5, "-p", partition, "--exclusive");
    await finish(site, 3);
    await site.until("the other node is suspended", 60, () => site.others().length >= 2);
    expect(site.others()).toEqual(["resume hpc-1", "suspend hpc-1"]);
    expect(site.changes()).toEqual([]);
    expect(site.events.some((event) => event.kind === "node-created" && event.array === "hpc")).toBe(false);
    expect(
      await site.run("ps", "-eo", "args").then((text) => text.includes("cyclecloud-resume --child")),
    ).toBe(false);
  });

  test("in mode observe nothing is changed over 200 jobs, whatever the app would refuse", async (closing) => {
    const arrays = { htc: { maxCount: 1 } };
    const site = await openRealSlurm(closing, { nodes: { htc: 10 }, mode: "observe", arrays, others: true });
    await site.submit(1, "--array=1-200");
    await site.until("200 jobs have run", 600, () => ended(site) === 200);
    await site.until("the nodes are suspended", 90, () =>
      site.others().some((line) => line.startsWith("suspend")),
    );
    expect(site.changes()).toEqual([]);
    expect(site.events.filter(({ kind }) => kind === "node-created")).toEqual([]);
  });
});
