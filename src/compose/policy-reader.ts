import type { Clock, Log, PolicyReader } from "../app/ports/ports.ts";
import type { Documents } from "../app/ports/record-store.ts";
import type { Config } from "../config.ts";
import type { Trial } from "../config/local-settings.ts";
import { insecurities } from "../config/public-url.ts";
import { documentDigest } from "../domain/config-version.ts";
import type { ClusterName } from "../domain/ids.ts";
import type { Mode } from "../domain/mode.ts";
import type { Policy } from "../domain/policy.ts";
import { DEFAULT_POLICY, observing } from "../domain/policy.ts";
import { refusalText } from "../wire/policy/refusals.ts";
import { readPolicy } from "../wire/policy/policy.ts";
import { writeWithMode } from "../wire/policy/write-policy.ts";
import type { Instant, Milliseconds } from "../domain/units.ts";

/** Maximum age of a configuration in this process. */
const POLICY_AGE_MS: Milliseconds = 15_000;

/**
 * Reads a cluster's configuration. A document that cannot be read (a newer release wrote it) is logged, and in force as one that only
 * observes, because it may say not to act (docs/protocol.md, Configuration; docs/decisions.md, "A configuration that cannot be read is in
 * force as observe").
 */
export function policyReader(
  documents: Documents,
  clock: Clock,
  log: Log,
  adjust: (policy: Policy, cluster: ClusterName) => Policy,
  defaultMode: Mode,
): PolicyReader {
  const known = new Map<ClusterName, { readonly policy: Policy; readonly at: number }>();
  return async (cluster, how = "recent") => {
    const held = known.get(cluster);
    const now = clock.now();
    if (how === "recent" && held !== undefined && now - held.at < POLICY_AGE_MS) return held.policy;
    if (how === "with-mode") await writeModeOnce(documents, cluster, defaultMode, clock.now());
    const text = (await documents.read(cluster))?.text;
    const read = policyFrom(text, held?.policy, cluster, log, defaultMode);
    const policy = adjust({ ...read, document: documentDigest(text) }, cluster);
    known.set(cluster, { policy, at: now });
    return policy;
  };
}

/**
 * Writes the mode of the app setting into a document that gives none, so that no later setting changes it. A change that comes first is left
 * as it is: it says what counts.
 */
async function writeModeOnce(
  documents: Documents,
  cluster: ClusterName,
  defaultMode: Mode,
  at: Instant,
): Promise<void> {
  const held = await documents.read(cluster);
  const read = readPolicy(held?.text ?? {}, defaultMode, "store");
  if (read.kind === "problems" || read.policy.modeIsDefault !== true) return;
  const text = JSON.stringify(writeWithMode(read.policy));
  await documents.write(cluster, text, held?.etag, { at, who: "written at the beginning" });
}

/** Adds to a configuration the app settings about its cluster's server and about the whole app. */
export function adjusted({
  clusters,
  trial,
  publicUrl,
}: Pick<Config, "clusters" | "trial" | "publicUrl">): (policy: Policy, cluster: ClusterName) => Policy {
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
  // A trial leaves no mode in the configuration, so it needs none.
  return ({ modeIsDefault: _said, ...policy }) => ({
    ...(trial === "act" ? policy : observing(policy)),
    exclusiveArrays: [],
  });
}

function policyFrom(
  text: string | undefined,
  held: Policy | undefined,
  cluster: ClusterName,
  log: Log,
  defaultMode: Mode,
): Policy {
  const read = readPolicy(text ?? {}, defaultMode, "store");
  if (read.kind === "policy")
    return read.refused.length === 0
      ? read.policy
      : { ...read.policy, refused: read.refused.map(refusalText) };
  log("configuration-unreadable", { cluster, problems: read.problems });
  return observing(held ?? DEFAULT_POLICY);
}
