import { admitDemands } from "../../decide/senders/admit.ts";
import { capsInForce } from "../../decide/senders/caps-in-force.ts";
import { mayOwnPool, mayReportHosts, ruleOf } from "../../decide/senders/sender-rule.ts";
import { demandsInForce } from "../../decide/senders/demands-in-force.ts";
import type { Bodies } from "../../domain/bodies.ts";
import type { Policy } from "../../domain/policy.ts";
import { renderReason } from "../../domain/reason-text.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { poolsOf, reportsOf } from "../../domain/request-sets.ts";
import { NO_SENDER_RULES } from "../../domain/sender-rules.ts";
import { compareText } from "../../domain/text.ts";
import type { Instant } from "../../domain/units.ts";
import type { LossShown } from "../../wire/api/configuration.ts";

/** Maximum number of sets named, and of sentences for each. */
const SHOWN_SETS = 200;
const SHOWN_LOSSES = 20;

/** What the live sets of a cluster would lose under a configuration, so that an operator sees it before their senders do. */
export function describeLosses(
  record: ClusterRecord,
  bodies: Bodies,
  policy: Policy,
  now: Instant,
): readonly LossShown[] {
  const losses = new Map<string, Set<string>>();
  const note = (set: string, loss: string): void => {
    const known = losses.get(set) ?? new Set<string>();
    losses.set(set, known);
    if (known.size < SHOWN_LOSSES) known.add(loss);
  };
  const { demands: allowed, refused } = admitDemands(record, bodies, policy, { now });
  for (const { set, demand, reason } of refused)
    note(
      set,
      demand.kind === "job" ? renderReason(reason) : `node array ${demand.array}: ${renderReason(reason)}`,
    );
  const { senders = NO_SENDER_RULES } = policy;
  for (const { set, demand } of demandsInForce(record, bodies, { now }).read) {
    const most = ruleOf(senders, set)?.maxPriority;
    if (most !== undefined && demand.priority > most) note(set, `priorities above ${most} are lowered to it`);
  }
  for (const { name, sets = [], max, unit } of capsInForce(policy, allowed))
    for (const set of sets.length > 1 ? sets : [])
      note(set, `a cap of its own: ${sets.length} request sets share the cap ${name} of ${max} ${unit}`);
  const isLive = ({ live, expiresAt }: { readonly live: boolean; readonly expiresAt: Instant }): boolean =>
    live && expiresAt > now;
  for (const [set, entry] of reportsOf(record))
    if (isLive(entry) && entry.report !== undefined && !mayReportHosts(senders, set))
      note(set, "its report of hosts counts only for hosts that have jobs");
  for (const [set, entry] of poolsOf(record))
    for (const { name } of isLive(entry) ? (bodies.demands.get(entry.digest)?.pools ?? []) : [])
      if (!mayOwnPool(senders, set, name)) note(set, `its pool ${name} does not count`);
  return [...losses]
    .toSorted(([a], [b]) => compareText(a, b))
    .slice(0, SHOWN_SETS)
    .map(([requestSet, loses]): LossShown => ({ requestSet, loses: [...loses] }));
}
