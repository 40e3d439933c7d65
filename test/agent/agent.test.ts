import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { openSite } from "./site.ts";

const ACT = { htc: "act", hpc: "act", gpu: "act" };
/** The moment of the call that a shim wrote, as the app gives it back. */
const SINCE = 1_763_636_390_000;
const CALL = `resume ${SINCE} gpu-[1-2],hpc-[1-4],htc-[1-3]\n{"jobs":[]}\n`;
const REQUEUED = "JobId=1 JobName=a\n   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0\n";
const NOT_REQUEUED = "JobId=1 JobName=a\n   Requeue=0 Restarts=0 BatchFlag=0 Reboot=0\n";

const refused = (name: string, more: object = {}) => ({
  name,
  array: name.split("-", 1).join(""),
  state: "refused",
  since: SINCE,
  reason: "the quota standardFSv2Family is used up: 0 of 100 cores left",
  ...more,
});

test("once: the names that Slurm waits for are pushed, and one line says why", async () => {
  const site = await openSite("22.05/03-configuring");
  const { code, out, err } = await site.agent("--once");
  expect([code, err]).toEqual([0, ""]);
  expect(out).toBe("pushed 9 wanted names, 9 of them powering up, 0 kept: the agent has begun");
  expect(site.pushed).toEqual([
    expect.objectContaining({ cluster: "prod", requestSet: "slurm", version: 1 }),
  ]);
  expect(site.read("changes")).toBe("");
});

test("a call of a shim is taken from the spool once the app has its names, and says when they were resumed", async () => {
  const site = await openSite("22.05/03-configuring");
  site.write("state/spool/7.call", CALL);
  site.app.status = 503;
  expect((await site.agent("--once")).code).toBe(3);
  expect(readdirSync(`${site.folder}/state/spool`)).toEqual(["7.call"]);
  site.app.status = 200;
  const { out } = await site.agent("--once");
  expect(out).toContain(": Slurm called resume of gpu-[1-2],hpc-[1-4],htc-[1-3]");
  expect(site.pushed[0]).toMatchObject({
    nodearrays: [{ Since: SINCE }, { Since: SINCE, Together: true }, { Since: SINCE }],
  });
  expect(readdirSync(`${site.folder}/state/spool`)).toEqual([]);
});

test("a set that a shim sent is ended after the agent's own is accepted", async () => {
  const site = await openSite("22.05/03-configuring");
  site.write("state/spool/7.sent", "");
  await site.agent("--once");
  expect(site.emptied).toEqual(["/api/clusters/prod/request-sets/slurm-resume-7"]);
  expect(readdirSync(`${site.folder}/state/spool`)).toEqual([]);
});

test("in mode observe nothing is changed, whatever is refused", async () => {
  const site = await openSite("22.05/03-configuring");
  site.write("state/spool/7.call", CALL);
  site.app.modes = { htc: "observe", hpc: "observe", gpu: "observe" };
  site.app.names = [refused("htc-2")];
  expect((await site.agent("--once")).code).toBe(0);
  expect(site.read("changes")).toBe("");
  expect(site.read("state/modes")).toBe("htc observe\nhpc observe\ngpu observe\n");
});

test("a node that cannot be had is told at once: to Slurm, and to its job", async () => {
  const site = await openSite("22.05/03-configuring");
  site.write("state/spool/7.call", CALL);
  site.write("job-1", REQUEUED);
  site.app.modes = ACT;
  site.app.names = [refused("htc-2")];
  await site.agent("--once");
  const why = "htc-2 cannot be had: the quota standardFSv2Family is used up: 0 of 100 cores left";
  expect(site.read("changes").split("\n")).toEqual([
    `update jobid=1 admincomment=autoscaler: ${why}`,
    `notify 1 autoscaler: ${why}`,
    `update nodename=htc-2 state=power_down_force reason=autoscaler: ${why}`,
    "",
  ]);
});

test("a job that may not be requeued is told, and its node is left to Slurm's ResumeTimeout", async () => {
  const site = await openSite("22.05/03-configuring");
  site.write("state/spool/7.call", CALL);
  site.write("job-1", NOT_REQUEUED);
  site.app.modes = ACT;
  site.app.names = [refused("htc-2")];
  await site.agent("--once");
  await site.agent("--once");
  expect(site.read("changes")).not.toContain("power_down");
  // Once for each cause and hour, also by another process.
  expect(site.read("changes").match(/notify 1 /g)).toHaveLength(1);
});

test.each([
  { name: "the answer is of an earlier resume", names: [refused("htc-2", { since: SINCE - 1 })] },
  { name: "the answer names no resume", names: [refused("htc-2", { since: undefined })] },
  { name: "the node waits", names: [refused("htc-2", { state: "coming" })] },
])("nothing is changed while $name", async ({ names }) => {
  const site = await openSite("22.05/03-configuring");
  site.write("state/spool/7.call", CALL);
  site.write("job-1", REQUEUED);
  site.app.modes = ACT;
  site.app.names = names;
  await site.agent("--once");
  expect(site.read("changes")).toBe("");
});

test("a node that changed after the decision is not touched", async () => {
  const site = await openSite("22.05/03-configuring");
  site.write("state/spool/7.call", CALL);
  site.write("job-1", REQUEUED);
  site.app.modes = ACT;
  site.app.names = [refused("htc-2")];
  site.write(
    "after-show",
    site.read("nodes").replaceAll("State=MIXED+CLOUD+NOT_RESPONDING+POWERING_UP", "State=MIXED+CLOUD"),
  );
  await site.agent("--once");
  expect(site.read("changes")).not.toContain("power_down");
});

