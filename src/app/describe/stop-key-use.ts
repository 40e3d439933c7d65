import type { ClusterRecord, StopKeyUse } from "../../domain/record.ts";
import type { StopKeyShown } from "../../wire/api/cluster-nodes.ts";
import type { StopKeys } from "../ports/site.ts";

/** Keys of stop URLs: which of them live nodes carry, and whether the app settings still have them. */

/** The lines of the state page: by key id, the signing key first. */
export function describeStopKeys(
  { stopKeys: used = [] }: ClusterRecord,
  configured: StopKeys | undefined,
): readonly StopKeyShown[] {
  const counts = new Map(used.map(({ keyId, nodes }) => [keyId, nodes]));
  const ids = new Set([...(configured?.accepted ?? []), ...used.flatMap(({ keyId }) => keyId ?? [])]);
  const lines = [...ids].map((keyId): StopKeyShown => ({
    keyId,
    nodes: counts.get(keyId) ?? 0,
    configured: configured?.accepted.includes(keyId),
    signing: configured?.signing === keyId ? true : undefined,
  }));
  const unknown = counts.get(undefined);
  if (unknown === undefined) return lines;
  return [...lines, { keyId: undefined, nodes: unknown, configured: undefined, signing: undefined }];
}

/** Keys that live nodes carry and that are missing from the app settings: those nodes can never ask to be stopped. */
export function retiredKeys(
  { stopKeys: used = [] }: Pick<ClusterRecord, "stopKeys">,
  configured: StopKeys | undefined,
): readonly StopKeyUse[] {
  if (configured === undefined) return [];
  return used.filter(({ keyId }) => keyId !== undefined && !configured.accepted.includes(keyId));
}

export function retiredKeyText({ keyId, nodes }: StopKeyUse): string {
  const many = nodes === 1 ? "1 live node carries" : `${nodes} live nodes carry`;
  return `${many} a stop URL of key "${keyId}", which AUTOSCALER_AUTOSTOP_KEYS does not have: the calls are refused. Put the key back until no live node carries it`;
}
