import { digestOf } from "./digest.ts";
import type { Digest } from "./ids.ts";
import type { Instant } from "./units.ts";

/** One version of a cluster's configuration. */
export interface ConfigVersion {
  /** Rises by one with each change. Never reused. */
  readonly number: number;
  /** When it came into force. Absent: not known, as it was written in storage itself. */
  readonly at?: Instant;
  /** Who made the change. Absent: unknown. */
  readonly who?: string;
  /** The version that this change restored. */
  readonly rollbackTo?: number;
  /** The stored document. */
  readonly text: string;
}

/** Identifies a stored document by its text: the same text is the same configuration, whenever it was written. Undefined: there is none. */
export function documentDigest(text: string | undefined): Digest {
  return digestOf(text ?? null);
}

/** The recorded facts about one change. */
export type ConfigChange = Pick<ConfigVersion, "at" | "who" | "rollbackTo">;

/** Maximum number of versions kept. */
const MOST_VERSIONS = 100;

/**
 * The versions after a change from `before` (undefined: there was no document) to `text`, newest first, at most {@link MOST_VERSIONS}. If
 * `before` is not recorded because it was written in storage itself, it is recorded first. A change to the same text adds no version.
 */
export function withVersion(
  versions: readonly ConfigVersion[],
  before: string | undefined,
  text: string,
  change: ConfigChange,
): readonly ConfigVersion[] {
  const known = withHeld(versions, before);
  const [last] = known;
  if (last?.text === text) return known;
  return [{ ...change, number: (last?.number ?? 0) + 1, text }, ...known].slice(0, MOST_VERSIONS);
}

/** The versions including the document in force, even if it was not recorded. */
export function withHeld(
  versions: readonly ConfigVersion[],
  held: string | undefined,
): readonly ConfigVersion[] {
  const [last] = versions;
  if (held === undefined || last?.text === held) return versions;
  return [{ number: (last?.number ?? 0) + 1, text: held }, ...versions];
}
