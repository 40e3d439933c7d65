import { renderStanding } from "../decide/explain-host.ts";
import { storedHosts } from "../decide/stored-world.ts";
import type { Bodies } from "../domain/bodies.ts";
import type { Policy } from "../domain/policy.ts";
import type { ClusterRecord } from "../domain/record.ts";
import { writeResources } from "../domain/resources.ts";
import type { Instant } from "../domain/units.ts";

/** The most jobs that are shown of one host. */
const SHOWN_JOBS = 10;

/** Hosts that are reported with resources and are no nodes of the cluster: whether each is capacity, and if not, why. */
export function describeSchedulerHosts(
  record: ClusterRecord,
  bodies: Bodies,
  policy: Policy,
  now: Instant,
  shown: number,
): Readonly<Record<string, unknown>> {
  const { others } = storedHosts(record, bodies, policy, now);
  return {
    count: others.length,
    capacity: others.filter(({ standing }) => standing === "capacity").length,
    list: others.slice(0, shown).map(({ host, standing }) => {
      const jobs = [...new Set(host.by.flatMap((one) => one.jobs))];
      return {
        hostname: host.hostname,
        requestSets: [...new Set(host.by.map(({ set }) => set))],
        standing,
        resources: writeResources(host.resources),
        available: writeResources(host.available),
        jobs: jobs.slice(0, SHOWN_JOBS),
        moreJobs: Math.max(0, jobs.length - SHOWN_JOBS),
        why: renderStanding(standing),
      };
    }),
  };
}
