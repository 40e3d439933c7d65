import { randomBytes } from "node:crypto";
import { symlinkSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Seconds } from "../../src/domain/units.ts";
import type { LocalSystem } from "../../src/local/system.ts";
import type { NodeArrayOptions, Timings } from "../../src/simulator/options.ts";
import { ROOT } from "../support/run-main.ts";
import { PATH } from "./needed.ts";

/** The cluster in CycleCloud, and in the agent's file. */
export const CLUSTER = "demo";

export interface SiteOptions {
  /** Nodes by node array, which has a partition of its own: `htc` of single jobs, `hpc` of whole nodes. */
  readonly nodes?: Readonly<Record<string, number>>;
  readonly suspendTime?: Seconds;
  readonly suspendTimeout?: Seconds;
  readonly resumeTimeout?: Seconds;
  /** Lines of the agent's file that say where nodes are made. Absent: each node array has its own. */
  readonly ranges?: readonly string[];
  /** What is otherwise about the node arrays in CycleCloud. */
  readonly arrays?: Readonly<Record<string, Partial<NodeArrayOptions>>>;
  /** Whether there are programs that were there before, which start and stop machines themselves. */
  readonly others?: true;
  readonly timings?: Partial<Timings>;
  readonly mode?: "act" | "observe";
}

export const mungeWords = (folder: string): readonly string[] => [
  `--key-file=${folder}/munge.key`,
  `--socket=${folder}/munge.sock`,
  `--pid-file=${folder}/munged.pid`,
  `--log-file=${folder}/munged.log`,
  `--seed-file=${folder}/munge.seed`,
];

/** Writes the files of the site: slurm.conf, the agent's file, and programs that note their call before they become the shims. */
export function writeSite(
  folder: string,
  { url, keys }: LocalSystem,
  nodes: Readonly<Record<string, number>>,
  options: SiteOptions,
  [controller = 0, ...free]: readonly number[],
): void {
  const write = (name: string, lines: readonly string[]): void =>
    writeFileSync(join(folder, name), `${lines.join("\n")}\n`, { mode: 0o600 });
  writeFileSync(join(folder, "munge.key"), randomBytes(128), { mode: 0o400 });
  const ranges = Object.entries(nodes).map(([name, count]) => `${name}-[1-${count}]`);
  const left = [...free];
  const lines = Object.entries(nodes).flatMap(([name, count], index) => {
    const cores = name === "hpc" ? 4 : 2;
    const at = left.splice(0, count).join(",");
    return [
      `NodeName=${ranges[index]} Port=${at} NodeAddr=127.0.0.1 Sockets=1 CoresPerSocket=${cores} ThreadsPerCore=1 RealMemory=3500 State=CLOUD`,
      `PartitionName=${name} Nodes=${ranges[index]} MaxTime=INFINITE State=UP${name === "htc" ? " Default=YES" : " OverSubscribe=EXCLUSIVE"}`,
    ];
  });
  write("slurm.conf", [...slurmConf(folder, controller, options), ...lines]);
  write("curl", [`header = "x-functions-key: ${keys.host}"`, "silent"]);
  symlinkSync(join(folder, "state"), join(folder, "shared"));
  const map = (state: string): readonly string[] => [
    `cluster=${CLUSTER}`,
    `state=${folder}/${state}`,
    `memory=${folder}/memory`,
    `url=${url}`,
    `curl=${folder}/curl`,
    ...(options.others === true ? ["resume", "suspend"] : []).map(
      (verb) => `previous_${verb}=${folder}/bin/other-${verb}`,
    ),
    ...(options.ranges ??
      Object.keys(nodes).map((name, index) => `nodes=${ranges[index]} nodearray=${name}`)),
  ];
  write("slurm.map", map("state"));
  write("other.map", map("shared"));
  writePrograms(folder);
}

