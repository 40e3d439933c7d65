import { createHash } from "node:crypto";
import type { Clock } from "../../app/ports/ports.ts";
import { PortError } from "../../app/ports/port-error.ts";
import type { BodyCodec } from "./codec.ts";
import { jsonPieces } from "../../domain/json-pieces.ts";
import { SMALL_TEXT } from "../../domain/memory-budget.ts";
import { compressPieces, decompress } from "./compress.ts";
import { bodyKey } from "./keys.ts";
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
  prepare<T>(codec: BodyCodec<T>, value: T): Promise<PreparedBody>;
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

/** What most values take, for each character of their JSON text. */
const BYTES_PER_CHARACTER = 2;

/** Opens the bodies of a table. `cache` holds parsed bodies by id and is weighed by the memory that they take. */
export function openBodies(table: Table, clock: Pick<Clock, "now">, cache: Lru<unknown>): BodyRows {
  return new CachedBodies(table, clock, cache);
}

class CachedBodies implements BodyRows {
  readonly #table: Table;
  readonly #clock: Pick<Clock, "now">;
  readonly #cache: Lru<unknown>;
  readonly #reading = new Map<string, Promise<unknown>>();
  readonly #suspected = new Set<string>();
  #turn: Promise<unknown> = Promise.resolve();
  readonly #once = new WeakMap<object, Promise<PreparedBody>>();

  constructor(table: Table, clock: Pick<Clock, "now">, cache: Lru<unknown>) {
    this.#table = table;
    this.#clock = clock;
    this.#cache = cache;
  }

  async prepare<T>(codec: BodyCodec<T>, value: T): Promise<PreparedBody> {
    let length = 0;
    const pieces = (function* (): Generator<string> {
      for (const piece of jsonPieces(codec.write(value))) {
        length += piece.length;
        yield piece;
      }
    })();
    const begin = takeUpTo(pieces, SMALL_TEXT);
    const rest = (function* (): Generator<string> {
      yield* begin.taken;
      yield* pieces;
    })();
    // What is small does not wait for what is large.
    const bytes = await (begin.isAll ? compressPieces(rest) : this.#inTurn(() => compressPieces(rest)));
    const ref = { id: sha256(bytes), bytes: bytes.length };
    this.#keep(ref, codec, value, length);
    return { ref, bytes };
  }

  prepareOnce<T extends object>(codec: BodyCodec<T>, value: T): Promise<PreparedBody> {
    const prepared = this.#once.get(value) ?? this.prepare(codec, value);
    this.#once.set(value, prepared);
    return prepared;
  }

  async write(partition: string, bodies: readonly PreparedBody[]): Promise<void> {
    // One moment for all: the collector compares it with its own clock, an hour apart.
    const writtenAt = BigInt(this.#clock.now());
    const rows = bodies.flatMap(({ ref, bytes }) =>
      partsOf(ref).map((part) => ({ key: bodyKey(ref.id, part), part, bytes })),
    );
    await inParallel(rows, ROWS_AT_ONCE, ({ key, part, bytes }) =>
      this.#table.put(partition, key, { writtenAt, ...chunkProperties(partOf(bytes, part)) }),
    );
  }

  suspect(id: string): void {
    this.#suspected.add(id);
  }

  async isThere(partition: string, ref: BodyRef): Promise<boolean> {
    const rows = await inParallel(partsOf(ref), ROWS_AT_ONCE, (part) =>
      this.#table.read(partition, bodyKey(ref.id, part), ["writtenAt"]),
    );
    return !rows.includes(undefined);
  }

  async read<T>(partition: string, ref: BodyRef, codec: BodyCodec<T>): Promise<T | undefined> {
    if (this.#suspected.delete(ref.id)) await this.#writeAgain(partition, ref, codec);
    const cached = this.#cache.get(ref.id);
    // An id identifies one content, and a content is read with one codec, so the cached value has the requested type.
    if (cached !== undefined) return cached as T;
    const key = `${partition}/${ref.id}`;
    const shared =
      this.#reading.get(key) ?? this.#fetch(partition, ref, codec).finally(() => this.#reading.delete(key));
    this.#reading.set(key, shared);
    return shared as Promise<T | undefined>;
  }

  async #fetch<T>(partition: string, ref: BodyRef, codec: BodyCodec<T>): Promise<T | undefined> {
    const bytes = await readRows(this.#table, partition, ref);
    if (bytes === undefined) return undefined;
    return this.#inTurn(async () => {
      const text = await decompress(bytes);
      const value = codec.read(text);
      this.#keep(ref, codec, value, text.length);
      return value;
    });
  }

  #keep<T>({ id }: BodyRef, codec: BodyCodec<T>, value: T, length: number): void {
    this.#cache.set(id, value, codec.weigh?.(value) ?? BYTES_PER_CHARACTER * length);
  }

  /** One body at a time: the texts of all bodies of a record together may take more memory than there is. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work);
    this.#turn = done.catch(() => undefined);
    return done;
  }

  /** Clears the cache entry, unless it is this very body, which is then in storage again. */
  async #writeAgain<T>(partition: string, ref: BodyRef, codec: BodyCodec<T>): Promise<void> {
    const cached = this.#cache.get(ref.id);
    this.#cache.delete(ref.id);
    if (cached === undefined) return;
    const again = await this.prepare(codec, cached as T);
    if (again.ref.id === ref.id) await this.write(partition, [again]);
  }
}

/** Takes texts until they have this length together. `isAll`: no more are left. */
function takeUpTo(pieces: Iterator<string>, length: number) {
  const taken: string[] = [];
  let left = length;
  while (left > 0) {
    const { done, value } = pieces.next();
    if (done === true) return { taken, isAll: true };
    taken.push(value);
    left -= value.length;
  }
  return { taken, isAll: false };
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

/** Maps with at most `width` calls in progress at one time. Results are in the order of the items. The first failure ends it. */
export async function inParallel<T, R>(
  items: readonly T[],
  width: number,
  call: (item: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const work = async () => {
    // The workers share one iterator: each takes the next free item.
    for (const [position, item] of queue) results[position] = await call(item);
  };
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, work));
  return results;
}

/** Keeps recently used values, up to a total weight. */
interface Lru<T> {
  get(key: string): T | undefined;
  /** A value heavier than the whole budget is not kept. */
  set(key: string, value: T, weight: number): void;
  delete(key: string): void;
}

/** A cache bounded by the sum of its weights. The least recently used value is removed first. */
export function createLru<T>(budget: number): Lru<T> {
  // A Map iterates in insertion order: re-inserting on use makes the first entry the least recently used.
  const entries = new Map<string, { readonly value: T; readonly weight: number }>();
  let total = 0;
  const drop = (key: string) => {
    total -= entries.get(key)?.weight ?? 0;
    entries.delete(key);
  };
  return {
    delete: drop,
    get(key) {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      entries.delete(key);
      entries.set(key, entry);
      return entry.value;
    },
    set(key, value, weight) {
      drop(key);
      if (weight > budget) return;
      entries.set(key, { value, weight });
      total += weight;
      for (const oldest of entries.keys()) {
        if (total <= budget) break;
        drop(oldest);
      }
    },
  };
}
