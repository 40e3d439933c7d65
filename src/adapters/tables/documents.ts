import type { Documents } from "../../app/ports/record-store.ts";
import type { ConfigVersion } from "../../domain/config-version.ts";
import { documentDigest, withHeld, withVersion } from "../../domain/config-version.ts";
import { asPortCall } from "../system/azure-errors.ts";
import { compress, unpackRow } from "./compress.ts";
import { CONFIGURATION_HISTORY_KEY, CONFIGURATION_KEY, RECORD_KEY, clusterPartition } from "./keys.ts";
import { ROW_BYTES, chunkProperties, joinChunks } from "./rows.ts";
import type { Table } from "./table.ts";

/**
 * Configuration documents in Table Storage, one row each, and one row with its versions; both are written together with the digest in the row
 * of the record. A document over 700 KiB
 * compressed is too large. As many versions are kept as fit.
 */
export function tableDocuments(table: Table): Documents {
  const readHistory = async (partition: string): Promise<readonly ConfigVersion[]> => {
    const row = await table.read(partition, CONFIGURATION_HISTORY_KEY);
    return row === undefined ? [] : readVersions(await unpackRow(joinChunks(row.values)));
  };
  const readText = async (partition: string) => {
    const row = await table.read(partition, CONFIGURATION_KEY);
    return row === undefined ? undefined : { text: await unpackRow(joinChunks(row.values)), etag: row.etag };
  };
  return {
    read: (cluster) =>
      asPortCall(`read configuration of ${cluster}`, () => readText(clusterPartition(cluster))),
    versions: (cluster) =>
      asPortCall(`read configuration history of ${cluster}`, async () => {
        const partition = clusterPartition(cluster);
        const [versions, held] = await Promise.all([readHistory(partition), readText(partition)]);
        return withHeld(versions, held?.text);
      }),
    async write(cluster, text, etag, change = {}) {
      const bytes = await compress(text);
      if (bytes.length > ROW_BYTES) return { kind: "too-large", bytes: bytes.length, limit: ROW_BYTES };
      const partition = clusterPartition(cluster);
      const [versions, held] = await Promise.all([readHistory(partition), readText(partition)]);
      if (held?.etag !== etag) return "conflict";
      const history = await fitting(withVersion(versions, held?.text, text, change));
      const document = { rowKey: CONFIGURATION_KEY, values: chunkProperties(bytes), etag };
      const kept = {
        rowKey: CONFIGURATION_HISTORY_KEY,
        values: chunkProperties(history),
        how: "put" as const,
      };
      const named = {
        rowKey: RECORD_KEY,
        values: { configuration: documentDigest(text) },
        how: "merge" as const,
      };
      const isNamed = (await table.read(partition, RECORD_KEY, ["stateVersion"])) !== undefined;
      const outcome = await table.writeTogether(partition, document, isNamed ? [kept, named] : [kept]);
      if (outcome.kind === "conflict") return "conflict";
      // The record may have been born meanwhile. If the document has moved on, the later change has named its own.
      if (!isNamed) await table.writeTogether(partition, { ...document, etag: outcome.etag }, [named]);
      return "saved";
    },
  };
}

/** Only `write` above writes it, so it is not validated again. */
function readVersions(text: string): readonly ConfigVersion[] {
  const versions: readonly ConfigVersion[] = JSON.parse(text);
  return versions;
}

/** As many of the newest versions as a row holds. */
async function fitting(versions: readonly ConfigVersion[]): Promise<Uint8Array> {
  let kept = versions;
  let bytes = await compress(JSON.stringify(kept));
  while (bytes.length > ROW_BYTES && kept.length > 0) {
    kept = kept.slice(0, Math.floor(kept.length / 2));
    bytes = await compress(JSON.stringify(kept));
  }
  return bytes;
}
