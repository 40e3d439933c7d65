import { createHash } from "node:crypto";
import { digest, type Digest } from "../domain/ids.ts";

/**
 * SHA-256, in hex, of the value's JSON text. Equal values give equal digests only if they are written in one order: everything that wire/
 * lowers is built with its keys in alphabetical order, so that the text is the canonical one of domain/canonical.ts at a fraction of its cost.
 */
export function digestOf(value: object): Digest {
  return measure(value).digest;
}

/** The same, with the size of that text. */
export function measure(value: object): { readonly digest: Digest; readonly bytes: number } {
  const text = JSON.stringify(value);
  return {
    digest: digest(createHash("sha256").update(text).digest("hex")),
    bytes: Buffer.byteLength(text),
  };
}
