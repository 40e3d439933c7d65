import type { Mapping, Place } from "./mapping.ts";
import { placeOf } from "./mapping.ts";
import { markEnd } from "./marks.ts";
import type { SlurmJob } from "./read-jobs.ts";
import type { SlurmNode } from "./read-nodes.ts";
import type { SlurmSettings } from "./read-settings.ts";

/**
 * What Slurm does with a node's machine.
 * - off: powered down, and no job has it
 * - chosen: powered down, and a job has it: its resume is called within seconds
 * - coming: powering up
 * - up: there is a machine, or Slurm believes so
 * - busy-going: powering down while a job still completes there
 * - going: powering down without a job
 */
export type Phase = "off" | "chosen" | "coming" | "up" | "busy-going" | "going";

/** One node of one reading of Slurm, as the agent understands it. */
export interface CloudNode {
  readonly name: string;
  readonly node: SlurmNode;
  readonly phase: Phase;
  /** Absent: the agent's file does not map the name. */
  readonly place?: Place;
  /** Jobs that have the node. */
  readonly jobs: readonly SlurmJob[];
  /** Why it must not be stopped. */
  readonly keep?: string;
}

/** One reading of Slurm. */
export interface Reading {
  readonly nodes: readonly SlurmNode[];
  readonly jobs: readonly SlurmJob[];
  readonly settings: SlurmSettings;
}

/** The cloudNode of each cloud node, in Slurm's order. Nodes without the flag CLOUD, and dynamic ones, are none of ours. */
export function cloudNodes({ nodes, jobs, settings }: Reading, mapping: Mapping): readonly CloudNode[] {
  const jobsOn = new Map<string, SlurmJob[]>();
  for (const job of jobs)
    for (const name of job.nodes) {
      const others = jobsOn.get(name);
      if (others === undefined) jobsOn.set(name, [job]);
      else others.push(job);
    }
  return nodes
    .filter(({ flags }) => flags.has("CLOUD") && !flags.has("DYNAMIC_NORM"))
    .map((node) => {
      const on = jobsOn.get(node.name) ?? [];
      const place = placeOf(mapping, node.name);
      const keep = keepReason(node, settings);
      return {
        name: node.name,
        node,
        phase: phaseOf(node, on.length > 0),
        jobs: on,
        ...(place === undefined ? {} : { place }),
        ...(keep === undefined ? {} : { keep }),
      };
    });
}

/** Bases of a node that jobs have. */
const TAKEN = ["ALLOCATED", "MIXED"];

function phaseOf({ base, flags }: SlurmNode, hasJobs: boolean): Phase {
  const isTaken = TAKEN.includes(base) || hasJobs;
  if (flags.has("POWERING_DOWN")) return isTaken || flags.has("COMPLETING") ? "busy-going" : "going";
  if (flags.has("POWERED_DOWN")) return isTaken ? "chosen" : "off";
  return flags.has("POWERING_UP") ? "coming" : "up";
}

/** Flags of a node that is closed: jobs that run may end, and no other starts. */
const CLOSED = [
  "DRAIN",
  "FAIL",
  "POWER_DOWN",
  "MAINTENANCE",
  "INVALID_REG",
  "REBOOT_REQUESTED",
  "REBOOT_ISSUED",
];

/** Whether jobs may start on a node that is up. */
export function isOpen({ base, flags }: SlurmNode): boolean {
  return base !== "DOWN" && base !== "ERROR" && !CLOSED.some((flag) => flags.has(flag));
}

/** Reasons that Slurm itself gives to a node that is DOWN. */
export const SLURMS_REASONS: readonly string[] = [
  "ResumeTimeout reached",
  "Not responding",
  "Node unexpectedly rebooted",
];

/** Whether a person, or another program, set a node DOWN. */
function isDownByOthers({ base, reason = "" }: SlurmNode): boolean {
  return base === "DOWN" && markEnd(reason) === undefined && !SLURMS_REASONS.includes(reason);
}

/** A drain counts while its flag is there; a reason that was left behind means nothing. */
function keepReason(
  node: SlurmNode,
  { keptNodes, keptPartitions, keptStates }: SlurmSettings,
): string | undefined {
  const { name, base, flags, partitions, reason } = node;
  if (flags.has("MAINTENANCE")) return "in a maintenance reservation of Slurm";
  if (keptNodes.has(name)) return "in SuspendExcNodes of slurm.conf";
  const partition = partitions.find((one) => keptPartitions.has(one));
  if (partition !== undefined) return `in partition ${partition}, which is in SuspendExcParts of slurm.conf`;
  const state = [base, ...flags].find((one) => keptStates.has(one));
  if (state !== undefined) return `in state ${state}, which is in SuspendExcStates of slurm.conf`;
  if (flags.has("DRAIN")) return `drained in Slurm${reason === undefined ? "" : `: ${reason}`}`;
  if (isDownByOthers(node)) return `set DOWN in Slurm${reason === undefined ? "" : `: ${reason}`}`;
  return undefined;
}
