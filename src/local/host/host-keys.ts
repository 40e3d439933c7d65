/** Keys of a host, and the functions that each of them opens (platform.md section 3, "HTTP"). */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

export type HostKeys = {
  /** Opens every function and the admin routes. */
  readonly master: string;
  /** Opens every function of level "function". */
  readonly host: string;
  /** Keys for single functions of level "function", by the function's name. One value may be a key of several functions, as in Azure. */
  readonly functions?: Readonly<Record<string, readonly string[]>>;
};
export type AuthLevel = "anonymous" | "function";

/** New random keys, as the platform makes them for a new app. */
export function createKeys(): HostKeys {
  const key = () => randomBytes(30).toString("base64url");
  return { master: key(), host: key() };
}

/** The key in a request: the header `x-functions-key`, otherwise the query parameter `code`. */
export function keyOf(request: Request): string | undefined {
  return request.headers.get("x-functions-key") ?? new URL(request.url).searchParams.get("code") ?? undefined;
}

/** Whether `key` opens the function. */
export function opens(
  keys: HostKeys,
  key: string | undefined,
  level: AuthLevel,
  functionName: string,
): boolean {
  if (level === "anonymous" || opensAdmin(keys, key)) return true;
  if (key === undefined) return false;
  const own = keys.functions?.[functionName] ?? [];
  return [keys.host, ...own].some((one) => isSame(key, one));
}

/** Whether `key` opens the admin routes. */
export function opensAdmin(keys: HostKeys, key: string | undefined): boolean {
  return key !== undefined && isSame(key, keys.master);
}

/** Compares digests, so that the time does not depend on the position of the first difference. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
