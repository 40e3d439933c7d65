/** Keys of a host, and what each of them opens (platform.md section 3, "HTTP"). */
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";

export type HostKeys = {
  /** Opens every function and the admin routes. */
  readonly master: string;
  /** Opens every function of level "function". */
  readonly host: string;
  /** Keys that open one function of level "function", by its name: several for one, and one value on several, as in Azure. */
  readonly functions?: Readonly<Record<string, readonly string[]>>;
};
export type AuthLevel = "anonymous" | "function" | "admin";

export function createKeys(): HostKeys {
  const key = () => randomBytes(30).toString("base64url");
  return { master: key(), host: key() };
}

/** The key a request brings: the header `x-functions-key`, else the query parameter `code`. */
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
  if (level === "anonymous") return true;
  if (key === undefined) return false;
  if (isSame(key, keys.master)) return true;
  const own = keys.functions?.[functionName] ?? [];
  return level === "function" && [keys.host, ...own].some((one) => isSame(key, one));
}

/** Compared as digests, in a time that does not depend on where they differ. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
