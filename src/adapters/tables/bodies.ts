import { createHash } from "node:crypto";
import type { Clock } from "../../app/ports/clock.ts";
import { PortError } from "../../app/ports/port-error.ts";
import type { BodyCodec } from "./codec.ts";
import { compress, decompress } from "./compress.ts";
import { bodyKey } from "./keys.ts";
import type { Lru } from "./lru.ts";
import { inParallel } from "./parallel.ts";
import { chunkProperties, joinChunks, partOf, rowsFor } from "./rows.ts";
import type { Table } from "./table.ts";
import type { BodyRef } from "./body-index.ts";

/** A body ready to be written. */
export interface PreparedBody {
  readonly ref: BodyRef;
  readonly bytes: Uint8Array;
}

/** Immutable bodies of one table, with a cache of those that this process used last. */
export interface BodyRows {
  /** Compresses a value and derives its name. Writes nothing. The value is cached as if read. */
  prepare<T>(codec: BodyCodec<T>, value: T, text?: string): Promise<PreparedBody>;
  /** The same, computed once for each object: for large bodies that are saved unchanged. */
  prepareOnce<T extends object>(codec: BodyCodec<T>, value: T): Promise<PreparedBody>;
  /** Writes the rows of each body, even if they exist already: that renews their age for the collector. */
  write(partition: string, bodies: readonly PreparedBody[]): Promise<void>;
  /** Another reader misses it in storage: the next read checks there, and writes it again if this process has it cached. */
  suspect(id: string): void;
  /** Whether all rows of a body are in storage. */
  isThere(partition: string, ref: BodyRef): Promise<boolean>;
  /** Reads a body. Undefined if one of its rows is missing. */
  read<T>(partition: string, ref: BodyRef, codec: BodyCodec<T>): Promise<T | undefined>;
}

/** Rows read or written at one time. */
const ROWS_AT_ONCE = 16;

/** Opens the bodies of a table. `cache` holds parsed bodies by id and is weighed by the length of their JSON text. */
export function openBodies(table: Table, clock: Pick<Clock, "now">, cache: Lru<unknown>): BodyRows {
  const reading = new Map<string, Promise<unknown>>();
  const suspected = new Set<string>();
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

  async function writeRows(partition: string, bodies: readonly PreparedBody[]): Promise<void> {
    // One moment for all: the collector compares it with its own clock, an hour apart.
    const writtenAt = BigInt(clock.now());
    const rows = bodies.flatMap(({ ref, bytes }) =>
      partsOf(ref).map((part) => ({ key: bodyKey(ref.id, part), part, bytes })),
    );
    await inParallel(rows, ROWS_AT_ONCE, ({ key, part, bytes }) =>
      table.put(partition, key, { writtenAt, ...chunkProperties(partOf(bytes, part)) }),
    );
  }

  /** Clears the cache entry, unless it is this very body, which is then in storage again. */
  async function writeAgain<T>(partition: string, ref: BodyRef, codec: BodyCodec<T>): Promise<void> {
    const cached = cache.get(ref.id);
    cache.delete(ref.id);
    if (cached === undefined) return;
    const again = await prepare(codec, cached as T);
    if (again.ref.id === ref.id) await writeRows(partition, [again]);
  }

  return {
    prepare,
    prepareOnce(codec, value) {
      const prepared = once.get(value) ?? prepare(codec, value);
      once.set(value, prepared);
      return prepared;
    },
    write: writeRows,
    suspect: (id) => void suspected.add(id),
    async isThere(partition, ref) {
      const rows = await inParallel(partsOf(ref), ROWS_AT_ONCE, (part) =>
        table.read(partition, bodyKey(ref.id, part), ["writtenAt"]),
      );
      return !rows.includes(undefined);
    },
    async read<T>(partition: string, ref: BodyRef, codec: BodyCodec<T>) {
      if (suspected.delete(ref.id)) await writeAgain(partition, ref, codec);
      const cached = cache.get(ref.id);
      // An id identifies one content, and a content is read with one codec, so the cached value has the requested type.
      if (cached !== undefined) return cached as T;
      const key = `${partition}/${ref.id}`;
      const shared = reading.get(key) ?? fetch(partition, ref, codec).finally(() => reading.delete(key));
      reading.set(key, shared);
      return shared as Promise<T | undefined>;
    },
  };
}

const partsOf = ({ bytes }: BodyRef): readonly number[] =>
  Array.from({ length: rowsFor(bytes) }, (_, part) => part);

async function readRows(table: Table, partition: string, ref: BodyRef): Promise<Uint8Array | undefined> {
  const rows = await inParallel(partsOf(ref), ROWS_AT_ONCE, (part) =>
    table.read(partition, bodyKey(ref.id, part)),
  );
  const found = rows.filter((row) => row !== undefined);
  if (found.length < rows.length) return undefined;
  const bytes = Buffer.concat(found.map((row) => joinChunks(row.values)));
  if (sha256(bytes) === ref.id) return bytes;
  throw new PortError("unexpected", `read body ${ref.id}`, "its bytes do not match its digest");
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