/** What Slurm calls, what was there before, a scontrol that notes what it changes, and the script of all jobs. */
function writePrograms(folder: string): void {
  const path = `${folder}/bin:${PATH}`;
  const write = (name: string, lines: readonly string[]): void =>
    writeFileSync(join(folder, name), `#!/bin/sh\n${lines.join("\n")}\n`, { mode: 0o755 });
  const each = `for name in $(scontrol show hostnames "$1"); do`;
  write("bin/scontrol", [
    `case $1 in show | ping) ;; *) echo "$*" >> ${folder}/changes ;; esac`,
    `exec /usr/bin/scontrol "$@"`,
  ]);
  write("bin/other-resume", [
    `echo "resume $1" >> ${folder}/others`,
    `sleep 2`,
    `${each} SIMULATED_MACHINE=${folder}/$name setsid slurmd -D -b -f ${folder}/slurm.conf -N $name & done`,
  ]);
  write("bin/other-suspend", [
    `echo "suspend $1" >> ${folder}/others`,
    `${each} kill -9 $(cat ${folder}/slurmd-$name.pid); done`,
  ]);

  for (const verb of ["resume", "suspend", "resume-fail"]) {
    symlinkSync(join(ROOT, "src/agent/shims/cyclecloud-slurm"), join(folder, `bin/cyclecloud-${verb}`));
    write(`bin/${verb}`, [
      `export PATH='${path}' SLURM_CONF=${folder}/slurm.conf AUTOSCALER_AGENT_FILE=${folder}/slurm.map`,
      `echo "$(date +%s%3N) ${verb} $1" >> ${folder}/calls`,
      `exec ${folder}/bin/cyclecloud-${verb} "$1"`,
    ]);
  }
  write("job", [
    `id=\${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}\${SLURM_ARRAY_TASK_ID:+_$SLURM_ARRAY_TASK_ID}`,
    `echo "$id begun $(date +%s%3N) $SLURM_JOB_NODELIST" >> ${folder}/jobs`,
    'sleep "$1"',
    `echo "$id ended $(date +%s%3N) $SLURM_JOB_NODELIST" >> ${folder}/jobs`,
  ]);
}

/** No cgroups, no systemd, pretended processors (docs/slurm.md names what the agent needs of it). */
function slurmConf(folder: string, port: number, options: SiteOptions): readonly string[] {
  const { suspendTime = 10, suspendTimeout = 10, resumeTimeout = 90 } = options;
  return [
    "ClusterName=demo",
    `SlurmctldHost=${hostname()}(127.0.0.1)`,
    `SlurmctldPort=${port}`,
    "SlurmUser=root",
    "SlurmdUser=root",
    "AuthType=auth/munge",
    `AuthInfo=socket=${folder}/munge.sock`,
    `StateSaveLocation=${folder}/save`,
    `SlurmdSpoolDir=${folder}/spool/%n`,
    `SlurmctldPidFile=${folder}/slurmctld.pid`,
    `SlurmdPidFile=${folder}/slurmd-%n.pid`,
    `SlurmctldLogFile=${folder}/slurmctld.log`,
    `SlurmdLogFile=${folder}/slurmd-%n.log`,
    "ProctrackType=proctrack/linuxproc",
    "TaskPlugin=task/none",
    "JobAcctGatherType=jobacct_gather/none",
    "MpiDefault=none",
    "SlurmdParameters=config_overrides",
    "ReturnToService=2",
    "SelectType=select/cons_tres",
    "SelectTypeParameters=CR_Core",
    "SchedulerType=sched/backfill",
    "SchedulerParameters=bf_interval=2,sched_interval=5",
    "TreeWidth=65533",
    "DebugFlags=NO_CONF_HASH",
    "SlurmctldParameters=idle_on_node_suspend",
    "PrivateData=cloud",
    `ResumeProgram=${folder}/bin/resume`,
    `SuspendProgram=${folder}/bin/suspend`,
    `ResumeFailProgram=${folder}/bin/resume-fail`,
    `ResumeTimeout=${resumeTimeout}`,
    `SuspendTimeout=${suspendTimeout}`,
    `SuspendTime=${suspendTime}`,
    "ResumeRate=0",
    "SuspendRate=0",
  ];
}
