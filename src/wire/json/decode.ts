import { gunzipSync } from "node:zlib";
import { isUtf16, notJson, type Problem } from "./problem.ts";
import { countValues, findOversizeInSlices, findOversizeOfText, oversizeOf } from "./check-size.ts";
import { BOUNDS } from "./bounds.ts";
import type { Bytes } from "../../domain/units.ts";
import type { Sliced } from "../../domain/sliced.ts";
import { atOnce } from "../../domain/sliced.ts";
import { isFields } from "../../domain/fields.ts";

const ENCODINGS = "JSON, base64 of JSON, or base64 of gzipped JSON";
const BASE64 = /^[A-Za-z0-9+/_-]+={0,2}$/;

/** The limits of a door. */
export interface Most {
  /** Bytes of JSON, unpacked. */
  readonly bytes: Bytes;
  /** Members and items, counted before they are parsed. */
  readonly values: number;
}

export const MOST_BY_QUEUE: Most = { bytes: BOUNDS.queueBytes, values: BOUNDS.queueValues };
export const MOST_OVER_HTTP: Most = { bytes: BOUNDS.httpBytes, values: BOUNDS.values };

export type Decoded =
  | {
      readonly kind: "value";
      readonly value: unknown;
      /** One of its `jobs` is too large or too deep, and nothing else is. Each job must be checked separately. */
      readonly hasOversizeJob?: true;
    }
  | {
      readonly kind: "problem";
      readonly problem: Problem;
      /** Longer than allowed, as received or unpacked. */
      readonly tooLarge?: true;
    };

/**
 * Unpacks a message: plain JSON, base64 of it, gzip of it, or gzip in base64, as text or bytes. A value that a queue library has already
 * parsed is passed on. Unpacking a gzip bomb stops at the limit. The result is no larger and no deeper than the readers behind it accept
 * (bounds.ts).
 */
export function decodeMessage(input: string | Uint8Array | object, most: Most): Decoded {
  return atOnce(decodeInSlices(input, most));
}

/** {@link decodeMessage} in slices. */
export function* decodeInSlices(input: string | Uint8Array | object, most: Most): Sliced<Decoded> {
  const unpacked = unpackMessage(input, most);
  if (unpacked.kind === "problem") return unpacked;
  const decoded = unpacked.kind === "value" ? unpacked : yield* parse(unpacked.text, most);
  if (decoded.kind === "problem") return decoded;
  const { value } = decoded;
  const oversize = yield* findOversizeInSlices(value);
  if (oversize === undefined) return decoded;
  const isInJob = oversize.at[0] === "jobs" && oversize.at.length > 1 && isFields(value);
  if (isInJob && oversizeOf({ ...value, jobs: [] }) === undefined)
    return { ...decoded, hasOversizeJob: true };
  return { kind: "problem", problem: oversize.problem };
}

/** What a message takes to read. */
interface Weight {
  /** Its JSON, unpacked. */
  readonly text: Bytes;
  /** Of heap, while it is read: its text, and what is parsed and read of it. */
  readonly heap: Bytes;
}

/**
 * What it takes to read a message, found out without parsing it. A message that cannot be unpacked, or that is larger than the door allows, takes little: it is
 * refused before it is parsed.
 */
export function* weighInSlices(input: string | Uint8Array | object, most: Most): Sliced<Weight> {
  const unpacked = unpackMessage(input, most);
  return unpacked.kind === "text" ? yield* weighText(unpacked.text, most) : { text: 0, heap: 0 };
}

/** A text with one wide character takes two bytes for each of its characters. */
const BYTES_PER_CHARACTER: Bytes = 2;
/** An empty object takes 56 bytes; a member of an object with thousands takes 80, with its key. */
const BYTES_PER_VALUE: Bytes = 64;

function* weighText(text: string, most: Most): Sliced<Weight> {
  const values = yield* countValues(text, most.values);
  const parsed = typeof values === "number" ? BYTES_PER_VALUE * values : 0;
  return { text: text.length, heap: BYTES_PER_CHARACTER * text.length + parsed };
}

/** Why a message cannot be read. */
type Undecoded = Extract<Decoded, { readonly kind: "problem" }>;
type Value = Extract<Decoded, { readonly kind: "value" }>;

/** The JSON text of the message. */
interface Text {
  readonly kind: "text";
  readonly text: string;
}

function unpackMessage(input: string | Uint8Array | object, most: Most): Text | Undecoded | Value {
  if (typeof input === "string") return decodeText(input, most);
  if (!(input instanceof Uint8Array)) return { kind: "value", value: input };
  const unpacked = decodeBytes(input, most);
  return unpacked.kind === "text" ? decodeText(unpacked.text, most) : unpacked;
}

function decodeText(input: string, most: Most): Text | Undecoded {
  if (input.length > most.bytes) return refuseTooLarge(most);
  const text = withoutMark(input).trim();
  // Some encoders split base64 into lines.
  const packed = looksLikeJson(text) ? "" : text.replaceAll(/\s+/g, "");
  if (!BASE64.test(packed)) return { kind: "text", text };
  const bytes = Buffer.from(packed, "base64");
  // A word or a number may be valid base64 by chance. Then the text itself is shown.
  const plain = bytes.toString("utf8").trim();
  return isGzip(bytes) || looksLikeJson(plain) || isUtf16(plain)
    ? decodeBytes(bytes, most)
    : { kind: "text", text };
}

function looksLikeJson(text: string): boolean {
  return text.startsWith("{") || text.startsWith("[");
}

function decodeBytes(bytes: Uint8Array, most: Most): Text | Undecoded {
  const unpacked = isGzip(bytes) ? unpack(bytes, most) : bytes;
  if (unpacked === "broken") return refuse("gzip data that is cut off or damaged");
  if (unpacked === "too-large" || unpacked.length > most.bytes) return refuseTooLarge(most);
  const { buffer, byteOffset, byteLength } = unpacked;
  return { kind: "text", text: withoutMark(Buffer.from(buffer, byteOffset, byteLength).toString("utf8")) };
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function unpack(bytes: Uint8Array, most: Most): Uint8Array | "too-large" | "broken" {
  try {
    return gunzipSync(bytes, { maxOutputLength: most.bytes });
  } catch (error) {
    const tooLarge = error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE";
    return tooLarge ? "too-large" : "broken";
  }
}

function* parse(text: string, most: Most): Sliced<Decoded> {
  const oversize = yield* findOversizeOfText(text, most.values);
  if (oversize !== undefined) return { kind: "problem", problem: oversize, tooLarge: true };
  try {
    const value: unknown = JSON.parse(text);
    return { kind: "value", value };
  } catch {
    return { kind: "problem", problem: notJson(text, ENCODINGS) };
  }
}

/** A byte order mark is not JSON, but some editors and shells write one at the beginning. */
function withoutMark(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}

function refuseTooLarge({ bytes }: Most): Undecoded {
  const most = `${bytes / (1024 * 1024)} MiB`;
  return {
    kind: "problem",
    problem: { path: "", found: `more than ${most}`, expected: `at most ${most} of JSON, unpacked` },
    tooLarge: true,
  };
}

function refuse(found: string): Undecoded {
  return { kind: "problem", problem: { path: "", found, expected: ENCODINGS } };
}
