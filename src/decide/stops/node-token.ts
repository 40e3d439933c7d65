import type { Digest, NodeId } from "../../domain/ids.ts";
import type { LedgerNode, NodeBinding } from "../../domain/ledger.ts";
import type { Instant } from "../../domain/units.ts";
import { secondsBetween } from "../../domain/units.ts";
import { FRESH_REPORT_SECONDS } from "./scale-down.ts";
import type { HostFact } from "../senders/host-facts.ts";

/**
 * A node's own token (docs/nodes.md, What a stop URL allows). The stop URL is the same for all nodes of an array, so it cannot tell them
 * apart. A node may choose a token and send it with each call. The first token that arrives for an instance binds it: from then on a call
 * for this instance counts only if it carries that token. A node that never sends one needs none.
 */

/** Who a call says that it is. */
export interface Caller {
  readonly instance: string;
  /** Of the token that it carries; absent: it carries none. */
  readonly token?: Digest;
}

/** The binding of the node for this instance; undefined: none. That of an earlier VM does not count. */
export function bindingOf({ bound }: LedgerNode, instance: string): NodeBinding | undefined {
  return bound?.instanceId === instance ? bound : undefined;
}

/** The bindings that count for calls of one moment, and which of them are new: of two first tokens the first binds. */
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
 * Whether the call may speak for its node: the node is not bound, or the call carries its token. Without it a report must have called the
 * host idle within 30 s: a report alone may stop such a node as well. So a node that has lost its token still goes where schedulers report.
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
