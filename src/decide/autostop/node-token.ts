import type { Digest, NodeId } from "../../domain/ids.ts";
import type { LedgerNode, NodeBinding } from "../../domain/ledger.ts";
import type { Instant } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { FRESH_REPORT_SECONDS } from "../stops/scale-down.ts";
import type { HostFact } from "../senders/host-facts.ts";

/**
 * A node's own token (docs/nodes.md, What a stop URL allows; docs/decisions.md, "A node chooses its own token, bound at first use"). All
 * nodes of an array have the same stop URL, so it does not show which of them calls. A node may choose a token and send it with each call.
 * The first token that arrives for an instance binds it: from then on a call for this instance counts only with that token. A node that
 * never sends a token needs none. No route takes a binding back: it would be one more way to take over a node.
 */

/** The identity that a call claims (docs/decisions.md, "The caller's address is not checked"). */
export interface Caller {
  readonly instance: string;
  /** The digest of the token that the call carries. Absent: it carries none. */
  readonly token?: Digest;
}

/** The binding of the node for this instance. Undefined if it has none. The binding of an earlier VM does not count. */
function bindingOf({ bound }: LedgerNode, instance: string): NodeBinding | undefined {
  return bound?.instanceId === instance ? bound : undefined;
}

/** The bindings that count for calls of one moment, and which of them are new. If two calls bring a first token, the first one binds. */
export function bindCallers(
  callers: readonly { readonly known: LedgerNode; readonly call: Caller }[],
): ReadonlyMap<NodeId, { readonly binding: NodeBinding; readonly isNew: boolean }> {
  const bindings = new Map<NodeId, { readonly binding: NodeBinding; readonly isNew: boolean }>();
  for (const { known, call } of callers) {
    if (bindings.has(known.nodeId)) continue;
    const { instance, token } = call;
    const binding = bindingOf(known, instance);
    if (binding !== undefined) bindings.set(known.nodeId, { binding, isNew: false });
    else if (token !== undefined)
      bindings.set(known.nodeId, { binding: { token, instanceId: instance }, isNew: true });
  }
  return bindings;
}

/**
 * Whether the call may speak for its node: the node is not bound, or the call carries its token, or a report called the host idle within the
 * last 30 s. Such a report may stop the node by itself. So a node that has lost its token can still stop where a scheduler reports.
 */
export function maySpeak(
  binding: NodeBinding | undefined,
  token: Digest | undefined,
  fact: HostFact | undefined,
  now: Instant,
): boolean {
  return binding === undefined || binding.token === token || isReportedIdle(fact, now);
}

function isReportedIdle(fact: HostFact | undefined, now: Instant): boolean {
  if (fact?.reportedAt === undefined || fact.jobs.length > 0 || fact.state === "open") return false;
  return secondsBetween(fact.reportedAt, now) <= FRESH_REPORT_SECONDS;
}
