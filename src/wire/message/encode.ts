import { gzipSync } from "node:zlib";
import type { DemandMessage, UncheckedMessage, WakeMessage } from "./message.ts";
import type { Bytes } from "../../domain/units.ts";

/** Maximum size of one message in a storage queue. Larger messages must go over HTTP. */
const LARGEST_QUEUE_MESSAGE_BYTES: Bytes = 64 * 1024;

/** Messages of at least this size are packed: gzip and base64 together shrink JSON of jobs to a fraction. */
const PACKED_FROM_BYTES: Bytes = 48 * 1024;

export type Encoded =
  | { readonly kind: "text"; readonly text: string }
  /** Too large for the queue even when packed. `bytes` is the size of the text. */
  | { readonly kind: "too-large"; readonly bytes: Bytes; readonly limit: number };

/**
 * The text of a message for the demand queue: plain JSON if it is small, else gzip + base64. `gzip: true` packs at any size, `false` never.
 * readDemandMessage reads every result.
 */
export function encodeDemandMessage(
  message: DemandMessage | UncheckedMessage | WakeMessage,
  options: { readonly gzip?: boolean } = {},
): Encoded {
  const plain = JSON.stringify(message);
  const pack = options.gzip ?? Buffer.byteLength(plain) >= PACKED_FROM_BYTES;
  const text = pack ? gzipSync(plain).toString("base64") : plain;
  const bytes = Buffer.byteLength(text);
  return bytes > LARGEST_QUEUE_MESSAGE_BYTES
    ? { kind: "too-large", bytes, limit: LARGEST_QUEUE_MESSAGE_BYTES }
    : { kind: "text", text };
}
