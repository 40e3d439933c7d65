/** The `Set-Cookie` header for a cookie in an app's answer (RFC 6265). */
import type { RpcCookie } from "./core.ts";

const sameSiteNames = { lax: "Lax", strict: "Strict", explicitNone: "None" };

export function setCookie(cookie: RpcCookie): string {
  const parts = [`${cookie.name}=${encodeURIComponent(cookie.value)}`];
  if (cookie.domain !== undefined) parts.push(`Domain=${cookie.domain.value}`);
  if (cookie.path !== undefined) parts.push(`Path=${cookie.path.value}`);
  if (cookie.expires !== undefined) {
    parts.push(`Expires=${new Date(cookie.expires.value.seconds * 1000).toUTCString()}`);
  }
  if (cookie.maxAge !== undefined) parts.push(`Max-Age=${cookie.maxAge.value}`);
  if (cookie.secure?.value === true) parts.push("Secure");
  if (cookie.httpOnly?.value === true) parts.push("HttpOnly");
  if (cookie.sameSite !== "none") parts.push(`SameSite=${sameSiteNames[cookie.sameSite]}`);
  return parts.join("; ");
}
