import { createHmac, timingSafeEqual } from "node:crypto";
import type { ArrayName, ClusterName } from "../../domain/ids.ts";
import { withoutSlashesAtEnd } from "../../domain/text.ts";

/**
 * Secrets that sign autostop URLs. New URLs are signed with `current`. The others are accepted until no live node has them
 * (architecture.md, Autostop).
 */
interface AutostopKeys {
  readonly current: string;
  /** Secrets by key id. An id is part of URLs, so it has only letters, digits, "-" and "_". */
  readonly byId: ReadonlyMap<string, string>;
}

/** 128 bits: as many as a random id has, and short enough for a URL. */
const TOKEN_BYTES = 16;

/**
 * The URL that every node of an array calls to ask whether it may stop. Throws a RangeError if the current key is not among the keys,
 * because such a configuration must not start.
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
  return `${withoutSlashesAtEnd(publicUrl)}/api/autostop/${encodeURIComponent(cluster)}/${token}`;
}

/**
 * The array whose nodes have this token (docs/decisions.md, "Array names are not part of the stop URL"). Undefined if its key is unknown,
 * or if it is forged, of another cluster, or of an array that is not in `arrays`. All arrays are compared, each in constant time, so that
 * the time taken reveals nothing.
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

/** The id of the key that signed a stop URL for this array. Undefined if the text is no such URL, or its key is unknown. */
function stopKeyOf(
  url: string,
  cluster: ClusterName,
  array: ArrayName,
  keys: AutostopKeys,
): string | undefined {
  const token = url.slice(url.lastIndexOf("/") + 1);
  const isOfArray = verifyToken(token, cluster, [array], keys) !== undefined;
  return isOfArray ? token.slice(0, token.lastIndexOf(".")) : undefined;
}

/** Maximum number of URLs whose keys are remembered. A cluster has one URL for each array and key. */
const MOST_REMEMBERED = 1000;

/** {@link stopKeyOf} with a memory, because most nodes of a cluster have the same few URLs. */
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
  // Decoding ignores stray characters, so the text must also equal its encoding.
  const given = Buffer.from(token.slice(dot + 1), "base64url");
  const isWhole = given.length === TOKEN_BYTES && given.toString("base64url") === token.slice(dot + 1);
  return secret === undefined || !isWhole ? undefined : { secret, given };
}

function sign(secret: string, cluster: ClusterName, array: ArrayName): Buffer {
  return createHmac("sha256", secret).update(`${cluster}\n${array}`).digest().subarray(0, TOKEN_BYTES);
}
