import type { Digest } from "./ids.ts";

/** The contents of bodies that storage does not have. */
export interface MissingBodies {
  readonly ids: readonly string[];
  readonly seen: boolean;
  readonly ledger: boolean;
  readonly questions: boolean;
  readonly plan: boolean;
  /** Demands and reports. */
  readonly digests: ReadonlySet<Digest>;
}
