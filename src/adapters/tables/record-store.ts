import { randomUUID } from "node:crypto";
import type { BodyChanges, RecordStore, Saved } from "../../app/ports/record-store.ts";
import type { Clock } from "../../app/ports/ports.ts";
import { PortError } from "../../app/ports/port-error.ts";
import type { ClusterName, Digest } from "../../domain/ids.ts";
import type { ClusterRecord, MissingBodies } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { asPortCall } from "../system/azure-errors.ts";
import type { BodyRows, PreparedBody } from "./bodies.ts";
import { openBodies, createLru } from "./bodies.ts";
import { refsOf, demandKey, reportKey, packOf } from "./body-index.ts";
import type { CollectorView, Rest } from "./collector.ts";
import { WHOLE_TABLE, collectBodies } from "./collector.ts";
import { RECORD_KEY, clusterPartition } from "./keys.ts";
import type { Bytes } from "../../domain/units.ts";
import { budgetOf, DEFAULT_HEAP } from "../../domain/memory-budget.ts";
import { readFinished } from "./finished-shards.ts";
import { nextIndex } from "./next-index.ts";
import { readBodies } from "./read-bodies.ts";
import { joinChunks } from "./rows.ts";
import type { Table } from "./table.ts";
import { refuseOtherState, openManifest, packManifest, manifestRow, writeRow } from "./manifest-row.ts";
import type { TableVersion, TableRecord } from "./manifest-row.ts";
import { secondsBetween } from "../../domain/units.ts";
import { entriesOf, NONE_ASIDE } from "../../domain/request-sets.ts";
import type { BodyIndex, BodyRef, EntryKey } from "./body-index.ts";

interface RecordStoreOptions {
  /** Bytes of parsed bodies that are kept in this process. Default: what the default size of an instance allows. */
  readonly cache?: Bytes;
}

/** How often a load starts over when its manifest body was replaced and collected meanwhile. */
const LOAD_ATTEMPTS = 3;

/** From this many bytes on, a load first checks whether the manifest has changed. */
const LARGE_MANIFEST_BYTES = 32 * 1024;

/** Records in Table Storage: a manifest row per cluster, and immutable bodies beside it (architecture.md, Storage). */
export function tableRecordStore(
  table: Table,
  clock: Pick<Clock, "now">,
  options: RecordStoreOptions = {},
): RecordStore<TableVersion> {
  const records = new TableRecords(table, clock, options.cache ?? budgetOf(DEFAULT_HEAP).cache);
  const { bodies } = records;
  return {
    load: (cluster) => asPortCall(`load record of ${cluster}`, () => records.load(cluster)),
    finished: (loaded, sets) =>
      asPortCall(`read finished sets of ${loaded.record.cluster}`, () => {
        const shards = loaded.version.index.finished ?? [];
        return readFinished(bodies, clusterPartition(loaded.record.cluster), shards, sets);
      }),
    bodies: (loaded, aside = NONE_ASIDE) =>
      asPortCall(`read bodies of ${loaded.record.cluster}`, () => {
        for (const { body } of loaded.record.missing ?? []) bodies.suspect(body);
        return readBodies(bodies, loaded.record, loaded.version.index, aside);
      }),
    missing: (loaded) =>
      asPortCall(`look for bodies of ${loaded.record.cluster}`, () =>
        findMissing(bodies, loaded.record, loaded.version.index),
      ),
    stage: (record, changes, previous) =>
      asPortCall(`write bodies of ${record.cluster}`, () => records.stage(record, changes, previous)),
    save: (record, changes, previous, how) =>
      asPortCall(`save record of ${record.cluster}`, () => records.save(record, changes, previous, how)),
    collect: (cluster, now, how = "begin") =>
      asPortCall(`collect bodies of ${cluster}`, () => records.collect(cluster, now, how)),
  };
}

/** The records of one table, with what this process knows of them. */
class TableRecords {
  readonly bodies: BodyRows;
  readonly #table: Table;
  readonly #clock: Pick<Clock, "now">;
  readonly #latest = new Map<ClusterName, Latest>();
  readonly #staged: ReturnType<typeof createStaged>;
  /** Passes over the table that are not complete yet. */
  readonly #passes = new Map<ClusterName, Rest>();

