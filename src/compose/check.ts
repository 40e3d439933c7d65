import { systemClock } from "../adapters/system/clock.ts";
import type { ClusterCheck } from "../app/check-cluster.ts";
import { checkClusters } from "../app/check-cluster.ts";
import { readSites } from "../config.ts";
import type { Policy } from "../domain/policy.ts";
import { ownIdentity } from "./identity.ts";
import { openSite } from "./open-site.ts";

/** The subject of a check, and its configuration. */
export interface CheckRequest {
  /** App settings. Only AUTOSCALER_CLUSTERS and the passwords that it names are read. Absent: the environment of this process. */
  readonly settings?: Readonly<Record<string, string | undefined>>;
  /** Absent: all of AUTOSCALER_CLUSTERS. */
  readonly cluster?: string;
  readonly policy: Policy;
}

/**
 * Reads the clusters of the app settings from CycleCloud, with no storage and no app behind it, and says what the policy would make of
 * them. Writes nothing anywhere. A cluster that the settings do not have gives an empty list. Throws ConfigError.
 */
export async function check({ settings, cluster, policy }: CheckRequest): Promise<readonly ClusterCheck[]> {
  const clusters = readSites(settings).filter(({ name }) => cluster === undefined || name === cluster);
  const sites = clusters.map((site) => openSite(site, {}, () => undefined, ownIdentity));
  const checks = await checkClusters(sites, policy, systemClock());
  return checks.map((checked) =>
    withTrust(checked, clusters.find(({ name }) => name === checked.cluster)?.ca?.found),
  );
}

/** Says which certificates were trusted, where the settings name some. */
function withTrust(checked: ClusterCheck, found: string | undefined): ClusterCheck {
  if (found === undefined) return checked;
  return checked.kind === "read"
    ? { ...checked, notes: [...checked.notes, `ca: ${found}`] }
    : { ...checked, message: `${checked.message} (ca: ${found})` };
}

/** The clusters that the app settings name. Throws ConfigError. */
export function checkableClusters({ settings }: Pick<CheckRequest, "settings">): readonly string[] {
  return readSites(settings).map(({ name }) => name);
}
