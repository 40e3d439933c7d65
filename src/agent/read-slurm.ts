import type { RunCommand } from "./commands.ts";
import { JOB_COLUMNS, readJobs } from "./slurm/read-jobs.ts";
import { readNodes } from "./slurm/read-nodes.ts";
import { readControllers, readSettings } from "./slurm/read-settings.ts";
import type { Reading } from "./slurm/cloud-node.ts";

/** One reading of Slurm, or why there is none. What cannot be read is unknown. */
type SlurmRead =
  | { readonly kind: "read"; readonly reading: Reading }
  | { readonly kind: "unknown"; readonly why: string };

/**
 * Reads nodes, then jobs, then nodes' settings, one command at a time. Jobs come after nodes: a job that started between the two is
 * seen on a node that looked idle, and never the other way round.
 */
export async function readSlurm(run: RunCommand): Promise<SlurmRead> {
  const shown = await run("scontrol", ["show", "nodes"]);
  if (shown.kind === "failed") return { kind: "unknown", why: shown.why };
  const listed = await run("squeue", ["-a", "-h", "-O", JOB_COLUMNS.map((name) => `${name}:|`).join(",")]);
  if (listed.kind === "failed") return { kind: "unknown", why: listed.why };
  const configured = await run("scontrol", ["show", "config"]);
  if (configured.kind === "failed") return { kind: "unknown", why: configured.why };
  const [nodes, jobs, settings] = [
    readNodes(shown.text),
    readJobs(listed.text),
    readSettings(configured.text),
  ];
  if (nodes === undefined) return { kind: "unknown", why: "scontrol show nodes says something else" };
  if (jobs === undefined) return { kind: "unknown", why: "squeue says something else" };
  if (settings === undefined) return { kind: "unknown", why: "scontrol show config says something else" };
  return { kind: "read", reading: { nodes, jobs, settings } };
}

/** The controllers that answer, in Slurm's order. Undefined: not known. */
export async function findControllers(run: RunCommand): Promise<readonly string[] | undefined> {
  const said = await run("scontrol", ["ping"]);
  return said.kind === "failed" ? undefined : readControllers(said.text);
}
