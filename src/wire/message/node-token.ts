import { createHash } from "node:crypto";
import type { Problem } from "../../domain/demand.ts";
import type { Digest } from "../../domain/ids.ts";
import { digest } from "../../domain/ids.ts";

/**
 * The header in which a node sends a token of its own with each call: the platform and proxies log addresses, not headers (docs/nodes.md,
 * What a stop URL allows).
 */
export const NODE_TOKEN_HEADER = "x-node-token";

const FORM = /^[A-Za-z0-9._~+/=-]{22,200}$/;

/**
 * The digest of a node's token; only this is ever stored. Neither member if there is no such header. The token itself is never shown. Half
 * of a SHA-256 is enough, because the token is random and long.
 */
export function readNodeToken(header: string | undefined): {
  readonly token?: Digest;
  readonly problem?: Problem;
} {
  if (header === undefined) return {};
  if (FORM.test(header))
    return { token: digest(createHash("sha256").update(header).digest("hex").slice(0, 32)) };
  const found = `${header.length} characters (not shown: they may be a secret)`;
  const expected = "22 to 200 letters, digits or any of . _ ~ + / = -";
  return { problem: { path: `header ${NODE_TOKEN_HEADER}`, found, expected } };
}
