import type { SetName } from "../../domain/ids.ts";
import type { Plan } from "../../domain/plan.ts";
import type { WrittenResources, Resources } from "../../domain/resources.ts";
import { writeResources } from "../../domain/resources.ts";
import type { LoadOfNode } from "./explained-demand.ts";
import { MOST_JOBS, jobsOn, loadText } from "./explained-demand.ts";
import type { ReportedHost } from "../world/reported-hosts.ts";
import type { JudgedHost, HostStanding } from "../world/scheduler-only.ts";
import type { HostAmounts } from "../world/host-view.ts";
import { hostKey, schedulerHostId, schedulerHostname } from "../../domain/hosts.ts";
import { someOf } from "../../domain/text.ts";
import { showText } from "../../domain/shown.ts";
import { valueText } from "../../domain/refusal.ts";

/** A host that only a scheduler knows: whether it is capacity, and which jobs are on it. */
export interface HostExplained extends LoadOfNode {
  readonly kind: "host";
  readonly hostname: string;
  /** The request sets that report it. Empty: it is not reported any more. */
  readonly requestSets: readonly SetName[];
  /** Undefined: it is not reported any more. */
  readonly standing: HostStanding | undefined;
  readonly resources: WrittenResources;
  readonly available: WrittenResources;
  /** The jobs that run there according to the scheduler. */
  readonly jobs: readonly string[];
  readonly text: string;
}

/** Maximum number of names in one sentence. */
const NAMED = 10;

/** Explains a host that only a scheduler knows. `judged`: the hosts that are reported now. Undefined if no report and no plan has this host. */
export function explainHost(
  plan: Plan,
  name: string,
  judged: readonly JudgedHost[],
): HostExplained | undefined {
  const key = hostKey(name);
  const ofName = judged.filter(({ host }) => hostKey(host.hostname) === key);
  const [known] = ofName;
  const hostname = known?.host.hostname ?? hostInPlan(plan, key);
  if (hostname === undefined) return undefined;
  const sets = [...new Set(ofName.flatMap(({ host }) => host.by.map(({ set }) => set)))];
  const jobs = [schedulerHostId(hostname), ...sets.map((set) => schedulerHostId(hostname, set))].flatMap(
    (id) => jobsOn(plan, id),
  );
  const told = {
    kind: "host",
    hostname,
    requestSets: sets,
    standing: known?.standing,
    resources: writeResources(firstResources(known?.host.resources ?? {})),
    available: writeResources(firstResources(known?.host.available ?? {})),
    jobs: [...new Set(known?.host.by.flatMap((one) => one.jobs) ?? [])].slice(0, MOST_JOBS),
    load: jobs.slice(0, MOST_JOBS),
    moreJobs: Math.max(0, jobs.length - MOST_JOBS),
  } as const;
  return { ...told, text: hostLines(told, known?.host).map(showText).join("\n") };
}

function hostInPlan({ loads }: Plan, key: string): string | undefined {
  for (const { nodeId } of loads?.loads ?? []) {
    const hostname = nodeId === undefined ? undefined : schedulerHostname(nodeId);
    if (hostname !== undefined && hostKey(hostname) === key) return hostname;
  }
  return undefined;
}

function hostLines(told: Omit<HostExplained, "text">, host: ReportedHost | undefined): readonly string[] {
  const { hostname, requestSets, standing, jobs } = told;
  const lines = [`host ${hostname}: no node of the cluster`];
  if (standing === undefined || host === undefined) lines.push("no report in force gives it resources");
  else {
    lines.push(`reported by ${someOf(requestSets, NAMED)}: ${renderHostStanding(standing)}`);
    lines.push(amountsText(host));
  }
  if (jobs.length > 0) lines.push(`its scheduler runs there: ${someOf(jobs, NAMED)}`);
  if (told.load.length > 0) lines.push(`on it by the plan: ${loadText(told)}`);
  return lines;
}

/** Whether a host is capacity, and why, in a sentence. */
export function renderHostStanding(standing: HostStanding): string {
  switch (standing) {
    case "capacity":
      return "capacity for the jobs of the request sets that report it, and never stopped by us";
    case "closed":
      return "no capacity, because its scheduler says that it takes no jobs";
    case "former-node":
      return "no capacity, because a node of the cluster has or had this name";
    case "named-as-a-node":
      return "no capacity, because CycleCloud gives such names to its nodes";
    case "load-unknown":
      return "no capacity, because neither its report nor the jobs say how much the jobs there take";
  }
}

/** The amounts that a scheduler reports of a host, in a sentence. */
export function amountsText({ resources, available }: HostAmounts): string {
  const has = listOf(firstResources(resources));
  const left = listOf(firstResources(available));
  if (left === "") return `its scheduler says that it has ${has}`;
  return has === ""
    ? `its scheduler says that it has left ${left}`
    : `its scheduler says that it has ${has}, and left ${left}`;
}

function listOf(resources: Resources): string {
  return Object.entries(resources)
    .map(([name, value]) => `${name} ${valueText(value)}`)
    .join(", ");
}

/** Maximum number of characters of the resources of one host in an explanation. A report may list 10,000 resources and long texts. */
const MOST_CHARACTERS = 20_000;

/** The first resources of a host, up to a readable length. */
export function firstResources(all: Resources): Resources {
  let characters = 0;
  const first = Object.entries(all).filter(([name, value]) => {
    characters += name.length + (typeof value === "string" ? value.length : 10);
    return characters <= MOST_CHARACTERS;
  });
  return first.length === Object.keys(all).length ? all : Object.fromEntries(first);
}
