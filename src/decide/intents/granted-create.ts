import { spotIn } from "../../domain/attributes.ts";
import { dynamicArrayOf } from "../../domain/bucket.ts";
import type { InFlight } from "../../domain/in-flight.ts";
import type { CreateEffect, CreateSet, GrantedSet, Intent } from "../../domain/intent.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { backOff, pauseKey } from "./back-off.ts";
import { sendTogether } from "./create-requests.ts";
import { digestOfAttributes } from "../../domain/attributes-digest.ts";

/** What a create that has had its effect leaves in the record (docs/protocol.md, In flight). */

/** Each set by its own grant; a bucket that gives less than was asked for rests. */
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
 * Each set may have got less than it asked for: until the list of the request's nodes says how many, all of it is taken to come. Its grace
 * counts from the commit, as it may have been found long after its nodes came, and went.
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
  const look = digestOfAttributes(set.attributes);
  const spot = spotIn(set.attributes);
  return {
    requestId: intent.id,
    bucket: set.bucket,
    purpose: set.purpose,
    ...(look === undefined ? {} : { look }),
    ...(keyId === undefined ? {} : { keyId }),
    ...(spot === undefined ? {} : { spot }),
    added,
    seen: [],
    since,
    plannedAt: intent.committedAt,
  };
}

/** An accepted create ends what creates are refused for; that its nodes boot it does not show. */
function withoutRefusals(record: ClusterRecord, { bucket, purpose }: CreateSet): ClusterRecord {
  const key = pauseKey({ bucket, dynamic: dynamicArrayOf(purpose) });
  const backoffs = record.backoffs.filter(
    (entry) => pauseKey(entry) !== key || entry.cause === "boot-failed" || entry.cause === "unhealthy",
  );
  return { ...record, backoffs };
}
