import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createGzip, gunzip, gzip } from "node:zlib";

/**
 * The stored form: JSON in which a Map is the list of its entries, gzipped. This file wrote everything that it reads, and the state version
 * and a digest are checked, so it is not validated again.
 */
const deflate = promisify(gzip);

const inflate = promisify(gunzip);

const LEVEL = 1;

/** Level 1: a quarter of the time of level 6 for a fifth more bytes (100,000 jobs), and a reconcile waits for it. */
export async function compress(text: string): Promise<Buffer> {
  return deflate(text, { level: LEVEL });
}

/** The same for a text in pieces, of which only one is in memory at a time. */
export async function compressPieces(pieces: Iterable<string>): Promise<Buffer> {
  const zip = createGzip({ level: LEVEL });
  const [bytes] = await Promise.all([buffer(zip), pipeline(Readable.from(pieces), zip)]);
  return bytes;
}

/**
 * Bytes of a row's content, unpacked. All demand of a cluster has 64 MiB, a plan or an observation of it less. Only who holds a key of the
 * storage account can write more.
 */
const MOST_UNPACKED = 128 * 1024 * 1024;

/** Bytes that unpack to 4 MiB at most. */
const SMALL = 4096;

let lastLarge: Promise<unknown> = Promise.resolve();

/**
 * A row that many may read at once: what is not small is unpacked one at a time. Bodies have a turn of their own (bodies.ts), so that no row waits
 * for a large one.
 */
export function unpackRow(bytes: Uint8Array): Promise<string> {
  if (bytes.length <= SMALL) return decompress(bytes);
  const text = lastLarge.then(() => decompress(bytes));
  lastLarge = text.catch(() => undefined);
  return text;
}

/** Rejects with Node's error if the bytes are no gzip, or unpack to more than {@link MOST_UNPACKED}. */
export async function decompress(bytes: Uint8Array): Promise<string> {
  return (await inflate(bytes, { maxOutputLength: MOST_UNPACKED })).toString("utf8");
}
