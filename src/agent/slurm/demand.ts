import type { DemandMessage, NodearrayMessage, SchedulerNodeMessage } from "../../client/index.ts";
import { foldHostList } from "../../domain/host-list.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import type { Mapping } from "./mapping.ts";
import type { Phase, CloudNode } from "./cloud-node.ts";
import { isOpen } from "./cloud-node.ts";

/** When each name was resumed last, as far as it is known. */
export type Resumes = ReadonlyMap<string, Instant>;

/** Five readings may fail, and one more. */
const EXPIRES_SECONDS: Seconds = 300;

/** What a message adds to what Slurm shows. */
export interface Facts {
  /** When the reading began. */
  readonly readAt: Instant;
  readonly resumes: Resumes;
  /** Names whose machine is of an earlier life, as the app says: it was there before the resume that Slurm waits for. */
  readonly earlier: ReadonlySet<string>;
}

/** The demand message of one reading: every name that Slurm counts on, and what each node does. */
export function messageOf(all: readonly CloudNode[], mapping: Mapping, facts: Facts): DemandMessage {
  return {
    version: 1,
    cluster: mapping.cluster,
    requestSet: mapping.requestSet,
    revision: facts.readAt,
    readAt: facts.readAt,
    expirationInterval: EXPIRES_SECONDS,
    nodearrays: targetsOf(all, facts),
    schedulerNodes: all.flatMap((cloudNode) => reportOf(cloudNode, facts)),
  };
}

/** Slurm counts on a node until it shows it powered down, or powering down without a job. */
const WITHDRAWN: readonly Phase[] = ["off", "going"];

export const isWanted = ({ phase, place }: CloudNode): boolean =>
  place !== undefined && !WITHDRAWN.includes(phase);

/** One entry for the names that differ in nothing: place, moment of the resume, and the job that needs them together. */
function targetsOf(all: readonly CloudNode[], { resumes }: Facts): readonly NodearrayMessage[] {
  const entries = new Map<
    string,
    { readonly entry: Omit<NodearrayMessage, "Name"> & { readonly Name: string }; readonly names: string[] }
  >();
  for (const cloudNode of all) {
    const { name, place } = cloudNode;
    if (place === undefined || !isWanted(cloudNode)) continue;
    // While it is only chosen, its resume has not been called: what is known is of an earlier one.
    const since = cloudNode.phase === "chosen" ? undefined : resumes.get(name);
    const gang = gangOf(cloudNode);
    const key = JSON.stringify([place, since, gang]);
    const known = entries.get(key);
    if (known !== undefined) {
      known.names.push(name);
      continue;
    }
    const { nodearray, size, group } = place;
    const entry = {
      Name: nodearray,
      ...(size === undefined ? {} : { MachineType: size }),
      ...(group === undefined ? {} : { PlacementGroup: group }),
      ...(since === undefined ? {} : { Since: since }),
      ...(gang === undefined ? {} : { Together: true }),
    };
    entries.set(key, { entry, names: [name] });
  }
  return [...entries.values()].map(({ entry, names }) => ({ ...entry, NodeNames: foldHostList(names) }));
}

/** The job of several nodes that waits for this one to boot. A node of several jobs is of the first. */
function gangOf({ phase, jobs }: CloudNode): string | undefined {
  if (phase !== "coming") return undefined;
  return jobs.find(({ isConfiguring, nodes }) => isConfiguring && nodes.length > 1)?.id;
}

/** What a report says of one node. Nothing is said of a node of which Slurm does not know whether it is idle. */
function reportOf(cloudNode: CloudNode, { earlier }: Facts): readonly SchedulerNodeMessage[] {
  const { name, place, phase, node, jobs, keep } = cloudNode;
  if (place === undefined) return [];
  const kept = keep === undefined ? {} : { keep };
  const ids = jobs.map(({ shown }) => shown);
  switch (phase) {
    case "off":
      // The partition of many nodes that are off may be kept: that matters while there is a machine.
      return [{ hostname: name, state: "closed", ...(node.flags.has("DRAIN") ? kept : {}) }];
    case "going":
      return [{ hostname: name, state: "closed", ...kept }];
    case "coming":
      // Powering up is never idle. The machine of an earlier life, on which no job has started, is.
      if (earlier.has(name) && jobs.every(({ isConfiguring }) => isConfiguring) && keep === undefined)
        return [{ hostname: name, state: "closed" }];
      return keep === undefined ? [] : [{ hostname: name, jobs: ids, state: "closed", ...kept }];
    case "chosen":
      return [];
    case "busy-going":
      return [{ hostname: name, jobs: ids.length === 0 ? ["completing"] : ids, state: "closed", ...kept }];
    case "up":
      // A node that does not answer is not known to be idle.
      if (node.flags.has("NOT_RESPONDING") && ids.length === 0 && keep === undefined) return [];
      if (isOpen(node)) return [{ hostname: name, jobs: ids, state: "open", ...kept }];
      return ids.length > 0 || keep !== undefined
        ? [{ hostname: name, jobs: ids, state: "closed", ...kept }]
        : [];
  }
}
