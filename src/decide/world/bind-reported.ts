import type { PlacedSlots, RankedDemand } from "../../domain/demand.ts";
import type { SetName } from "../../domain/ids.ts";
import type { ReportedHost } from "./reported-hosts.ts";
import type { Reports } from "./scheduler-only.ts";

/**
 * The demands with the hosts on which they run according to reports. A job that names no host itself gets one slot, or one node of its gang,
 * on each host on which its own scheduler reports it. The amounts left there are reported without that slot, so it must not be placed again.
 * Hosts that are no capacity are left out, because a scheduler may list the jobs of a dead host for a while.
 */
export function bindReported(
  demands: readonly RankedDemand[],
  reports: Reports | undefined,
): readonly RankedDemand[] {
  if (reports === undefined) return demands;
  const hostsOf = hostsOfJobs([...reports.nodes.values(), ...reports.others]);
  if (hostsOf.size === 0) return demands;
  return demands.map((ranked) => {
    const { set, demand } = ranked;
    if (demand.kind !== "job" || demand.placed.length > 0) return ranked;
    const ofSet = hostsOf.get(set);
    const hosts = ofSet?.get(demand.name);
    if (hosts === undefined) return ranked;
    // If several jobs have the same name, the first one counts as running there.
    ofSet?.delete(demand.name);
    const { nodeCount, iterations } = demand;
    const placed: readonly PlacedSlots[] = hosts
      .slice(0, nodeCount ?? iterations)
      .map((hostname) => ({ hostname, iterations: nodeCount === undefined ? 1 : iterations }));
    return { set, demand: { ...demand, placed } };
  });
}

/** Hosts by set and name of the job. */
function hostsOfJobs(reported: readonly ReportedHost[]): ReadonlyMap<SetName, Map<string, string[]>> {
  const hostsOf = new Map<SetName, Map<string, string[]>>();
  for (const { hostname, by } of reported)
    for (const { set, jobs } of by) {
      if (jobs.length === 0) continue;
      const ofSet = hostsOf.get(set) ?? new Map<string, string[]>();
      hostsOf.set(set, ofSet);
      for (const job of jobs) {
        const hosts = ofSet.get(job);
        if (hosts === undefined) ofSet.set(job, [hostname]);
        else if (!hosts.includes(hostname)) hosts.push(hostname);
      }
    }
  return hostsOf;
}
