import type { Bodies } from "../../domain/bodies.ts";
import type { SchedulerNode } from "../../domain/demand.ts";
import type { SetName } from "../../domain/ids.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Held } from "../../domain/request-sets.ts";
import { reportsOf } from "../../domain/request-sets.ts";
import type { Instant } from "../../domain/units.ts";
import { NO_SENDER_RULES, type SenderRules } from "../../domain/sender-rules.ts";
import { compareText } from "../../domain/text.ts";
import type { HostAmounts } from "./host-view.ts";
import { hostKey } from "../../domain/hosts.ts";
import { mayReportHosts, mayWrite } from "../senders/sender-rule.ts";
import { freshReport, nextLapse } from "../senders/host-facts.ts";

/**
 * A host of which a scheduler says what it has or what is left of it. Hosts without such amounts are not read here, and cost nothing.
 * The amounts are nothing where another live set reports the host too, or has jobs placed there: nobody can say whose word counts.
 */
export interface ReportedHost extends HostAmounts {
  readonly hostname: string;
  /** Who reports it with amounts, the latest report first. Of one moment the first by name is the latest. */
  readonly by: readonly { readonly set: SetName; readonly jobs: readonly string[] }[];
  /** No report says that it takes no jobs. */
  readonly open: boolean;
  /** Several sets report it: as each of them does, as a host that CycleCloud does not know counts for that set only. Absent: one does. */
  readonly bySet?: readonly ReportedHost[];
}

/** Hosts by their key: see {@link hostKey}. */
export type ReportedHosts = ReadonlyMap<string, ReportedHost>;

const NONE: ReportedHosts = new Map();

/**
 * The hosts with amounts in all reports in force. A report counts as long as for busyness: while it is younger than two intervals of its set,
 * and its set is live. The order in which messages came does not matter. Sets whose rule in `senders` lets them report no hosts say nothing.
 */
export function reportedHosts(
  record: Held,
  { demands, reports }: Pick<Bodies, "demands" | "reports">,
  now: Instant,
  senders: SenderRules = NO_SENDER_RULES,
): ReportedHosts {
  const { sets, separateReports } = record;
  const known = collected.get(sets);
  const isSame =
    known?.reports === reports &&
    known.demands === demands &&
    known.separateReports === separateReports &&
    known.senders === senders;
  if (isSame && known.from <= now && now < known.until) return known.hosts;
  const hosts = collectHosts(record, { demands, reports }, now, senders);
  const from = { demands, reports, separateReports, senders };
  collected.set(sets, { ...from, hosts, from: now, until: nextLapse(record, now) });
  return hosts;
}

interface Collected extends Pick<Bodies, "demands" | "reports">, Pick<ClusterRecord, "separateReports"> {
  readonly senders: SenderRules;
  readonly hosts: ReportedHosts;
  readonly from: Instant;
  readonly until: number;
}

/** The sets of a record are looked at several times before they change. */
const collected = new WeakMap<ClusterRecord["sets"], Collected>();

interface Fresh {
  readonly set: SetName;
  readonly hosts: readonly SchedulerNode[];
}

function collectHosts(
  record: Held,
  bodies: Pick<Bodies, "demands" | "reports">,
  now: Instant,
  senders: SenderRules,
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
  return new Map([...found].map(([key, bySet]) => [key, joined(bySet, shared.has(key))]));
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

/** A host as all its reports together have it. */
function joined(bySet: readonly ReportedHost[], isShared: boolean): ReportedHost {
  const [latest, ...others] = bySet;
  if (latest === undefined) throw new Error("a host that nobody reports");
  if (others.length === 0 && !isShared) return latest;
  return {
    hostname: latest.hostname,
    resources: NO_AMOUNTS,
    available: NO_AMOUNTS,
    by: bySet.flatMap(({ by }) => by),
    // Where sets differ, none of them closes it for the others.
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
