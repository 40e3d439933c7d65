import { expect, test } from "vitest";
import { readDemandMessage } from "../../src/wire/message/demand-message.ts";
import { CONTEXT } from "../wire/context.ts";
import { setStage } from "./pbs-stage.ts";

const PAGE = "docs/pbs.md";

/** A job as `qstat -f` prints it. Attributes are indented by four spaces. */
function printedJob(id: string, attributes: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ Job_Owner: "anna@login", ...attributes }).map(([k, v]) => `    ${k} = ${v}`);
  return [`Job Id: ${id}`, ...lines, "", ""].join("\n");
}

/** The jobs of the message that the script sends for these jobs. */
async function sentFor(...jobs: readonly string[]): Promise<readonly unknown[]> {
  const stage = await setStage(PAGE);
  stage.answer({ status: 202 });
  stage.set("qstat", jobs.join(""));
  expect(await stage.run("autostart.sh")).toEqual({ code: 0, stderr: "" });
  const [request] = stage.seen;
  expect(request?.url).toBe("/request-sets/pbs");
  expect(request?.key).toBe("KEY");
  const message: { revision: number; jobs: unknown[] } = JSON.parse(request?.body ?? "");
  expect(message.revision).toBe(1_000_000_000);
  const read = readDemandMessage({ ...message, revision: 1_763_636_400_000, cluster: "prod" }, CONTEXT);
  expect(read).toMatchObject({ kind: "update", update: { demand: { rejectedJobs: [] } } });
  return message.jobs;
}

test.each([
  {
    name: "the simplest job",
    job: printedJob("1.sched", { job_state: "Q", "Resource_List.select": "1:ncpus=1" }),
    expected: [{ name: "1.sched", user: "anna", iterations: 1, constraints: [{ ncpus: 1 }] }],
  },
  {
    name: "an owner of a Windows domain",
    job: printedJob("1.sched", { Job_Owner: "HPC\\anna@login", job_state: "Q" }),
    expected: [{ name: "1.sched", user: "HPC\\anna", iterations: 1, constraints: [{ ncpus: 1 }] }],
  },
  {
    name: "a job without a select",
    job: printedJob("1.sched", { job_state: "Q", "Resource_List.ncpus": "4" }),
    expected: [{ name: "1.sched", user: "anna", iterations: 1, constraints: [{ ncpus: 4 }] }],
  },
  {
    name: "chunks, with a line that is folded",
    job: printedJob("1.sched", {
      job_state: "Q",
      "Resource_List.place": "free",
      "Resource_List.select": "3:ncpus=16:mem=8gb:slot_\n\ttype=hpc",
    }),
    expected: [
      {
        name: "1.sched",
        user: "anna",
        iterations: 3,
        constraints: [{ ncpus: 16, mem: "memory::8388608k", "node.nodearray": "hpc" }],
      },
    ],
  },
  {
    name: "two kinds of chunks",
    job: printedJob("1.sched", { job_state: "Q", "Resource_List.select": "1:ncpus=4+2:ncpus=1:ngpus=1" }),
    expected: [
      { name: "1.sched", user: "anna", iterations: 1, constraints: [{ ncpus: 4 }] },
      { name: "1.sched.2", user: "anna", iterations: 2, constraints: [{ ncpus: 1, ngpus: 1 }] },
    ],
  },
  {
    name: "all chunks on one node",
    job: printedJob("1.sched", {
      job_state: "Q",
      "Resource_List.place": "pack",
      "Resource_List.select": "2:ncpus=4:mem=1gb+1:ncpus=1:mem=512mb",
    }),
    expected: [
      { name: "1.sched", user: "anna", iterations: 1, constraints: [{ ncpus: 9, mem: "memory::2621440k" }] },
    ],
  },
  {
    name: "a running job on nodes of its own",
    job: printedJob("1.sched", {
      job_state: "R",
      exec_host: "n1/0*16+n2/0*16",
      "Resource_List.nodect": "2",
      "Resource_List.place": "scatter:excl",
      "Resource_List.select": "2:ncpus=16",
    }),
    expected: [
      {
        name: "1.sched",
        user: "anna",
        iterations: 1,
        "node-count": 2,
        constraints: [{ ncpus: 16, exclusive: true }],
        placed: [
          { hostname: "n1", iterations: 1 },
          { hostname: "n2", iterations: 1 },
        ],
      },
    ],
  },
  {
    name: "an array: tasks that wait or run",
    job: printedJob("3[].sched", {
      job_state: "B",
      array: "True",
      array_state_count: "Queued:98 Running:2 Exiting:0 Expired:7 ",
      "Resource_List.nodect": "1",
      "Resource_List.place": "pack",
      "Resource_List.select": "1:ncpus=2",
    }),
    expected: [{ name: "3[].sched", user: "anna", iterations: 100, constraints: [{ ncpus: 2 }] }],
  },
  {
    name: "an array on hold: only what runs",
    job: printedJob("3[].sched", {
      job_state: "H",
      array: "True",
      array_state_count: "Queued:98 Running:2 Exiting:0 Expired:0",
      "Resource_List.select": "1:ncpus=2",
    }),
    expected: [{ name: "3[].sched", user: "anna", iterations: 2, constraints: [{ ncpus: 2 }] }],
  },
  {
    name: "an array of tasks that each need two whole nodes",
    job: printedJob("3[].sched", {
      job_state: "Q",
      array: "True",
      array_state_count: "Queued:2 Running:0 Exiting:0 Expired:0",
      "Resource_List.nodect": "2",
      "Resource_List.place": "scatter:excl",
      "Resource_List.select": "2:ncpus=16",
    }),
    expected: ["3[].sched-1", "3[].sched-2"].map((name) => ({
      name,
      user: "anna",
      iterations: 1,
      "node-count": 2,
      constraints: [{ ncpus: 16, exclusive: true }],
    })),
  },
  ...["H", "W", "F"].map((state) => ({
    name: `a job in state ${state}`,
    job: printedJob("1.sched", { job_state: state, "Resource_List.select": "1:ncpus=96" }),
    expected: [],
  })),
  { name: "no job at all", job: "", expected: [] },
])("autostart: $name", async ({ job, expected }) => {
  expect(await sentFor(job)).toEqual(expected);
});

test("autostart: a qstat that fails sends nothing", async () => {
  const stage = await setStage(PAGE);
  stage.set("pbs_away", "");
  expect((await stage.run("autostart.sh")).code).not.toBe(0);
  expect(stage.seen).toEqual([]);
});

test.each([401, 409, 500])(
  "autostart: an answer %i is an error of the script, with the answer",
  async (status) => {
    const stage = await setStage(PAGE);
    stage.set("qstat", "");
    stage.answer({ status, body: '{"title":"no"}' });
    const { code, stderr } = await stage.run("autostart.sh");
    expect(code).toBe(1);
    expect(stderr).toContain(`{"title":"no"}\n${status}`);
  },
);

test("autostart: jobs that the app leaves out are named", async () => {
  const stage = await setStage(PAGE);
  stage.set("qstat", "");
  stage.answer({ status: 202, body: '{"rejectedJobs":[{"name":"7"}]}' });
  const { code, stderr } = await stage.run("autostart.sh");
  expect(code).toBe(0);
  expect(stderr).toContain('{"name":"7"}');
});
