import type { Bodies } from "../../domain/bodies.ts";
import type { SchedulerNode } from "../../domain/demand.ts";
import type { SetName } from "../../domain/ids.ts";
import type { Held } from "../../domain/request-sets.ts";
import { reportsOf } from "../../domain/request-sets.ts";
import type { Instant } from "../../domain/units.ts";
import { NO_SENDER_RULES, type SenderRules } from "../../domain/sender-rules.ts";
import { compareText } from "../../domain/text.ts";
import type { HostAmounts } from "./host-view.ts";
import { hostKey } from "../../domain/hosts.ts";
import { mayReportHosts, mayWrite } from "../senders/sender-rule.ts";
import { freshReport } from "../senders/host-facts.ts";

/**
 * A host that a scheduler reports with amounts: what it has, or what is left. Hosts without amounts are not read here. If another live set
 * reports the host too, or has jobs placed there, nothing is left, because it is unknown which report is right.
 */
export interface ReportedHost extends HostAmounts {
  readonly hostname: string;
  /** The sets that report it with amounts, the latest report first. Reports of the same moment are in the order of the sets' names. */
  readonly by: readonly { readonly set: SetName; readonly jobs: readonly string[] }[];
  /** False if its reports say that it takes no jobs. */
  readonly open: boolean;
  /** The host in the report of each set, because a host that CycleCloud does not know counts for that set only. Absent: one set reports it. */
  readonly bySet?: readonly ReportedHost[];
}

/** Hosts by {@link hostKey}. */
export type ReportedHosts = ReadonlyMap<string, ReportedHost>;

const NONE: ReportedHosts = new Map();

/**
 * The hosts with amounts in all reports in force. A report is in force while it is younger than two intervals of its set and the set is live, as
 * for busyness. The order of messages does not matter. Sets that may report no hosts by `senders` are left out.
 */
export function reportedHosts(
  record: Held,
  bodies: Pick<Bodies, "demands" | "reports">,
  now: Instant,
  senders: SenderRules = NO_SENDER_RULES,
): ReportedHosts {
  const fresh = [...reportsOf(record)]
    .filter(([, entry]) => entry.live && entry.expiresAt > now && entry.report !== undefined)
    .filter(([set]) => mayReportHosts(senders, set))
    .toSorted(([a, one], [b, other]) => other.sentAt - one.sentAt || compareText(a, b))
    .map(([set, entry]): Fresh => ({ set, hosts: freshReport(entry, bodies, now) }));
  const found = new Map<string, ReportedHost[]>();
  for (const { set, hosts } of fresh) {
    for (const host of hosts) {
      if (host.resources === undefined && host.available === undefined) continue;
      const key = hostKey(host.hostname);
      const others = found.get(key);
      if (others === undefined) found.set(key, [asReported(host, set)]);
      else others.push(asReported(host, set));
    }
  }
  if (found.size === 0) return NONE;
  const shared = findShared(found, fresh, placedBy(record, bodies, now, senders));
  return new Map([...found].map(([key, bySet]) => [key, joinReports(bySet, { isShared: shared.has(key) })]));
}

interface Fresh {
  readonly set: SetName;
  readonly hosts: readonly SchedulerNode[];
}

function asReported(
  { hostname, jobs, state, resources, available }: SchedulerNode,
  set: SetName,
): ReportedHost {
  return {
    hostname,
    resources: resources ?? NO_AMOUNTS,
    available: available ?? NO_AMOUNTS,
    by: [{ set, jobs }],
    open: state === undefined || state === "open",
  };
}

/** The host by all its reports together. */
function joinReports(
  bySet: readonly ReportedHost[],
  { isShared }: { readonly isShared: boolean },
): ReportedHost {
  const [latest, ...others] = bySet;
  if (latest === undefined) throw new Error("a host without a report");
  if (others.length === 0 && !isShared) return latest;
  return {
    hostname: latest.hostname,
    resources: NO_AMOUNTS,
    available: NO_AMOUNTS,
    by: bySet.flatMap(({ by }) => by),
    // A set cannot close the host for the others.
    open: bySet.some(({ open }) => open),
    bySet,
  };
}

/** Hosts that another live set reports, with or without amounts, or has jobs placed on. */
function findShared(
  found: ReadonlyMap<string, readonly ReportedHost[]>,
  fresh: readonly Fresh[],
  placed: Iterable<readonly [SetName, string]>,
): ReadonlySet<string> {
  const shared = new Set<string>();
  const note = (set: SetName, hostname: string): void => {
    const key = hostKey(hostname);
    const known = found.get(key);
    if (known?.some(({ by }) => by.some((one) => one.set !== set)) === true) shared.add(key);
  };
  if (fresh.length > 1)
    for (const { set, hosts } of fresh) for (const { hostname } of hosts) note(set, hostname);
  for (const [set, hostname] of placed) note(set, hostname);
  return shared;
}

function* placedBy(
  { sets }: Held,
  { demands }: Pick<Bodies, "demands">,
  now: Instant,
  senders: SenderRules,
): Generator<readonly [SetName, string]> {
  for (const [set, entry] of sets) {
    if (!entry.live || entry.expiresAt <= now || !mayWrite(senders, set)) continue;
    for (const demand of demands.get(entry.digest)?.demands ?? [])
      if (demand.kind === "job") for (const { hostname } of demand.placed) yield [set, hostname];
  }
}

const NO_AMOUNTS: HostAmounts["resources"] = {};
