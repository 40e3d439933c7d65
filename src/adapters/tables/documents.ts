import type { Documents } from "../../app/ports.ts";
import { asPortCall } from "../system/azure-errors.ts";
import { compress, decompress } from "./codec.ts";
import { CONFIGURATION_KEY, clusterPartition } from "./keys.ts";
import { ROW_BYTES, chunkProperties, joinChunks } from "./rows.ts";
import type { Table } from "./table.ts";

/** Configuration documents in Table Storage, one row each. A document over 700 KiB compressed is too large. */
export function tableDocuments(table: Table): Documents {
  return {
    read: (cluster) =>
      asPortCall(`read configuration of ${cluster}`, async () => {
        const row = await table.read(clusterPartition(cluster), CONFIGURATION_KEY);
        if (row === undefined) return undefined;
        return { text: await decompress(joinChunks(row.values)), etag: row.etag };
      }),
    async write(cluster, text, etag) {
      const bytes = await compress(text);
      if (bytes.length > ROW_BYTES) return { kind: "too-large", bytes: bytes.length, limit: ROW_BYTES };
      const partition = clusterPartition(cluster);
      const values = chunkProperties(bytes);
      const outcome =
        etag === undefined
          ? await table.insert(partition, CONFIGURATION_KEY, values)
          : await table.replace(partition, CONFIGURATION_KEY, values, etag);
      return outcome.kind === "written" ? "saved" : "conflict";
    },
  };
}