  constructor(table: Table, clock: Pick<Clock, "now">, cache: Bytes) {
    this.#table = table;
    this.#clock = clock;
    this.bodies = openBodies(table, clock, createLru(cache));
    this.#staged = createStaged(clock);
  }

  async load(cluster: ClusterName): Promise<TableRecord | undefined> {
    const partition = clusterPartition(cluster);
    const known = this.#latest.get(cluster);
    if (known !== undefined && known.rowBytes >= LARGE_MANIFEST_BYTES) {
      const glance = await this.#table.read(partition, RECORD_KEY, ["stateVersion"]);
      if (glance?.etag === known.loaded.version.etag) return known.loaded;
    }
    for (let attempt = 0; attempt < LOAD_ATTEMPTS; attempt++) {
      const row = await this.#table.read(partition, RECORD_KEY);
      if (row === undefined) return undefined;
      if (known?.loaded.version.etag === row.etag) return known.loaded;
      refuseOtherState(cluster, row);
      const data = joinChunks(row.values);
      const opened = await openManifest(this.bodies, partition, data, row);
      if (opened !== undefined) return this.#remember(opened, data.length);
    }
    throw new PortError("unexpected", `load record of ${cluster}`, "a part of the manifest is missing");
  }

  async stage(record: ClusterRecord, changes: BodyChanges, previous: TableRecord | undefined): Promise<void> {
    if (previous?.version.collection === undefined) return;
    const todo = await this.#work(record, changes, previous);
    await this.bodies.write(todo.partition, todo.missing);
    this.#staged.note(todo.partition, todo.missing, todo.collection);
  }

