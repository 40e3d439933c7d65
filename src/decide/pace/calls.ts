import type { Calls, Endpoint, EndpointCalls } from "../../domain/calls.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";

/** The speed and failures of calls to CycleCloud (docs/protocol.md, Slow calls). */

/** One call that has ended. */
export interface MeasuredCall {
  readonly endpoint: Endpoint;
  readonly seconds: Seconds;
  /** When it ended. */
  readonly at: Instant;
  /** Absent: it succeeded. */
  readonly failure?: string;
}

/** Quicker calls change no bounds. */
export const QUICK_SECONDS: Seconds = 1;
/** An endpoint that was not called for this time may be quick, or work, again. */
const FORGET_SECONDS: Seconds = 900;
const RECENT_SECONDS: Seconds = 300;
/** The largest time limit of a call. Longer times count as this. */
const LONGEST_CALL_SECONDS: Seconds = 90;

/** Notes the calls that ended since the last commit. `measured`: oldest first. */
export function noteCalls(
  record: ClusterRecord,
  measured: readonly MeasuredCall[],
  now: Instant,
): ClusterRecord {
  const { calls: before = {}, ...rest } = record;
  const calls: { -readonly [E in keyof Calls]: Calls[E] } = {};
  for (const endpoint of ENDPOINTS) {
    const known = before[endpoint];
    const recent = known !== undefined && secondsBetween(known.at, now) < FORGET_SECONDS ? known : undefined;
    const ended = measured.filter((call) => call.endpoint === endpoint);
    const next = ended.reduce(afterCall, recent);
    if (next !== undefined && (next.seconds >= QUICK_SECONDS || next.failure !== undefined))
      calls[endpoint] = next;
  }
  return Object.keys(calls).length === 0 ? rest : { ...rest, calls };
}

/** All endpoints, in the order in which they are shown. */
export const ENDPOINTS = [
  "status",
  "nodes",
  "operations",
  "create",
  "start",
  "terminate",
] as const satisfies readonly Endpoint[];

function afterCall(known: EndpointCalls | undefined, call: MeasuredCall): EndpointCalls {
  const { at, failure } = call;
  const seconds = nextSeconds(known?.seconds ?? 0, call);
  if (failure === undefined) return { seconds, at };
  return { seconds, at, failure: { since: known?.failure?.since ?? at, message: failure } };
}

/** The expected duration after a call. A failed call may have ended early, so it can only raise the duration. */
function nextSeconds(known: number, { seconds, failure }: MeasuredCall): number {
  const slower = Math.max(known, Math.min(LONGEST_CALL_SECONDS, seconds));
  const next = failure === undefined && seconds < known ? (known + seconds) / 2 : slower;
  return Math.round(next * 10) / 10;
}

/** The calls that are shown. Endpoints that were not called for some time are left out, because their state may have changed. */
export function recentCalls({ calls = {} }: Pick<ClusterRecord, "calls">, now: Instant): Calls {
  const recent = ENDPOINTS.flatMap((endpoint) => {
    const known = calls[endpoint];
    return known !== undefined && secondsBetween(known.at, now) <= RECENT_SECONDS ? [[endpoint, known]] : [];
  });
  return Object.fromEntries(recent);
}

/** The expected duration of a status call. 0 if it is less than a second. */
export function statusSeconds({ calls }: Pick<ClusterRecord, "calls">): number {
  return calls?.status?.seconds ?? 0;
}

/** The expected duration of a call to the slowest endpoint. 0 if all are quick. */
function slowestSeconds({ calls = {} }: Pick<ClusterRecord, "calls">): number {
  return Math.max(0, ...ENDPOINTS.map((endpoint) => calls[endpoint]?.seconds ?? 0));
}

/**
 * By how much bounds grow that assume quick calls, because a plan waits for one call and sends another. Such bounds are the age of an
 * observation that answers callbacks, the gap that counts as an outage, and the deadline of a tick.
 */
export function patienceSeconds(record: Pick<ClusterRecord, "calls">): number {
  return 2 * slowestSeconds(record);
}
