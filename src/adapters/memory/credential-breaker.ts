import type { CredentialBreaker } from "../../app/ports/ports.ts";
import type { Instant } from "../../domain/units.ts";

/** The breaker of a single process. */
export function memoryCredentialBreaker(): CredentialBreaker {
  const refusals = new Map<string, Instant>();
  return {
    refusedAt: (credential) => Promise.resolve(refusals.get(credential)),
    async note(credential, at) {
      refusals.set(credential, at);
    },
    async clear(credential) {
      refusals.delete(credential);
    },
  };
}
