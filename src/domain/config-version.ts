import type { Instant } from "./units.ts";

/** One state that a cluster's configuration had. */
export interface ConfigVersion {
  /** Rises by one with each change; never used again. */
  readonly number: number;
  /** When it came into force; absent: it was there before changes were recorded, or an older release wrote it. */
  readonly at?: Instant;
  /** Who made the change; absent: not known. */
  readonly who?: string;
  /** It brought back this version. */
  readonly rollbackTo?: number;
  /** The stored document. */
  readonly text: string;
}

/** What is recorded of one change. */
export type ConfigChange = Pick<ConfigVersion, "at" | "who" | "rollbackTo">;

/** The most states that are kept. */
export const MOST_VERSIONS = 100;

/**
 * The states after a change from `before` (absent: there was no document) to `text`, newest first; bounded by {@link MOST_VERSIONS}. A state
 * that nobody recorded, as an older release wrote it, is recorded first. A change that changes nothing is none.
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

/** The states with the document in force, should nobody have recorded it. */
export function withHeld(
  versions: readonly ConfigVersion[],
  held: string | undefined,
): readonly ConfigVersion[] {
  const [last] = versions;
  if (held === undefined || last?.text === held) return versions;
  return [{ number: (last?.number ?? 0) + 1, text: held }, ...versions];
}
