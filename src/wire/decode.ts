import { gunzipSync } from "node:zlib";
import { kindOf, type Problem } from "./problem.ts";
import { oversizeOf, oversizeOfText } from "./check-size.ts";
import { isFields } from "./fields.ts";

const ENCODINGS = "JSON, base64 of JSON, or base64 of gzipped JSON";
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

export type Decoded =
  | {
      readonly kind: "value";
      readonly value: unknown;
      /** One of its `jobs` is too large or too deep, and nothing else is: each is to be checked by itself. */
      readonly hasOversizeJob?: true;
    }
  | {
      readonly kind: "problem";
      readonly problem: Problem;
      /** Longer than it may be, as it is or unpacked. */
      readonly tooLarge?: true;
    };

/**
 * Takes the packaging off a message: plain JSON, base64 of it, gzip of it, gzip in base64; text or bytes. What a queue library has parsed
 * already is handed through. At most `mostBytes` unpacked: a gzip bomb stops there. What comes out is no larger and no deeper than the
 * readers behind it can take (bounds.ts).
 */
export function decodeMessage(input: string | Uint8Array | object, mostBytes: number): Decoded {
  const decoded = unpackMessage(input, mostBytes);
  if (decoded.kind === "problem") return decoded;
  const { value } = decoded;
  const oversize = oversizeOf(value);
  if (oversize === undefined) return decoded;
  const isInJob = oversize.at[0] === "jobs" && oversize.at.length > 1 && isFields(value);
  if (isInJob && oversizeOf({ ...value, jobs: [] }) === undefined)
    return { ...decoded, hasOversizeJob: true };
  return { kind: "problem", problem: oversize.problem };
}

function unpackMessage(input: string | Uint8Array | object, mostBytes: number): Decoded {
  if (typeof input === "string") return decodeText(input, mostBytes);
  if (input instanceof Uint8Array)
    return decodeBytes(input, mostBytes, (text) => decodeText(text, mostBytes));
  return { kind: "value", value: input };
}

function decodeText(input: string, mostBytes: number): Decoded {
  if (input.length > mostBytes) return refuseTooLarge(mostBytes);
  const text = withoutMark(input).trim();
  // Some encoders break base64 into lines.
  const packed = looksLikeJson(text) ? "" : text.replaceAll(/\s+/g, "");
  if (!BASE64.test(packed)) return parse(text);
  const bytes = Buffer.from(packed, "base64");
  // A word or a number is base64 too, by chance: then the text itself is what was found.
  return isGzip(bytes) || looksLikeJson(bytes.toString("utf8").trim())
    ? decodeBytes(bytes, mostBytes, parse)
    : parse(text);
}

function looksLikeJson(text: string): boolean {
  return text.startsWith("{") || text.startsWith("[");
}

function decodeBytes(bytes: Uint8Array, mostBytes: number, onText: (text: string) => Decoded): Decoded {
  const unpacked = isGzip(bytes) ? unpack(bytes, mostBytes) : bytes;
  if (unpacked === "broken") return refuse("gzip data that is cut off or damaged");
  if (unpacked === "too-large" || unpacked.length > mostBytes) return refuseTooLarge(mostBytes);
  return onText(withoutMark(Buffer.from(unpacked).toString("utf8")));
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function unpack(bytes: Uint8Array, mostBytes: number): Uint8Array | "too-large" | "broken" {
  try {
    return gunzipSync(bytes, { maxOutputLength: mostBytes });
  } catch (error) {
    const tooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    return tooLarge ? "too-large" : "broken";
  }
}

function parse(text: string): Decoded {
  const oversize = oversizeOfText(text);
  if (oversize !== undefined) return { kind: "problem", problem: oversize, tooLarge: true };
  try {
    const value: unknown = JSON.parse(text);
    return { kind: "value", value };
  } catch {
    // Never shown: what is no JSON may be anything, a password as well.
    return refuse(kindOf(text));
  }
}

/** A byte order mark is no JSON, but some editors and shells put one in front. */
function withoutMark(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

function refuseTooLarge(mostBytes: number): Decoded {
  const most = `${mostBytes / (1024 * 1024)} MiB`;
  return {
    kind: "problem",
    problem: { path: "", found: `more than ${most}`, expected: `at most ${most} of JSON, unpacked` },
    tooLarge: true,
  };
}

function refuse(found: string): Decoded {
  return { kind: "problem", problem: { path: "", found, expected: ENCODINGS } };
}
