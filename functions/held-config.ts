import type { Site } from "../src/app/ports/site.ts";
import type { Composition } from "../src/compose.ts";
import type { ConfigVersion } from "../src/domain/config-version.ts";
import type { Policy } from "../src/domain/policy.ts";
import { DEFAULT_POLICY, observing } from "../src/domain/policy.ts";
import { parseDocument } from "../src/wire/json/document.ts";
import type { Fields } from "../src/wire/json/fields.ts";
import { isFields } from "../src/wire/json/fields.ts";
import { readPolicy } from "../src/wire/policy/policy.ts";
import { writePolicy } from "../src/wire/policy/write-policy.ts";

/** The stored document of a cluster, read before a change. */
export interface HeldConfig {
  /** Absent: there is no document yet. */
  readonly etag?: string;
  readonly text: string;
  /** The number of its version. 0: there is no document yet. */
  readonly number: number;
  /** Newest first. */
  readonly versions: readonly ConfigVersion[];
  readonly inForce: Policy;
}

/**
 * Reads the document before its versions: if it changes in between, the write that follows finds another ETag, and nothing is lost. A
 * document that cannot be read is in force as observe.
 */
export async function readHeld({ app, defaultMode }: Composition, { cluster }: Site): Promise<HeldConfig> {
  const { documents } = app.ports;
  const held = await documents.read(cluster);
  const versions = await documents.versions(cluster);
  const read = readPolicy(held?.text ?? "{}", defaultMode, "store");
  return {
    text: held?.text ?? "{}",
    ...(held === undefined ? {} : { etag: held.etag }),
    number: versions[0]?.number ?? 0,
    versions,
    inForce: read.kind === "policy" ? read.policy : observing(DEFAULT_POLICY),
  };
}

/** A stored document as GET shows it. A document that cannot be read is shown unchanged. */
export function documentOf(text: string): Fields {
  const read = readPolicy(text, undefined, "store");
  if (read.kind === "policy") return { ...writePolicy(read.policy) };
  const document = parseDocument(text);
  return document.kind === "value" && isFields(document.value) ? document.value : {};
}
