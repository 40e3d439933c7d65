import type { Documents } from "../../app/ports.ts";
import type { ClusterName } from "../../domain/ids.ts";

/** Configuration documents in memory, compare-and-set like the stored ones. */
export function memoryDocuments(): Documents {
  const documents = new Map<ClusterName, { readonly text: string; readonly etag: string }>();
  let writes = 0;
  return {
    read: (cluster) => Promise.resolve(documents.get(cluster)),
    async write(cluster, text, etag) {
      if (documents.get(cluster)?.etag !== etag) return "conflict";
      documents.set(cluster, { text, etag: String(++writes) });
      return "saved";
    },
  };
}
