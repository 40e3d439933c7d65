import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readDemandMessage } from "../../src/wire/message/demand-message.ts";
import { DATA, readText } from "../support/data.ts";
import { CONTEXT } from "../wire/context.ts";
import { printedFiles } from "./printed.ts";

/** By scene: what a real Slurm printed. */
const SCENES: Readonly<Record<string, { readonly squeue: string; readonly sinfo: string }>> = JSON.parse(
  readText(`${DATA}slurm-22.05.json.gz`),
);

/** The columns of a capture, in its first line. `squeue -O` is asked for the same. A feature may contain the separator. */
const SQUEUE = `awk -F'|' -v want="$4" 'BEGIN { n = split(want, w, ",") }
NR == 1 { width = NF; for (i = 1; i <= NF; i++) { at[$i] = i; if ($i == "Feature") feature = i }; next }
{ text = ""; shift = feature ? NF - 1 - width : 0
  for (i = 1; i <= n; i++) { sub(/:.*/, "", w[i]); c = at[w[i]]; text = text $(feature && c > feature ? c + shift : c) "|" }
  print text }' "$STAGE/squeue.txt"`;
const SINFO = `awk -F'|' 'NR > 1 { print $1 "|" $3 }' "$STAGE/sinfo.txt"`;

interface Message {
  readonly jobs: readonly { readonly name: string }[];
  readonly schedulerNodes: readonly { readonly hostname: string; readonly jobs: readonly string[] }[];
}

