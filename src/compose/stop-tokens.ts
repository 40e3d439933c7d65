import { hasKnownKey, verifyToken } from "../decide/autostop/autostop-token.ts";
import type { ArrayName, ClusterName } from "../domain/ids.ts";
import type { Composition } from "./composition.ts";

/** Whether a token has the right form and a known key. Needs no storage, so it is checked first. */
export function mayBeAutostopToken({ autostopKeys }: Composition, token: string): boolean {
  return autostopKeys !== undefined && hasKnownKey(token, autostopKeys);
}

/** The array whose nodes carry this autostop token; undefined if it is not valid. */
export function verifyAutostopToken(
  composed: Composition,
  token: string,
  cluster: ClusterName,
  arrays: readonly ArrayName[],
): ArrayName | undefined {
  return composed.autostopKeys === undefined
    ? undefined
    : verifyToken(token, cluster, arrays, composed.autostopKeys);
}
