import { renderStanding } from "../../decide/explain/explain-host.ts";
import type { JudgedHost } from "../../decide/world/scheduler-only.ts";
import { storedHosts } from "../../decide/need/stored-world.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { writeResources } from "../../domain/resources.ts";
import type { Instant } from "../../domain/units.ts";
import type { SchedulerHostShown, SchedulerHostsShown } from "../../wire/api/cluster-nodes.ts";
import type { Pages } from "./pages.ts";
import { firstBytes } from "./pages.ts";

/** Maximum number of jobs shown of one host. */
const SHOWN_JOBS = 10;
/** Resources and sets of one host are shown up to this many bytes. */
const SHOWN_BYTES = 4000;

/** Hosts that are reported with resources and are no nodes of the cluster: whether each is capacity, or why not. */
export function describeSchedulerHosts(
  record: ClusterRecord,
  bodies: Bodies,
  policy: Policy,
  now: Instant,
  pages: Pages,
): SchedulerHostsShown {
  const { others } = storedHosts(record, bodies, policy, now);
  return {
    count: others.length,
    capacity: others.filter(({ standing }) => standing === "capacity").length,
    list: pages.cut("schedulerHosts.list", others, describeHost, 0.5),
  };
}

function describeHost({ host, standing }: JudgedHost): SchedulerHostShown {
  const jobs = [...new Set(host.by.flatMap((one) => one.jobs))];
  const sets = [...new Set(host.by.map(({ set }) => set))];
  return {
    hostname: host.hostname,
    requestSets: firstBytes(sets, SHOWN_BYTES),
    standing,
    resources: firstMembers(writeResources(host.resources)),
    available: firstMembers(writeResources(host.available)),
    jobs: jobs.slice(0, SHOWN_JOBS),
    moreJobs: Math.max(0, jobs.length - SHOWN_JOBS),
    why: renderStanding(standing),
  };
}

function firstMembers<T>(all: Readonly<Record<string, T>>): Readonly<Record<string, T>> {
  return Object.fromEntries(firstBytes(Object.entries(all), SHOWN_BYTES));
}
