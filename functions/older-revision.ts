import type { HttpResponseInit } from "@azure/functions";
import type { RequestSetUpdate, Revision } from "../src/domain/demand.ts";
import type { Instant, Milliseconds } from "../src/domain/units.ts";
import { instant, isoTime } from "../src/domain/units.ts";
import { problem } from "./problem.ts";

/** Advice on a revision that is older than the one that is held, with the times if clocks seem to differ. */
export function adviseOnOlder({ revision }: RequestSetUpdate, held: Revision, now: Instant): string {
  const older = `revision ${revision.value} is older than ${held.value}, which is held`;
  const advice = "send a later revision or none, or use another request set";
  const moment = ({ value }: Revision) => isoTime(instant(value));
  if (held.value > now)
    return `${older}: the clock of the sender of the held one is ahead (held ${moment(held)}, the app's time is ${isoTime(now)}); ${advice}`;
  if (now - revision.value > CLOCKS_DIFFER_MS)
    return `${older}: this sender's clock is behind, or the message is old (revision ${moment(revision)}, the app's time is ${isoTime(now)}); ${advice}`;
  return `${older}; ${advice}`;
}

/** A request over HTTP arrives at once. A revision that is older than this was not made just now. */
const CLOCKS_DIFFER_MS: Milliseconds = 30_000;

/** The answer to a message that was over when it arrived. Sending it again does not help. */
export function expired(at: Instant): HttpResponseInit {
  return problem(409, "Expired", `the message expired at ${isoTime(at)}`);
}

/** A revision from before the time that the app remembers: a newer one may have come and lapsed since. */
export function forgotten({ revision }: RequestSetUpdate, oldest: Instant): HttpResponseInit {
  const of = isoTime(instant(revision.value));
  return problem(
    409,
    "Stale revision",
    `revision ${revision.value} (${of}) is from before ${isoTime(oldest)}, and nothing newer of this request set is held: revisions are remembered for maxExpirationInterval; send a later revision or none`,
  );
}
