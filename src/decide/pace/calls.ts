import type { Calls, Endpoint, EndpointCalls } from "../../domain/calls.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant, Seconds } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";

/** How long calls to CycleCloud take, and which fail (docs/protocol.md, Slow calls). */

/** One call that has ended. */
export interface MeasuredCall {
  readonly endpoint: Endpoint;
  readonly seconds: Seconds;
  /** When it ended. */
  readonly at: Instant;
  /** Absent: it succeeded. */
  readonly failure?: string;
}

/** A quicker call needs no bound that grows. */
export const QUICK_SECONDS: Seconds = 1;
/** An endpoint that nobody has called for so long may be quick, or work, again. */
const FORGET_SECONDS: Seconds = 900;
const RECENT_SECONDS: Seconds = 300;
/** A measured time counts as no more than this: the longest time limit that a call may have. */
const LONGEST_CALL_SECONDS: Seconds = 90;

/** The record with the calls that ended since its last commit, oldest first. */
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

/** A refusal says nothing of how long an answer takes; a call that ended without an answer says the least that it takes. */
function nextSeconds(known: number, { seconds, failure }: MeasuredCall): number {
  const slower = Math.max(known, Math.min(LONGEST_CALL_SECONDS, seconds));
  const next = failure === undefined && seconds < known ? (known + seconds) / 2 : slower;
  return Math.round(next * 10) / 10;
}

/** What is shown of CycleCloud's calls: of what was called long ago it is not known whether it is still slow, or fails. */
export function recentCalls({ calls = {} }: Pick<ClusterRecord, "calls">, now: Instant): Calls {
  const recent = ENDPOINTS.flatMap((endpoint) => {
    const known = calls[endpoint];
    return known !== undefined && secondsBetween(known.at, now) <= RECENT_SECONDS ? [[endpoint, known]] : [];
  });
  return Object.fromEntries(recent);
}

/** Seconds that a status takes; 0: less than one. */
export function statusSeconds({ calls }: Pick<ClusterRecord, "calls">): number {
  return calls?.status?.seconds ?? 0;
}

/** Seconds of the slowest endpoint; 0: all are quick. */
export function slowestSeconds({ calls = {} }: Pick<ClusterRecord, "calls">): number {
  return Math.max(0, ...ENDPOINTS.map((endpoint) => calls[endpoint]?.seconds ?? 0));
}

/**
 * Seconds by which a bound grows that assumes quick calls: a plan waits for one call and sends another. Such bounds are the age of an observation
 * that answers callbacks, the gap that is taken for an outage, and the deadline of a tick.
 */
export function patienceSeconds(record: Pick<ClusterRecord, "calls">): number {
  return 2 * slowestSeconds(record);
}
