import type { Clock } from "../app/ports/clock.ts";
import type { Documents } from "../app/ports/documents.ts";
import type { Log } from "../app/ports/log.ts";
import type { Ports } from "../app/ports/ports.ts";
import type { Config } from "../config.ts";
import type { Trial } from "../config/local-settings.ts";
import { insecurities } from "../config/public-url.ts";
import type { ClusterName } from "../domain/ids.ts";
import type { Mode } from "../domain/mode.ts";
import type { Policy } from "../domain/policy.ts";
import { DEFAULT_POLICY, observing } from "../domain/policy.ts";
import { readPolicy } from "../wire/policy/policy.ts";
import type { Milliseconds } from "../domain/units.ts";

/** Maximum age of a configuration in this process. */
const POLICY_AGE_MS: Milliseconds = 15_000;

/**
 * Reads a cluster's configuration. If a document cannot be read (a newer release wrote it), logs that and keeps the last readable one.
 * Without one, the app only observes: the defaults would act where the operator may have decided against it.
 */
export function policyReader(
  documents: Documents,
  clock: Clock,
  log: Log,
  adjust: (policy: Policy, cluster: ClusterName) => Policy,
  defaultMode: Mode,
): Ports["policyOf"] {
  const known = new Map<ClusterName, { readonly policy: Policy; readonly at: number }>();
  return async (cluster) => {
    const held = known.get(cluster);
    const now = clock.now();
    if (held !== undefined && now - held.at < POLICY_AGE_MS) return held.policy;
    const policy = adjust(
      policyFrom(await documents.read(cluster), held?.policy, cluster, log, defaultMode),
      cluster,
    );
    known.set(cluster, { policy, at: now });
    return policy;
  };
}

/** Adds to a configuration the app settings about its cluster's server and about the whole app. */
export function adjusted({
  clusters,
  trial,
  publicUrl,
}: Config): (policy: Policy, cluster: ClusterName) => Policy {
  const settingsOf = new Map(
    clusters.map((cluster) => {
      const insecure = insecurities(cluster, publicUrl);
      return [cluster.name, { ...cluster.bounds, ...(insecure.length === 0 ? {} : { insecure }) }];
    }),
  );
  const tried = onTrial(trial);
  return (policy, cluster) => tried({ ...policy, ...settingsOf.get(cluster) });
}

/** The change that a trial on a laptop makes to every configuration. */
function onTrial(trial: Trial | undefined): (policy: Policy) => Policy {
  if (trial === undefined) return (policy) => policy;
  return (policy) => ({ ...(trial === "act" ? policy : observing(policy)), exclusiveArrays: [] });
}

function policyFrom(
  document: { readonly text: string } | undefined,
  held: Policy | undefined,
  cluster: ClusterName,
  log: Log,
  defaultMode: Mode,
): Policy {
  const read = readPolicy(document?.text ?? {}, defaultMode);
  if (read.kind === "policy") return read.policy;
  log("configuration-unreadable", { cluster, problems: read.problems });
  return held ?? observing(DEFAULT_POLICY);
}