test("a Slurm that does not answer is unknown: nothing is pushed", async () => {
  const site = await openSite("22.05/03-configuring");
  site.write("broken", "");
  const { code, out } = await site.agent("--once");
  expect(code).toBe(3);
  expect(out).toBe("Slurm cannot be read: scontrol show nodes: Unable to contact slurm controller");
  expect(site.pushed).toEqual([]);
});

test("a dry run prints the message and says how each node was read, and changes nothing", async () => {
  const site = await openSite("22.05/15-nothing-comes");
  site.write("state/spool/7.call", `resume ${SINCE} htc-1\n`);
  const { code, out, err } = await site.agent("--dry-run");
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({
    nodearrays: [
      { Name: "hpc", NodeNames: "hpc-[1-2]", Together: true },
      { Name: "htc", NodeNames: "htc-1", Since: SINCE },
    ],
  });
  expect(err.split("\n")).toEqual([
    "node gpu-[1-2]: IDLE+CLOUD+POWERED_DOWN; powered down; not wanted; gpu",
    "node hpc-[1-2]: ALLOCATED+CLOUD+NOT_RESPONDING+POWERING_UP; powering up; wanted; hpc/Standard_HB120rs_v3/hpc-1",
    "node hpc-[3-4]: IDLE+CLOUD+POWERED_DOWN; powered down; not wanted; hpc/Standard_HB120rs_v3/hpc-1",
    "node htc-1: MIXED+CLOUD+NOT_RESPONDING+POWERING_UP; powering up; wanted; htc; resumed at 2025-11-20T10:59:50.000Z",
    "node htc-[2-4]: IDLE+CLOUD+POWERED_DOWN; powered down; not wanted; htc",
    "job 1: waits until hpc-[1-2] has booted",
    "job 2: waits until htc-1 has booted",
  ]);
  expect([site.pushed, site.read("changes")]).toEqual([[], ""]);
  expect(readdirSync(`${site.folder}/state`)).toEqual(["spool"]);
  expect(readdirSync(`${site.folder}/state/spool`)).toEqual(["7.call"]);
});

const MARKED = (name: string, reason: string) => `NodeName=${name} Arch=x86_64
   State=DOWN+CLOUD+POWERED_DOWN ThreadsPerCore=1
   Partitions=htc
   Reason=${reason} [slurm@2026-11-22T09:18:34]
`;

test("release undoes marks that have ended, and no other", async () => {
  const site = await openSite("22.05/01-empty");
  site.write(
    "state/agent.json",
    JSON.stringify({
      modes: { htc: "act" },
      resumes: {},
      marks: {},
      opened: {},
      others: [],
      downs: [],
      told: {},
    }),
  );
  site.write(
    "nodes",
    [
      MARKED("htc-1", "autoscaler: no room; until 2025-11-20T11:00:00Z"),
      MARKED("htc-2", "autoscaler: no room; until 2125-11-20T11:00:00Z"),
      MARKED("htc-3", "disk broken"),
      MARKED("htc-4", "autoscaler: refused"),
      MARKED("other-1", "autoscaler: no room; until 2025-11-20T11:00:00Z"),
    ].join("\n"),
  );
  expect((await site.agent("--release")).code).toBe(0);
  expect(site.read("changes")).toBe("update nodename=htc-1,other-1 state=resume\n");
});

test("an agent whose last word was observe undoes its marks at its start, also while the app is away", async () => {
  const site = await openSite("22.05/01-empty");
  site.write("nodes", MARKED("htc-2", "autoscaler: no room; until 2125-11-20T11:00:00Z"));
  site.app.status = 503;
  expect((await site.agent("--once")).code).toBe(3);
  expect(site.read("changes")).toBe("update nodename=htc-2 state=resume\n");
});

test("an agent waits while another controller acts and its agent lives", async () => {
  const site = await openSite("22.05/03-configuring");
  site.write("ping", "Slurmctld(primary) at other is UP\n");
  site.write("state/heartbeat-other", `${Date.now()}\n`);
  const { out } = await site.agent("--once");
  expect([out, site.pushed]).toEqual(["the agent of another controller acts: this one waits", []]);
  site.write("state/heartbeat-other", `${Date.now() - 61_000}\n`);
  await site.agent("--once");
  expect(site.pushed).toHaveLength(1);
});

test("a folder that cannot be written is said, and the agent goes on", async () => {
  const site = await openSite("22.05/03-configuring");
  site.write("slurm.map", site.read("slurm.map").replace(/state=.*/, "state=/proc/none"));
  const { code, out } = await site.agent("--once");
  expect([code, site.pushed.length]).toEqual([0, 1]);
  expect(out).toMatch(/what is kept cannot be written: ENOENT/);
});

test("a second copy ends, and says so", async () => {
  const site = await openSite("22.05/03-configuring");
  const ends = await Promise.all([site.agent("--once"), site.agent("--once")]);
  expect(new Set(ends.map(({ code }) => code))).toEqual(new Set([0, 1]));
  expect(ends.map(({ err }) => err).join("")).toContain("another agent runs here with the state folder");
});

test("every mistake in the file is said, with its line", async () => {
  const site = await openSite("22.05/01-empty", "cluster=prod\nstate=/a\nnods=htc-[1-2]\n");
  const { code, err } = await site.agent("--once");
  expect(code).toBe(2);
  expect(err.split("\n")).toEqual([
    'slurm.map: line 4: unknown key "nods": did you mean nodes?',
    "slurm.map: no host range: expected a line as nodes=htc-[1-100] nodearray=htc",
  ]);
});
