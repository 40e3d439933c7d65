import type { Epoch, Owner } from "../../domain/ids.ts";

/** Randomness. All values come from the platform's generator, or from a seed in tests. Throws nothing. */
export interface Entropy {
  /** An epoch that no record has had. */
  epoch(): Epoch;
  /** An owner of intents that no other run has. */
  owner(): Owner;
  /** A number in [0, 1) for jitter. */
  fraction(): number;
}