  async save(
    record: ClusterRecord,
    changes: BodyChanges,
    previous: TableRecord | undefined,
    how: "write" | "if-staged" = "write",
  ): Promise<Saved<TableVersion>> {
    const todo = await this.#work(record, changes, previous);
    const { partition, index, missing } = todo;
    // Where a row shows no collections, bodies written ahead do not count.
    if (how === "if-staged" && missing.length > 0 && todo.collection !== undefined)
      return { kind: "conflict", unstaged: true };
    const { data, spilled } = await packManifest(this.bodies, { record, index });
    await this.bodies.write(partition, spilled === undefined ? missing : [...missing, spilled]);
    const collection = todo.collection ?? randomUUID();
    const configuration = changes.configuration ?? previous?.version.configuration;
    const beside = { collection, ...(configuration === undefined ? {} : { configuration }) };
    const row = { ...manifestRow(record, data, this.#clock), ...beside };
    const outcome = await writeRow(this.#table, partition, row, previous?.version.etag);
    if (outcome.kind === "conflict") return outcome;
    const spill = spilled === undefined ? {} : { spilled: spilled.ref };
    const version = { etag: outcome.etag, index, ...outcome.beside, ...spill };
    return { kind: "saved", loaded: this.#remember({ record, version }, data.length) };
  }

  async collect(cluster: ClusterName, now: Instant, how: "begin" | "go-on"): Promise<number> {
    const rest = this.#passes.get(cluster) ?? (how === "begin" ? WHOLE_TABLE : []);
    if (rest.length === 0) return 0;
    const partition = clusterPartition(cluster);
    const view = () => this.#viewFor(cluster);
    const collected = await collectBodies(
      { table: this.#table, partition, clock: this.#clock, view, fraction: Math.random },
      rest,
      now,
    );
    if (collected.rest.length === 0) this.#passes.delete(cluster);
    else this.#passes.set(cluster, collected.rest);
    return collected.removed;
  }

  #remember(loaded: TableRecord, rowBytes: number): TableRecord {
    this.#latest.set(loaded.record.cluster, { loaded, rowBytes });
    return loaded;
  }

  /** The index that a save would have, and its bodies that are not written yet. */
  async #work(record: ClusterRecord, changes: BodyChanges, previous: TableRecord | undefined) {
    const partition = clusterPartition(record.cluster);
    const stored = previous && { record: previous.record, index: previous.version.index };
    const next = await nextIndex(this.bodies, partition, record, changes, stored);
    const collection = previous?.version.collection;
    const missing = next.toWrite.filter(({ ref }) => !this.#staged.holds(partition, ref.id, collection));
    return { partition, index: next.index, missing, collection };
  }

  async #viewFor(cluster: ClusterName): Promise<CollectorView | undefined> {
    const loaded = await this.load(cluster);
    if (loaded === undefined) return undefined;
    const { etag, index, spilled } = loaded.version;
    const refs = spilled === undefined ? refsOf(index) : [...refsOf(index), spilled];
    return { etag, named: new Set(refs.map(({ id }) => id)) };
  }
}

/** The last manifest read of a cluster. A load that finds the same ETag parses nothing. */
interface Latest {
  readonly loaded: TableRecord;
  /** Size of the row's data: decides whether a check of the ETag is worth a separate call. */
  readonly rowBytes: number;
}

/** Bodies that this process has written for later saves. */
interface Staged {
  note(partition: string, bodies: readonly PreparedBody[], collection: string | undefined): void;
  /** Whether the body is in storage, for a manifest whose last collection is `collection`. */
  holds(partition: string, id: string, collection: string | undefined): boolean;
}

/** Far less than the hour after which the collector removes bodies that no manifest names. */
const STAGED_SECONDS: Seconds = 600;

/**
 * A body that was written before the manifest was loaded is in storage only if nothing has been collected since: the same content may have
 * been there as garbage, and a collector that listed it as old removes it despite the new write. Each collection therefore marks the
 * manifest. Under the same mark nothing was removed; under another one the body is written again.
 */
function createStaged(clock: Pick<Clock, "now">): Staged {
  const written = new Map<string, { readonly collection: string; readonly at: Instant }>();
  const isYoung = (at: Instant): boolean => secondsBetween(at, clock.now()) < STAGED_SECONDS;
  return {
    note(partition, bodies, collection) {
      for (const [key, { at }] of written) if (!isYoung(at)) written.delete(key);
      if (collection === undefined) return;
      for (const { ref } of bodies) written.set(`${partition}/${ref.id}`, { collection, at: clock.now() });
    },
    holds(partition, id, collection) {
      const known = written.get(`${partition}/${id}`);
      return known !== undefined && known.collection === collection && isYoung(known.at);
    },
  };
}

/**
 * The bodies that the index names and storage lacks, and their contents. Undefined if none is missing. The remembered parts of finished
 * sets do not count: a missing shard counts as empty.
 */
async function findMissing(
  bodies: BodyRows,
  record: ClusterRecord,
  { seen, ledger, questions, plan, packs, own }: BodyIndex,
): Promise<MissingBodies | undefined> {
  const partition = clusterPartition(record.cluster);
  const refs = [seen, ledger, questions, plan, ...packs, ...own.values()].filter((ref) => ref !== undefined);
  const found = await Promise.all(
    refs.map(async (ref) => ({ ref, isThere: await bodies.isThere(partition, ref) })),
  );
  const ids = new Set(found.filter(({ isThere }) => !isThere).map(({ ref }) => ref.id));
  if (ids.size === 0) return undefined;
  const isMissing = (ref: BodyRef | undefined): boolean => ref !== undefined && ids.has(ref.id);
  const isLost = (key: EntryKey): boolean => isMissing(own.get(key) ?? packs[packOf(key, packs.length)]);
  const digests = new Set<Digest>();
  for (const entry of entriesOf(record)) {
    if (!entry.live) continue;
    if (isLost(demandKey(entry))) digests.add(entry.digest);
    const key = reportKey(entry);
    if (key !== undefined && entry.report !== undefined && isLost(key)) digests.add(entry.report);
  }
  return {
    ids: [...ids].toSorted(),
    seen: isMissing(seen),
    ledger: isMissing(ledger),
    questions: isMissing(questions),
    plan: isMissing(plan),
    digests,
  };
}
