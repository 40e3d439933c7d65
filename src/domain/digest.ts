import { createHash } from "node:crypto";
import type { Digest } from "./ids.ts";
import { digest } from "./ids.ts";
import { jsonPieces } from "./json-pieces.ts";
import type { Bytes } from "./units.ts";
import type { NodeAttributes } from "./demand.ts";

/** The digest of a value that our own readers built, so that its keys always have the same order. */
export function digestOf(value: unknown): Digest {
  return measure(value).digest;
}

/** {@link digestOf}, with the size of the value's JSON text. */
export function measure(value: unknown): { readonly digest: Digest; readonly bytes: Bytes } {
  const hash = createHash("sha256");
  let bytes = 0;
  for (const text of jsonPieces(value)) {
    hash.update(text);
    bytes += Buffer.byteLength(text);
  }
  return { digest: digest(hash.digest("hex").slice(0, 32)), bytes };
}

/**
 * Canonical JSON text: object keys sorted and absent members left out, so that equal values give equal text. The order of arrays is kept,
 * because it has meaning (rank, preference).
 */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonicalText(item ?? null)).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonicalText(member)}`);
    return `{${members.join(",")}}`;
  }
  return JSON.stringify(value) ?? "null";
}

/** The digest of the attributes that nodes are created with. Undefined if there are none. */
export function digestOfAttributes(attributes: NodeAttributes | undefined): Digest | undefined {
  if (attributes === undefined || Object.keys(attributes).length === 0) return undefined;
  return digestOf(canonicalText(attributes));
}
