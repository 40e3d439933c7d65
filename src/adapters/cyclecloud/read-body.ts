import { pipeline } from "node:stream";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";

export type BodyReading =
  | { readonly kind: "body"; readonly value: unknown }
  | { readonly kind: "too-large" }
  | { readonly kind: "unknown-encoding"; readonly encoding: string };

/**
 * Reads an answer's body to its end: JSON parsed, other text as it is, nothing as undefined. At most `limit` bytes, counted unpacked, so
 * that neither a huge answer nor a small one that unpacks to a huge one fills the memory; what is beyond is not read and the connection
 * is closed. Rejects with the stream's own error if the body is cut or is not what its encoding says.
 */
export async function readBody(
  stream: Readable,
  encoding: string | undefined,
  limit: number,
): Promise<BodyReading> {
  const coding = encoding?.trim().toLowerCase() ?? "";
  if (coding === "" || coding === "identity") return collect(stream, limit);
  if (coding === "gzip" || coding === "x-gzip") return collectUnpacked(stream, limit);
  // undici reports an unread body as an error of its stream; that it stays unread is the intention.
  stream.on("error", () => undefined).destroy();
  return { kind: "unknown-encoding", encoding: coding };
}

async function collectUnpacked(stream: Readable, limit: number): Promise<BodyReading> {
  const gunzip = createGunzip();
  // The error of either end reaches the reader through `gunzip`, so there is nothing left to do in the callback.
  pipeline(stream, gunzip, () => undefined);
  try {
    return await collect(gunzip, limit);
  } catch (error) {
    // A header that promises gzip, and no body: errors without content come like this from compressing proxies.
    const cut = error instanceof Error && "code" in error && error.code === "Z_BUF_ERROR";
    if (cut && gunzip.bytesWritten === 0) return { kind: "body", value: undefined };
    throw error;
  }
}

async function collect(stream: Readable, limit: number): Promise<BodyReading> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    size += bytes.length;
    // Leaving the loop destroys the stream.
    if (size > limit) return { kind: "too-large" };
    chunks.push(bytes);
  }
  return { kind: "body", value: parseBody(Buffer.concat(chunks).toString("utf8")) };
}

/** By trying, not by content type: CycleCloud and the proxies before it are not careful with it. */
function parseBody(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
