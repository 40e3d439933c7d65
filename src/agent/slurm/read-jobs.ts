import { expandHosts } from "./hosts.ts";

/** A job that has nodes: it waits for them to boot, runs, or completes. */
export interface SlurmJob {
  /** The id by which scontrol finds it. */
  readonly id: string;
  /** As users see it: "42_7" of an array, "30+1" of a heterogeneous job. */
  readonly shown: string;
  /** Whether it waits for nodes that boot. */
  readonly isConfiguring: boolean;
  readonly nodes: readonly string[];
}

/** The columns that `squeue -O` is asked for. No text of users is among them, so that no job can write a line of another. */
export const JOB_COLUMNS = ["JobArrayID", "JobID", "StateCompact", "NodeList"] as const;

/**
 * Reads what `squeue -h -O` prints for {@link JOB_COLUMNS}, each with a bar behind it, and gives the jobs that have nodes. Undefined if the text
 * is something else: what cannot be read is unknown, and never an empty queue.
 */
export function readJobs(text: string): readonly SlurmJob[] | undefined {
  const jobs: SlurmJob[] = [];
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const [shown, id, state, list, after, ...more] = line.split("|").map((field) => field.trim());
    if (shown === undefined || id === undefined || state === undefined || list === undefined)
      return undefined;
    if (after !== "" || more.length > 0 || !/^\d+$/.test(id)) return undefined;
    // A job that was requeued may still show the nodes that it had.
    if (list === "" || state === "PD") continue;
    const nodes = expandHosts(list);
    if (nodes === undefined) return undefined;
    jobs.push({ id, shown, isConfiguring: state === "CF", nodes });
  }
  return jobs;
}
