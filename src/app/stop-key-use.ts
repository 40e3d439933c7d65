import type { ClusterRecord, StopKeyUse } from "../domain/record.ts";
import type { StopKeys } from "./ports/site.ts";

/** Keys of stop URLs: which of them live nodes carry, and whether the app settings still have them. */

/** One line of the state page: by key id, the signing key first. */
export interface DescribedStopKey {
  /** Absent: the key of these nodes is unknown, or they have no stop URL. */
  readonly keyId?: string;
  readonly nodes: number;
  /** The calls of these nodes are answered. */
  readonly configured?: boolean;
  /** New nodes get this key. */
  readonly signing?: true;
}

export function describeStopKeys(
  { stopKeys: used = [] }: ClusterRecord,
  configured: StopKeys | undefined,
): readonly DescribedStopKey[] {
  const counts = new Map(used.map(({ keyId, nodes }) => [keyId, nodes]));
  const ids = new Set([...(configured?.accepted ?? []), ...used.flatMap(({ keyId }) => keyId ?? [])]);
  const lines = [...ids].map((keyId): DescribedStopKey => ({
    keyId,
    nodes: counts.get(keyId) ?? 0,
    ...(configured === undefined ? {} : { configured: configured.accepted.includes(keyId) }),
    ...(configured?.signing === keyId ? { signing: true } : {}),
  }));
  const unknown = counts.get(undefined);
  return unknown === undefined ? lines : [...lines, { nodes: unknown }];
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
