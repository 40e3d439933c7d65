import { randomUUID } from "node:crypto";
import type { LoadedRecord, RecordVersion } from "../../app/ports/record-store.ts";
import type { Clock } from "../../app/ports/ports.ts";
import { PortError } from "../../app/ports/port-error.ts";
import type { ClusterName } from "../../domain/ids.ts";
import { digest } from "../../domain/ids.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { STATE_VERSION } from "../../domain/record.ts";
import type { BodyRows, PreparedBody } from "./bodies.ts";
import type { BodyIndex, BodyRef } from "./body-index.ts";
import type { BodyCodec, Manifest } from "./codec.ts";
import { compress, unpackRow } from "./compress.ts";
import { readManifest, storedManifest, writeManifest, writeSpilled } from "./codec.ts";
import { RECORD_KEY } from "./keys.ts";
import { ROW_BYTES, chunkProperties } from "./rows.ts";
import type { ReadRow, Row, Table, WriteOutcome } from "./table.ts";

/** A version of a stored record: its ETag, and where its bodies are. */
export interface TableVersion extends RecordVersion {
  readonly index: BodyIndex;
  /** Changes when garbage is collected. Undefined: the row does not show it. */
  readonly collection: string | undefined;
  /** The body that holds the manifest, if it is too large for its row. */
  readonly spilled?: BodyRef;
}

export type TableRecord = LoadedRecord<TableVersion>;

/**
 * This release touches records of its own state version only: the next save would lose what a newer release knows, and what a build before
 * 0.1.0 wrote is not read (docs/operations.md, Upgrade and rollback).
 */
export function refuseOtherState(cluster: ClusterName, row: ReadRow): void {
  const { stateVersion } = row.values;
  if (stateVersion === STATE_VERSION) return;
  const isOlder = typeof stateVersion === "number" && stateVersion < STATE_VERSION;
  const why = isOlder
    ? "a build before 0.1.0 has written it, and this release needs an empty table"
    : "a newer release has written it";
  throw new PortError(
    "other-state",
    `load record of ${cluster}`,
    `its state version is ${String(stateVersion)} and this release knows only ${STATE_VERSION}; ${why}`,
  );
}

/** The record in a row's data. Undefined if it is in a body, and the body is missing. */
export async function openManifest(
  bodies: BodyRows,
  partition: string,
  data: Uint8Array,
  { etag, values }: ReadRow,
): Promise<TableRecord | undefined> {
  const version = { etag, ...besideManifest(values) };
  const inRow = readManifest(await unpackRow(data));
  if (!("spilled" in inRow)) return { record: inRow.record, version: { ...version, index: inRow.index } };
  const { spilled } = inRow;
  const manifest = await bodies.read(partition, spilled, manifestCodec);
  if (manifest === undefined) return undefined;
  return { record: manifest.record, version: { ...version, index: manifest.index, spilled } };
}

/** Properties of the row that others change without changing the manifest. */
type BesideManifest = Pick<TableVersion, "collection" | "configuration">;

function besideManifest({ collection, configuration }: Row): BesideManifest {
  return {
    collection: typeof collection === "string" ? collection : undefined,
    ...(typeof configuration === "string" ? { configuration: digest(configuration) } : {}),
  };
}

const manifestCodec: BodyCodec<Manifest> = {
  write: storedManifest,
  read(text) {
    const manifest = readManifest(text);
    if ("spilled" in manifest) throw new Error("a spilled manifest cannot be spilled again");
    return manifest;
  },
};

/** The row's bytes. A manifest larger than a row becomes a body, and the row only names it, so that no record is ever refused. */
export async function packManifest(
  bodies: BodyRows,
  manifest: Manifest,
): Promise<{ readonly data: Uint8Array; readonly spilled?: PreparedBody }> {
  const data = await compress(writeManifest(manifest));
  if (data.length <= ROW_BYTES) return { data };
  const spilled = await bodies.prepare(manifestCodec, manifest);
  return { data: await compress(writeSpilled(spilled.ref)), spilled };
}

/** `plan` and `epoch` are for people who look into the table. `saveId` distinguishes our own write from another's. */
export function manifestRow(record: ClusterRecord, data: Uint8Array, clock: Pick<Clock, "now">): SaveRow {
  return {
    saveId: randomUUID(),
    stateVersion: STATE_VERSION,
    plan: record.plan,
    epoch: record.epoch,
    writtenAt: BigInt(clock.now()),
    ...chunkProperties(data),
  };
}

type SaveRow = Row & { readonly saveId: string };

/** `beside`: what the row has beside the manifest now, which others may have changed since the write. */
type RowWritten =
  | { readonly kind: "written"; readonly etag: string; readonly beside: BesideManifest }
  | Extract<WriteOutcome, { kind: "conflict" }>;

/**
 * Writes the manifest if the row is still at `etag` (undefined: if there is none). The SDK repeats a write whose answer was lost, and then
 * conflicts with itself: the save id distinguishes that from a real conflict. The row's ETag counts then, and so does what others have
 * changed beside the manifest: with the new ETag and the old configuration, the next commit would be decided on the old one.
 */
export async function writeRow(
  table: Table,
  partition: string,
  row: SaveRow,
  etag: string | undefined,
): Promise<RowWritten> {
  const outcome =
    etag === undefined
      ? await table.insert(partition, RECORD_KEY, row)
      : await table.replace(partition, RECORD_KEY, row, etag);
  if (outcome.kind === "written") return { ...outcome, beside: besideManifest(row) };
  const present = await table.read(partition, RECORD_KEY, ["saveId", "collection", "configuration"]);
  if (present?.values["saveId"] !== row.saveId) return outcome;
  return { kind: "written", etag: present.etag, beside: besideManifest(present.values) };
}
