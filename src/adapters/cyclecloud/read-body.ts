import { pipeline } from "node:stream";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";

export type BodyReading =
  | { readonly kind: "body"; readonly value: unknown }
  | { readonly kind: "too-large" }
  | { readonly kind: "unknown-encoding"; readonly encoding: string };

/**
 * Reads an answer's body completely: JSON parsed, other text unchanged, no body as undefined. At most `limit` bytes, counted unpacked, so
 * that neither a huge answer nor a small one that unpacks to a huge one fills the memory. The rest is not read, and the connection is
 * closed. `clean`: what is done with the text before it is parsed. Rejects with the stream's own error if the body is cut or does not match its
 * encoding.
 */
export async function readBody(
  stream: Readable,
  encoding: string | undefined,
  limit: number,
  clean: (text: string) => string,
): Promise<BodyReading> {
  const coding = encoding?.trim().toLowerCase() ?? "";
  if (coding === "" || coding === "identity") return collect(stream, limit, clean);
  if (coding === "gzip" || coding === "x-gzip") return collectUnpacked(stream, limit, clean);
  // undici reports an unread body as an error of its stream. It stays unread intentionally.
  stream.on("error", () => undefined).destroy();
  return { kind: "unknown-encoding", encoding: coding };
}

async function collectUnpacked(
  stream: Readable,
  limit: number,
  clean: (text: string) => string,
): Promise<BodyReading> {
  const gunzip = createGunzip();
  // The error of either end reaches the reader through `gunzip`, so the callback has nothing to do.
  pipeline(stream, gunzip, () => undefined);
  try {
    return await collect(gunzip, limit, clean);
  } catch (error) {
    // A header that announces gzip, and no body: compressing proxies send errors without content like this.
    const cut = error instanceof Error && "code" in error && error.code === "Z_BUF_ERROR";
    if (cut && gunzip.bytesWritten === 0) return { kind: "body", value: undefined };
    throw error;
  }
}

async function collect(
  stream: Readable,
  limit: number,
  clean: (text: string) => string,
): Promise<BodyReading> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    size += bytes.length;
    // Leaving the loop destroys the stream.
    if (size > limit) return { kind: "too-large" };
    chunks.push(bytes);
  }
  return { kind: "body", value: parseBody(clean(Buffer.concat(chunks).toString("utf8"))) };
}

/** Tries to parse instead of trusting the content type: CycleCloud and the proxies before it often get it wrong. */
function parseBody(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
