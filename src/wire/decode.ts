import { gunzipSync } from "node:zlib";
import { problemAt, type Problem } from "./problem.ts";

/** Largest message, unpacked (design.md section 4). */
export const LARGEST_UNPACKED_BYTES = 32 * 1024 * 1024;

const ENCODINGS = "JSON, base64 of JSON, or base64 of gzipped JSON";
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

export type Decoded =
  | { readonly kind: "value"; readonly value: unknown }
  | {
      readonly kind: "problem";
      readonly problem: Problem;
      /** Over {@link LARGEST_UNPACKED_BYTES}, as it is or unpacked. */
      readonly tooLarge?: true;
    };

/**
 * Takes the packaging off a message: plain JSON, base64 of it, gzip of it, gzip in base64; text or bytes. What a queue library has parsed
 * already is handed through. At most 32 MiB unpacked: a gzip bomb stops there.
 */
export function decodeMessage(input: string | Uint8Array | object): Decoded {
  if (typeof input === "string") return decodeText(input);
  if (input instanceof Uint8Array) return decodeBytes(input, decodeText);
  return { kind: "value", value: input };
}

function decodeText(input: string): Decoded {
  if (input.length > LARGEST_UNPACKED_BYTES) return refuseTooLarge();
  const text = withoutMark(input).trim();
  // Some encoders break base64 into lines.
  const packed = looksLikeJson(text) ? "" : text.replaceAll(/\s+/g, "");
  if (!BASE64.test(packed)) return parse(text);
  const bytes = Buffer.from(packed, "base64");
  // A word or a number is base64 too, by chance: then the text itself is what was found.
  return isGzip(bytes) || looksLikeJson(bytes.toString("utf8").trim())
    ? decodeBytes(bytes, parse)
    : parse(text);
}

function looksLikeJson(text: string): boolean {
  return text.startsWith("{") || text.startsWith("[");
}

function decodeBytes(bytes: Uint8Array, onText: (text: string) => Decoded): Decoded {
  const unpacked = isGzip(bytes) ? unpack(bytes) : bytes;
  if (unpacked === "broken") return refuse("gzip data that is cut off or damaged", ENCODINGS);
  if (unpacked === "too-large" || unpacked.length > LARGEST_UNPACKED_BYTES) return refuseTooLarge();
  return onText(withoutMark(Buffer.from(unpacked).toString("utf8")));
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function unpack(bytes: Uint8Array): Uint8Array | "too-large" | "broken" {
  try {
    return gunzipSync(bytes, { maxOutputLength: LARGEST_UNPACKED_BYTES });
  } catch (error) {
    const tooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    return tooLarge ? "too-large" : "broken";
  }
}

function parse(text: string): Decoded {
  try {
    const value: unknown = JSON.parse(text);
    return { kind: "value", value };
  } catch {
    return refuse(text, ENCODINGS);
  }
}

/** A byte order mark is no JSON, but some editors and shells put one in front. */
function withoutMark(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

function refuseTooLarge(): Decoded {
  return {
    kind: "problem",
    problem: problemAt("", "more than 32 MiB", "at most 32 MiB of JSON, unpacked"),
    tooLarge: true,
  };
}

function refuse(found: unknown, expected: string): Decoded {
  return { kind: "problem", problem: problemAt("", found, expected) };
}
