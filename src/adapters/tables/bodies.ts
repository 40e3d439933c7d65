import { createHash } from "node:crypto";
import type { Clock } from "../../app/ports.ts";
import { PortError } from "../../app/ports.ts";
import type { BodyCodec } from "./codec.ts";
import { compress, decompress } from "./codec.ts";
import { bodyKey } from "./keys.ts";
import type { Lru } from "./lru.ts";
import { inParallel } from "./parallel.ts";
import { chunkProperties, joinChunks, partOf, rowsFor } from "./rows.ts";
import type { Table } from "./table.ts";

/** Names an immutable body. `id` is the SHA-256 of the compressed bytes, so that equal rows are written whoever writes them. */
export interface BodyRef {
  readonly id: string;
  /** Compressed size; it tells the number of rows. */
  readonly bytes: number;
}

/** A body ready to be written. */
export interface PreparedBody {
  readonly ref: BodyRef;
  readonly bytes: Uint8Array;
}

/** Immutable bodies of one table, with those that this process used last. */
export interface BodyRows {
  /** Compresses and names a value; writes nothing. The value is cached as read. */
  prepare<T>(codec: BodyCodec<T>, value: T, text?: string): Promise<PreparedBody>;
  /** The same, worked out once for each object: for large bodies that are saved as they are, or with nothing changed. */
  prepareOnce<T extends object>(codec: BodyCodec<T>, value: T): Promise<PreparedBody>;
  /** Writes the rows of each body, also those that are there already: it makes them young again for the collector. */
  write(partition: string, bodies: readonly PreparedBody[]): Promise<void>;
  /** Reads a body; undefined: a row of it is missing. */
  read<T>(partition: string, ref: BodyRef, codec: BodyCodec<T>): Promise<T | undefined>;
}

/** Rows read or written at one time. */
const ROWS_AT_ONCE = 16;

/** Opens the bodies of a table. `cache` holds parsed bodies by id and is weighed by the length of their JSON text. */
export function openBodies(table: Table, clock: Pick<Clock, "now">, cache: Lru<unknown>): BodyRows {
  const reading = new Map<string, Promise<unknown>>();
  const once = new WeakMap<object, Promise<PreparedBody>>();

  async function fetch<T>(partition: string, ref: BodyRef, codec: BodyCodec<T>): Promise<T | undefined> {
    const bytes = await readRows(table, partition, ref);
    if (bytes === undefined) return undefined;
    const text = await decompress(bytes);
    const value = codec.read(text);
    cache.set(ref.id, value, text.length);
    return value;
  }

  async function prepare<T>(codec: BodyCodec<T>, value: T, text = codec.write(value)): Promise<PreparedBody> {
    const bytes = await compress(text);
    const ref = { id: sha256(bytes), bytes: bytes.length };
    cache.set(ref.id, value, text.length);
    return { ref, bytes };
  }

  return {
    prepare,
    prepareOnce(codec, value) {
      const prepared = once.get(value) ?? prepare(codec, value);
      once.set(value, prepared);
      return prepared;
    },
    async write(partition, bodies) {
      // One moment for all: the collector compares it with its own clock, an hour apart.
      const writtenAt = BigInt(clock.now());
      const rows = bodies.flatMap(({ ref, bytes }) =>
        Array.from({ length: rowsFor(ref.bytes) }, (_, part) => ({
          key: bodyKey(ref.id, part),
          part,
          bytes,
        })),
      );
      await inParallel(rows, ROWS_AT_ONCE, ({ key, part, bytes }) =>
        table.put(partition, key, { writtenAt, ...chunkProperties(partOf(bytes, part)) }),
      );
    },
    async read<T>(partition: string, ref: BodyRef, codec: BodyCodec<T>) {
      const cached = cache.get(ref.id);
      // An id stands for one content, and a content is read with one codec, so the cached value is of the type asked for.
      if (cached !== undefined) return cached as T;
      const key = `${partition}/${ref.id}`;
      const shared = reading.get(key) ?? fetch(partition, ref, codec).finally(() => reading.delete(key));
      reading.set(key, shared);
      return shared as Promise<T | undefined>;
    },
  };
}

async function readRows(table: Table, partition: string, ref: BodyRef): Promise<Uint8Array | undefined> {
  const parts = Array.from({ length: rowsFor(ref.bytes) }, (_, part) => part);
  const rows = await inParallel(parts, ROWS_AT_ONCE, (part) => table.read(partition, bodyKey(ref.id, part)));
  const found = rows.filter((row) => row !== undefined);
  if (found.length < rows.length) return undefined;
  const bytes = Buffer.concat(found.map((row) => joinChunks(row.values)));
  if (sha256(bytes) === ref.id) return bytes;
  throw new PortError("unexpected", `read body ${ref.id}`, "its bytes do not match its digest");
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
