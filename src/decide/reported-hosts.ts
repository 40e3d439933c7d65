import type { Bodies } from "../domain/bodies.ts";
import type { SetName } from "../domain/ids.ts";
import type { ClusterRecord, Held } from "../domain/record.ts";
import { reportsOf } from "../domain/record.ts";
import type { Instant } from "../domain/units.ts";
import { compareText } from "../domain/text.ts";
import type { HostAmounts } from "./host-view.ts";
import { hostKey } from "./hosts.ts";
import { freshReport, nextLapse } from "./observe.ts";

/** A host of which a scheduler says what it has or what is left of it. Hosts without such amounts are not read here, and cost nothing. */
export interface ReportedHost extends HostAmounts {
  readonly hostname: string;
  /** Who reports it, the latest report first: the amounts are from that one. Of one moment the first by name is the latest. */
  readonly by: readonly { readonly set: SetName; readonly jobs: readonly string[] }[];
  /** No report says that it takes no jobs. */
  readonly open: boolean;
}

/** Hosts by their key: see {@link hostKey}. */
export type ReportedHosts = ReadonlyMap<string, ReportedHost>;

const NONE: ReportedHosts = new Map();

/**
 * The hosts with amounts in all reports in force. A report counts as long as for busyness: while it is younger than two intervals of its set,
 * and its set is live. The order in which messages came does not matter.
 */
export function reportedHosts(
  record: Held,
  { reports }: Pick<Bodies, "reports">,
  now: Instant,
): ReportedHosts {
  const { sets, separateReports } = record;
  const known = collected.get(sets);
  const isSame = known?.reports === reports && known.separateReports === separateReports;
  if (isSame && known.from <= now && now < known.until) return known.hosts;
  const hosts = collectHosts(reportsOf(record), reports, now);
  collected.set(sets, { reports, separateReports, hosts, from: now, until: nextLapse(record, now) });
  return hosts;
}

interface Collected extends Pick<Bodies, "reports">, Pick<ClusterRecord, "separateReports"> {
  readonly hosts: ReportedHosts;
  readonly from: Instant;
  readonly until: number;
}

/** The sets of a record are looked at several times before they change. */
const collected = new WeakMap<ClusterRecord["sets"], Collected>();

function collectHosts(
  inForce: ReturnType<typeof reportsOf>,
  reports: Bodies["reports"],
  now: Instant,
): ReportedHosts {
  const fresh = [...inForce]
    .filter(([, entry]) => entry.live && entry.expiresAt > now && entry.report !== undefined)
    .toSorted(([a, one], [b, other]) => other.sentAt - one.sentAt || compareText(a, b));
  type Growing = { -readonly [K in keyof ReportedHost]: ReportedHost[K] } & {
    by: ReportedHost["by"][number][];
  };
  let hosts: Map<string, Growing> | undefined;
  for (const [set, entry] of fresh) {
    for (const { hostname, jobs, state, resources, available } of freshReport(entry, { reports }, now)) {
      if (resources === undefined && available === undefined) continue;
      hosts ??= new Map();
      const key = hostKey(hostname);
      const isOpen = state === undefined || state === "open";
      const known = hosts.get(key);
      if (known === undefined)
        hosts.set(key, {
          hostname,
          resources: resources ?? NO_AMOUNTS,
          available: available ?? NO_AMOUNTS,
          by: [{ set, jobs }],
          open: isOpen,
        });
      else {
        known.by.push({ set, jobs });
        known.open &&= isOpen;
      }
    }
  }
  return hosts ?? NONE;
}

const NO_AMOUNTS: HostAmounts["resources"] = {};
