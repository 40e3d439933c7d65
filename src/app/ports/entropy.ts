import type { Epoch, Owner } from "../../domain/ids.ts";

export interface Entropy {
  epoch(): Epoch;
  owner(): Owner;
  /** A number in [0, 1) for jitter. */
  fraction(): number;
}