/** The message that the printed script writes for these outputs of squeue and sinfo. */
function messageFor(squeue: string, sinfo: string): Message {
  const folder = mkdtempSync(join(tmpdir(), "slurm-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const bin = join(folder, "bin");
  mkdirSync(bin);
  for (const [name, text] of Object.entries({ squeue: SQUEUE, sinfo: SINFO })) {
    writeFileSync(join(bin, name), `#!/bin/bash\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  for (const [name, text] of printedFiles("docs/slurm.md")) writeFileSync(join(folder, name), text);
  for (const [name, text] of Object.entries({ squeue, sinfo }))
    writeFileSync(join(folder, `${name}.txt`), text);
  const env = { ...process.env, STAGE: folder, PATH: `${bin}:${process.env["PATH"]}` };
  const printed = execFileSync("bash", [join(folder, "slurm-demand.sh")], { env, encoding: "utf8" });
  const message: Message = JSON.parse(printed);
  const read = readDemandMessage({ ...message, cluster: "prod", revision: 1_763_636_400_000 }, CONTEXT);
  expect(read).toMatchObject({ kind: "update", update: { demand: { rejectedJobs: [] } } });
  return message;
}

const HEAD =
  "JobArrayID|Partition|StateCompact|Reason|UserName|NumNodes|NumCPUs|NumTasks|cpus-per-task|tres-per-node|tres-per-job|tres-per-task|tres-alloc|OverSubscribe|NodeList";
const SINFO_HEAD = "NODELIST|PARTITION|STATE";

const jobsFor = (...lines: readonly string[]) =>
  messageFor([HEAD, ...lines.map((line) => `${line}|`), ""].join("\n"), `${SINFO_HEAD}\n`).jobs;

test("the page prints two files", () => {
  expect([...printedFiles("docs/slurm.md").keys()]).toEqual(["slurm-demand.sh", "slurm-jobs.awk"]);
});

test.each([
  {
    name: "tasks that share nodes",
    line: "4|htc|PD|Resources|anna|1|6|6|1|N/A|N/A|N/A|cpu=6,mem=12000M,node=1,billing=6|OK|",
    expected: [
      {
        name: "4",
        user: "anna",
        iterations: 6,
        constraints: [{ ncpus: 1, mem: "memory::2000m", "node.nodearray": "htc" }],
      },
    ],
  },
  {
    name: "whole nodes",
    line: "3|hpc|PD|Priority|anna|2|8|8|1|N/A|N/A|N/A|cpu=8,mem=30000M,node=2,billing=8|NO|",
    expected: [
      {
        name: "3",
        user: "anna",
        iterations: 1,
        "node-count": 2,
        constraints: [{ ncpus: 4, "node.nodearray": "hpc", exclusive: true }],
      },
    ],
  },
  {
    name: "a running job on whole nodes",
    line: "32|hpc|R|None|anna|4|16|4|1|N/A|N/A|N/A|cpu=16,mem=60000M,node=4,billing=16|NO|hpc-[1-2,09-10]",
    expected: [
      {
        name: "32",
        user: "anna",
        iterations: 1,
        "node-count": 4,
        constraints: [{ ncpus: 4, "node.nodearray": "hpc", exclusive: true }],
        placed: ["hpc-1", "hpc-2", "hpc-09", "hpc-10"].map((hostname) => ({ hostname, iterations: 1 })),
      },
    ],
  },
  {
    name: "a job whose nodes still boot: it waits",
    line: "1|htc|CF|None|anna|1|1|1|1|N/A|N/A|N/A|cpu=1,mem=3500M,node=1,billing=1|OK|htc-2",
    expected: [
      {
        name: "1",
        user: "anna",
        iterations: 1,
        constraints: [{ ncpus: 1, mem: "memory::3500m", "node.nodearray": "htc" }],
      },
    ],
  },
  {
    name: "GPUs: one slot for each node",
    line: "5|gpu|PD|Resources|anna|2|8|4|2|gres:gpu:a100:2|N/A|N/A|cpu=8,mem=8G,node=2|OK|",
    expected: [
      {
        name: "5",
        user: "anna",
        iterations: 2,
        constraints: [{ ncpus: 4, mem: "memory::4096m", ngpus: 2, "node.nodearray": "gpu" }],
      },
    ],
  },
])("$name", ({ line, expected }) => {
  expect(jobsFor(line)).toEqual(expected);
});

test("an array counts the tasks that may run at a time: no more than its limit, less those that run", () => {
  const rest = "htc|PD|Resources|anna|1|1|1|1|N/A|N/A|N/A|cpu=1,mem=1500M,node=1|OK|";
  const runs = "2_1|htc|R|None|anna|1|1|1|1|N/A|N/A|N/A|cpu=1,mem=1500M,node=1|OK|htc-1";
  expect(jobsFor(`2_[4-12%3]|${rest}`, runs)).toMatchObject([
    { name: "2_[4-12%3]", iterations: 2 },
    { name: "2_1" },
  ]);
  expect(jobsFor(`7_[0-90:10,95]|${rest}`)).toMatchObject([{ iterations: 11 }]);
});

test("a job that no node helps is left out: held, dependent, too early, without a licence, against a limit", () => {
  const reasons = [
    "JobHeldUser",
    "Dependency",
    "BeginTime",
    "Licenses",
    "PartitionNodeLimit",
    "QOSMaxCpuPerUserLimit",
  ];
  expect(
    jobsFor(...reasons.map((reason, i) => `${i}|htc|PD|${reason}|a|1|1|1|1|N/A|N/A|N/A|cpu=1|OK|`)),
  ).toEqual([]);
  const down = "ReqNodeNotAvail, UnavailableNodes:htc-7";
  expect(jobsFor(`8|htc|PD|${down}|a|1|1|1|1|N/A|N/A|N/A|cpu=1|OK|`)).toHaveLength(1);
});

test("hosts that are up are stated with their jobs; those that are powered down or on their way are not", () => {
  const runs = "2_1|htc|R|None|anna|1|1|1|1|N/A|N/A|N/A|cpu=1,mem=1500M,node=1|OK|htc-1|";
  const states = [
    "htc-1|htc*|mix",
    "htc-2|htc*|idle",
    "htc-3|htc*|idle~",
    "htc-4|htc*|alloc#",
    "htc-5|htc*|down*",
  ];
  const { schedulerNodes } = messageFor(`${HEAD}\n${runs}\n`, [SINFO_HEAD, ...states, ""].join("\n"));
  expect(schedulerNodes).toEqual([
    { hostname: "htc-1", jobs: ["2_1"] },
    { hostname: "htc-2", jobs: [] },
  ]);
});

test.each([
  // Jobs that are CONFIGURING or RUNNING there, or PENDING because of Resources, Priority, None, or nodes that are down.
  { scene: "01-empty", waiting: 0, placed: 0 },
  { scene: "02-submitted", waiting: 22, placed: 0 },
  { scene: "05-running", waiting: 14, placed: 8 },
])("real outputs of Slurm 22.05, $scene", ({ scene, waiting, placed }) => {
  const { squeue = "", sinfo = "" } = SCENES[scene] ?? {};
  const { jobs } = messageFor(squeue, sinfo);
  const there = jobs.filter((job) => "placed" in job);
  expect({ waiting: jobs.length - there.length, placed: there.length }).toEqual({ waiting, placed });
});
