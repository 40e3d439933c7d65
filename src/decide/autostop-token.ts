import { createHmac, timingSafeEqual } from "node:crypto";
import type { ArrayName, ClusterName } from "../domain/ids.ts";

/** Secrets that sign autostop URLs. New URLs carry `current`; the others are accepted until no live node carries them (architecture.md, Autostop). */
export interface AutostopKeys {
  readonly current: string;
  /** Key id -> secret. An id goes into URLs as it is, so: letters, digits, "-" and "_". */
  readonly byId: ReadonlyMap<string, string>;
}

/** 128 bits: as much as a random id, and short enough for a URL. */
const tokenBytes = 16;

/**
 * The URL that every node of an array calls to ask whether it may stop. Throws if the current key is not among the keys: such a
 * configuration must not start.
 */
export function autostopPath(
  publicUrl: string,
  cluster: ClusterName,
  array: ArrayName,
  keys: AutostopKeys,
): string {
  const secret = keys.byId.get(keys.current);
  if (secret === undefined) throw new RangeError(`no autostop key has the id ${keys.current}`);
  const token = `${keys.current}.${sign(secret, cluster, array).toString("base64url")}`;
  return `${publicUrl.replace(/\/+$/, "")}/api/autostop/${encodeURIComponent(cluster)}/${token}`;
}

/**
 * The array whose nodes carry this token, or undefined: unknown key, forged, of another cluster, or of an array that is not in `arrays`.
 * Every array is compared, each in constant time, so that the time taken tells a guesser nothing.
 */
export function verifyToken(
  token: string,
  cluster: ClusterName,
  arrays: readonly ArrayName[],
  keys: AutostopKeys,
): ArrayName | undefined {
  const read = readToken(token, keys);
  if (read === undefined) return undefined;
  let found: ArrayName | undefined;
  for (const array of arrays) {
    if (timingSafeEqual(sign(read.secret, cluster, array), read.given)) found = array;
  }
  return found;
}

/** The id of the key that signed a stop URL for this array; undefined: the text is no such URL, or its key is not known. */
export function stopKeyOf(
  url: string,
  cluster: ClusterName,
  array: ArrayName,
  keys: AutostopKeys,
): string | undefined {
  const token = url.slice(url.lastIndexOf("/") + 1);
  const isOfArray = verifyToken(token, cluster, [array], keys) !== undefined;
  return isOfArray ? token.slice(0, token.lastIndexOf(".")) : undefined;
}

/** Different URLs whose keys are remembered: a cluster has one for each array and key. */
const MOST_REMEMBERED = 1000;

/** {@link stopKeyOf} for the nodes of one cluster, of which most carry the same few URLs. */
export function stopKeyReader(
  cluster: ClusterName,
  keys: AutostopKeys,
): (array: ArrayName, url: string) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (array, url) => {
    const id = `${array}\n${url}`;
    if (!known.has(id)) {
      if (known.size >= MOST_REMEMBERED) known.clear();
      known.set(id, stopKeyOf(url, cluster, array, keys));
    }
    return known.get(id);
  };
}

/** Whether the token has the form of one that was signed with one of these keys. */
export function hasKnownKey(token: string, keys: AutostopKeys): boolean {
  return readToken(token, keys) !== undefined;
}

function readToken(
  token: string,
  keys: AutostopKeys,
): { readonly secret: string; readonly given: Buffer } | undefined {
  const dot = token.lastIndexOf(".");
  const secret = keys.byId.get(token.slice(0, Math.max(0, dot)));
  // Decoding is lenient about stray characters, so the text must also be the one that encoding gives.
  const given = Buffer.from(token.slice(dot + 1), "base64url");
  const isWhole = given.length === tokenBytes && given.toString("base64url") === token.slice(dot + 1);
  return secret === undefined || !isWhole ? undefined : { secret, given };
}

function sign(secret: string, cluster: ClusterName, array: ArrayName): Buffer {
  return createHmac("sha256", secret).update(`${cluster}\n${array}`).digest().subarray(0, tokenBytes);
}
