import { wakeLater } from "../src/app/demand/wake-later.ts";
import { unlessOtherState } from "../src/app/record/load-record.ts";
import { noteFailure } from "../src/app/record/commit.ts";
import { reconcileCluster } from "../src/app/reconcile/reconcile-cluster.ts";
import type { Composition } from "../src/compose.ts";
import type { ClusterName } from "../src/domain/ids.ts";

/**
 * Makes a plan for demand. `known`: the record that contains it. Does nothing for an unknown cluster. Never throws: the demand is durable
 * or there was none, so a failure concerns the cluster and not a message, and the next tick tries again.
 */
export async function reconcileDemand(
  composed: Composition,
  cluster: ClusterName,
  known?: Parameters<typeof reconcileCluster>[3],
): Promise<void> {
  const { log, sites } = composed.app.ports;
  const site = sites.get(cluster);
  if (site === undefined) return;
  try {
    const outcome = await unlessOtherState(() => reconcileCluster(composed.app, site, "demand", known));
    // The newer release's timer continues from here.
    if (outcome.kind === "other-state") log("reconcile-left-to-other-release", { cluster });
  } catch (error) {
    await noteFailure(composed.app, cluster, "reconcile-failed", error);
  }
}

/**
 * After a change of the configuration: this process forgets the one that it held, and a plan begins, as for new demand. Throws PortError of
 * the store.
 */
export async function planUnderChange(composed: Composition, cluster: ClusterName): Promise<void> {
  const { app, background } = composed;
  await app.ports.policyOf(cluster, "now");
  background.start(cluster, () => reconcileDemand(composed, cluster));
  await wakeLater(app.ports, cluster);
}
