import type { Clock } from "../../app/ports/ports.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import type { PreparedBody } from "./bodies.ts";

/** Bodies that this process has written for later saves. */
export interface Staged {
  note(partition: string, bodies: readonly PreparedBody[], collection: string | undefined): void;
  /** Whether the body is in storage, for a manifest whose last collection is `collection`. */
  holds(partition: string, id: string, collection: string | undefined): boolean;
}

/** Far less than the hour after which the collector removes bodies that no manifest names. */
const STAGED_SECONDS: Seconds = 600;

/**
 * A body that was written before the manifest was loaded is in storage only if nothing has been collected since: the same content may have
 * been there as garbage, and a collector that listed it as old removes it despite the new write. Each collection therefore marks the
 * manifest. Under the same mark nothing was removed; under another one the body is written again.
 */
export function createStaged(clock: Pick<Clock, "now">): Staged {
  const written = new Map<string, { readonly collection: string; readonly at: Instant }>();
  const isYoung = (at: Instant): boolean => secondsBetween(at, clock.now()) < STAGED_SECONDS;
  return {
    note(partition, bodies, collection) {
      for (const [key, { at }] of written) if (!isYoung(at)) written.delete(key);
      if (collection === undefined) return;
      for (const { ref } of bodies) written.set(`${partition}/${ref.id}`, { collection, at: clock.now() });
    },
    holds(partition, id, collection) {
      const known = written.get(`${partition}/${id}`);
      return known !== undefined && known.collection === collection && isYoung(known.at);
    },
  };
}
