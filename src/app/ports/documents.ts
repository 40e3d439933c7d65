import type { ConfigChange, ConfigVersion } from "../../domain/config-version.ts";
import type { ClusterName } from "../../domain/ids.ts";

/** The compressed size of a document, and its limit. */
export interface DocumentTooLarge {
  readonly kind: "too-large";
  readonly bytes: number;
  readonly limit: number;
}

/** Small documents beside the records: the configuration of each cluster. */
export interface Documents {
  read(cluster: ClusterName): Promise<{ readonly text: string; readonly etag: string } | undefined>;
  /**
   * `too-large`: more than the store keeps in one document; nothing is changed. `change` is recorded together with the document. Once it is
   * saved, the cluster's record names it as the configuration in force, whatever the record's ETag is, and no commit that was decided before
   * can be saved any more (docs/protocol.md, Configuration).
   */
  write(
    cluster: ClusterName,
    text: string,
    etag: string | undefined,
    change?: ConfigChange,
  ): Promise<"saved" | "conflict" | DocumentTooLarge>;
  /** The versions of the document, newest first, including the one in force. Bounded. */
  versions(cluster: ClusterName): Promise<readonly ConfigVersion[]>;
}
