import type { Documents } from "../../app/ports/record-store.ts";
import type { ConfigVersion } from "../../domain/config-version.ts";
import { documentDigest, withHeld, withVersion } from "../../domain/config-version.ts";
import type { MemoryRecordStore } from "./record-store.ts";
import type { ClusterName } from "../../domain/ids.ts";

/** Configuration documents in memory, compare-and-set like the stored ones. `records`: whose records name them. */
export function memoryDocuments(records?: Pick<MemoryRecordStore, "nameConfiguration">): Documents {
  const documents = new Map<ClusterName, { readonly text: string; readonly etag: string }>();
  const history = new Map<ClusterName, readonly ConfigVersion[]>();
  let writes = 0;
  return {
    read: (cluster) => Promise.resolve(documents.get(cluster)),
    versions: (cluster) =>
      Promise.resolve(withHeld(history.get(cluster) ?? [], documents.get(cluster)?.text)),
    async write(cluster, text, etag, change = {}) {
      const held = documents.get(cluster);
      if (held?.etag !== etag) return "conflict";
      history.set(cluster, withVersion(history.get(cluster) ?? [], held?.text, text, change));
      documents.set(cluster, { text, etag: String(++writes) });
      records?.nameConfiguration(cluster, documentDigest(text));
      return "saved";
    },
  };
}
