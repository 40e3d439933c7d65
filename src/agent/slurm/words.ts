import { foldHostList } from "../../domain/host-list.ts";
import { isoTime } from "../../domain/units.ts";
import type { Facts } from "./demand.ts";
import { isWanted } from "./demand.ts";
import type { Mapping } from "./mapping.ts";
import { whyUnmapped } from "./mapping.ts";
import type { SlurmJob } from "./read-jobs.ts";
import type { Phase, CloudNode } from "./cloud-node.ts";

/** What each phase means, for people. */
const PHASES: Readonly<Record<Phase, string>> = {
  off: "powered down",
  chosen: "powered down, and a job has it",
  coming: "powering up",
  up: "up",
  "busy-going": "powering down, and a job still completes there",
  going: "powering down without a job",
};

/** How each node and each job was read, one line each. Nodes that differ in nothing share a line. */
export function readingInWords(
  all: readonly CloudNode[],
  jobs: readonly SlurmJob[],
  mapping: Mapping,
  { resumes, earlier }: Facts,
): readonly string[] {
  const alike = new Map<string, string[]>();
  for (const cloudNode of all) {
    const { name, node, phase, place, keep } = cloudNode;
    const parts = [[node.base, ...node.flags].join("+"), PHASES[phase]];
    if (place === undefined) parts.push(`left alone, ${whyUnmapped(mapping, name)}`);
    else {
      parts.push(isWanted(cloudNode) ? "wanted" : "not wanted");
      parts.push([place.nodearray, place.size, place.group].filter((part) => part !== undefined).join("/"));
    }
    const since = isWanted(cloudNode) && phase !== "chosen" ? resumes.get(name) : undefined;
    if (since !== undefined) parts.push(`resumed at ${isoTime(since)}`);
    if (earlier.has(name)) parts.push("its machine is of an earlier resume");
    if (keep !== undefined) parts.push(`kept: ${keep}`);
    const text = parts.join("; ");
    alike.set(text, [...(alike.get(text) ?? []), name]);
  }
  const nodes = [...alike].map(([text, names]) => `node ${foldHostList(names)}: ${text}`);
  return [...nodes, ...jobs.map(jobInWords)];
}

function jobInWords({ shown, isConfiguring, nodes }: SlurmJob): string {
  const where = foldHostList(nodes);
  return isConfiguring ? `job ${shown}: waits until ${where} has booted` : `job ${shown}: has ${where}`;
}
