import { createHash } from "node:crypto";
import { digest, type Digest } from "../../domain/ids.ts";

/**
 * SHA-256, in hex, of the value's JSON text, and the size of that text. Equal values give equal digests only if their keys are in the same
 * order. So wire/ builds all values with their keys in alphabetical order, which gives the canonical text of domain/canonical.ts at a
 * fraction of its cost.
 */
export function measure(value: object): { readonly digest: Digest; readonly bytes: number } {
  const hash = createHash("sha256");
  let bytes = 0;
  for (const text of textOf(value)) {
    hash.update(text);
    bytes += Buffer.byteLength(text);
  }
  return { digest: digest(hash.digest("hex")), bytes };
}

/** Long enough that a piece has little overhead, short compared with a demand of a hundred megabytes. */
const PIECE = 256 * 1024;

/** The result of JSON.stringify in pieces: the text of a large demand is as large as the demand itself. */
function* textOf(value: object): Generator<string> {
  let text = "";
  for (const part of membersOf(value)) {
    text += part;
    if (text.length < PIECE) continue;
    yield text;
    text = "";
  }
  yield text;
}

function* membersOf(value: object): Generator<string> {
  let before = "{";
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    yield `${before}${JSON.stringify(key)}:`;
    if (Array.isArray(member)) yield* itemsOf(member);
    else yield JSON.stringify(member);
    before = ",";
  }
  yield before === "{" ? "{}" : "}";
}

function* itemsOf(items: readonly unknown[]): Generator<string> {
  let before = "[";
  for (const item of items) {
    yield before + (JSON.stringify(item) ?? "null");
    before = ",";
  }
  yield before === "[" ? "[]" : "]";
}
