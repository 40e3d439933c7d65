import type { Instant } from "../../domain/units.ts";

/** When credentials were last refused, shared by all instances. Five failures within a minute lock a CycleCloud account (wire B). */
export interface CredentialBreaker {
  refusedAt(credential: string): Promise<Instant | undefined>;
  note(credential: string, at: Instant): Promise<void>;
  clear(credential: string): Promise<void>;
}
