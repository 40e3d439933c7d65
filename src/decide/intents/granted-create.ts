import { spotIn } from "../../domain/attributes.ts";
import { dynamicArrayOf } from "../../domain/bucket.ts";
import type { InFlight } from "../../domain/in-flight.ts";
import type { CreateEffect, CreateSet, GrantedSet, Intent } from "../../domain/intent.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { backOff, pauseKey } from "./back-off.ts";
import { sendTogether } from "./create-requests.ts";
import { digestOfAttributes } from "../../domain/attributes-digest.ts";

/** The record after a create with an effect (docs/protocol.md, In flight). */

/** Notes the grants of an accepted create. A bucket that grants less than requested pauses. */
export function afterAccepted(
  record: ClusterRecord,
  intent: Intent,
  { sets }: CreateEffect,
  { sets: granted, keyId }: { readonly sets: readonly GrantedSet[]; readonly keyId?: string },
  now: Instant,
): ClusterRecord {
  let next = sendTogether(record, sets);
  sets.forEach((set, index) => {
    const { added, message } = granted[index] ?? { added: 0 };
    if (added > 0) next = withInFlight(next, inFlightOf(set, intent, added, now, keyId));
    if (added < set.count) {
      const words = `${set.count} asked, ${added} added${message === undefined ? "" : `: ${message}`}`;
      next = backOff(next, set.bucket, "fell-short", words, now);
    } else next = withoutRefusals(next, set);
  });
  return next;
}

/**
 * Notes a create whose answer was lost. Each set may have been granted less than requested. Until the list of the request's nodes shows the
 * number, all nodes count as in flight. The time for them counts from the commit, because they may have come and gone already.
 */
export function afterFound(
  record: ClusterRecord,
  intent: Intent,
  { sets }: CreateEffect,
  { keyId }: { readonly keyId?: string },
  now: Instant,
): ClusterRecord {
  const unconfirmed = { listed: 0, since: now };
  return sets.reduce(
    (next, set) => {
      const entry = { ...inFlightOf(set, intent, set.count, intent.committedAt, keyId), unconfirmed };
      return withoutRefusals(withInFlight(next, entry), set);
    },
    sendTogether(record, sets),
  );
}

function withInFlight(record: ClusterRecord, entry: InFlight): ClusterRecord {
  return { ...record, inFlight: [...record.inFlight, entry] };
}

function inFlightOf(
  set: CreateSet,
  intent: Intent,
  added: number,
  since: Instant,
  keyId: string | undefined,
): InFlight {
  const attributesDigest = digestOfAttributes(set.attributes);
  const spot = spotIn(set.attributes);
  return {
    requestId: intent.id,
    bucket: set.bucket,
    purpose: set.purpose,
    ...(attributesDigest === undefined ? {} : { look: attributesDigest }),
    ...(keyId === undefined ? {} : { keyId }),
    ...(spot === undefined ? {} : { spot }),
    added,
    seen: [],
    since,
    plannedAt: intent.committedAt,
  };
}

/** The record without pauses for refusals of this set. An accepted create does not show that nodes boot, so other pauses stay. */
function withoutRefusals(record: ClusterRecord, { bucket, purpose }: CreateSet): ClusterRecord {
  const key = pauseKey({ bucket, dynamic: dynamicArrayOf(purpose) });
  const backoffs = record.backoffs.filter(
    ({ cause, ...entry }) => pauseKey(entry) !== key || (cause !== "refused" && cause !== "fell-short"),
  );
  return { ...record, backoffs };
}
