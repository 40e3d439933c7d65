import { createHash } from "node:crypto";
import { digest, type Digest } from "../../domain/ids.ts";
import { jsonPieces } from "../../domain/json-pieces.ts";
import type { Sliced } from "../../domain/sliced.ts";

/**
 * SHA-256, in hex, of the value's JSON text, and the size of that text. Equal values give equal digests only if their keys are in the same
 * order. So wire/ builds all values with their keys in alphabetical order, which gives the canonical text of domain/canonical.ts at a
 * fraction of its cost.
 */
export function* measureInSlices(value: object): Sliced<{ readonly digest: Digest; readonly bytes: number }> {
  const hash = createHash("sha256");
  let bytes = 0;
  for (const text of jsonPieces(value)) {
    if (bytes > 0) yield;
    hash.update(text);
    bytes += Buffer.byteLength(text);
  }
  return { digest: digest(hash.digest("hex")), bytes };
}
