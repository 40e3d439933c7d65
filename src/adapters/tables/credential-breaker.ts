import { createHash } from "node:crypto";
import type { Clock, CredentialBreaker } from "../../app/ports/ports.ts";
import type { Instant, Milliseconds } from "../../domain/units.ts";
import { instant } from "../../domain/units.ts";
import { CREDENTIALS_PARTITION } from "./keys.ts";
import type { Table } from "./table.ts";

/** How long this process caches what it read: it asks before each call to CycleCloud, and a refusal lasts for minutes. */
const BELIEVED_MS: Milliseconds = 5_000;

/** The breaker that all instances share: one row per credential, named by a hash so that no key contains an account name. */
export function tableCredentialBreaker(table: Table, clock: Pick<Clock, "now">): CredentialBreaker {
  const known = new Map<string, { readonly refusedAt: Instant | undefined; readonly readAt: Instant }>();
  const remember = (key: string, refusedAt: Instant | undefined) =>
    known.set(key, { refusedAt, readAt: clock.now() });
  return {
    async refusedAt(credential) {
      const key = keyOf(credential);
      const remembered = known.get(key);
      if (remembered !== undefined && clock.now() - remembered.readAt < BELIEVED_MS)
        return remembered.refusedAt;
      const row = await table.read(CREDENTIALS_PARTITION, key);
      const refusedAt = row === undefined ? undefined : instant(Number(row.values["refusedAt"]));
      remember(key, refusedAt);
      return refusedAt;
    },
    async note(credential, at) {
      const key = keyOf(credential);
      await table.put(CREDENTIALS_PARTITION, key, { refusedAt: BigInt(at) });
      remember(key, at);
    },
    async clear(credential) {
      const key = keyOf(credential);
      await table.remove(CREDENTIALS_PARTITION, key);
      remember(key, undefined);
    },
  };
}

function keyOf(credential: string): string {
  return createHash("sha256").update(credential).digest("hex");
}
