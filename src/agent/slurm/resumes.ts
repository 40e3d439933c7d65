import type { Instant, Milliseconds } from "../../domain/units.ts";
import { instant } from "../../domain/units.ts";
import type { Resumes } from "./demand.ts";
import { expandHosts } from "./hosts.ts";
import type { Phase, CloudNode } from "./cloud-node.ts";

/** One call of a shim, as its file in the spool has it. */
export interface ShimCall {
  readonly verb: "resume" | "suspend" | "resume-fail";
  readonly at: Instant;
  readonly hosts: readonly string[];
}

/**
 * Reads a file of the spool: its first line is "VERB MILLISECONDS HOSTLIST", what Slurm wrote for the resume follows. Undefined: it is none,
 * or it is not whole.
 */
export function readShimCall(text: string): ShimCall | undefined {
  const [line = ""] = text.split("\n", 1);
  const [verb, at = "", list = "", ...more] = line.split(" ");
  if (verb !== "resume" && verb !== "suspend" && verb !== "resume-fail") return undefined;
  const hosts = expandHosts(list);
  if (hosts === undefined || more.length > 0 || !/^\d{12,14}$/.test(at)) return undefined;
  return { verb, at: instant(Number(at)), hosts };
}

/** Slurm resumes a node again only after it was powered down: a resume within this time of the last one is the same. */
const SAME_RESUME_MS: Milliseconds = 60_000;

/**
 * When each name was resumed: by the calls of the shims, else by the first reading that shows it powering up. `before` has the phases of the
 * reading before; at the first reading of a process it is empty, and what is not known from the disk stays unknown.
 */
export function noteResumes(
  known: Resumes,
  calls: readonly ShimCall[],
  before: ReadonlyMap<string, Phase>,
  all: readonly CloudNode[],
  readAt: Instant,
): Resumes {
  const resumes = new Map(known);
  for (const { verb, at, hosts } of calls)
    if (verb === "resume") for (const name of hosts) if (at > (resumes.get(name) ?? 0)) resumes.set(name, at);
  const kept = new Map<string, Instant>();
  for (const { name, phase } of all) {
    const last = before.get(name);
    const hasBegun = phase === "coming" && last !== undefined && last !== "coming";
    const since = resumes.get(name);
    if (hasBegun && (since === undefined || readAt - since > SAME_RESUME_MS)) kept.set(name, readAt);
    // Once it is powered down, what was is over; a resume that was just called stays.
    else if (since !== undefined && (phase !== "off" || readAt - since < SAME_RESUME_MS))
      kept.set(name, since);
  }
  return kept;
}
