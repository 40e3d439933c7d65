import type { Bodies } from "../../domain/bodies.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Question } from "../../domain/questions.ts";
import type { Draining, LedgerNode } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import { entryOfNode } from "../../domain/hosts.ts";
import { factThatCounts } from "../nodes/planned-beside.ts";
import { undrain } from "./questions.ts";
import type { Decision } from "../../domain/decision.ts";
import { withoutStopped } from "../../domain/plan.ts";
import type { HostFact } from "../senders/host-facts.ts";
import { hostFacts } from "../senders/host-facts.ts";

/**
 * Of nodes that a plan marks or stops, those that must not be, because something has changed since the plan was decided (docs/protocol.md,
 * Stops): a job is on the host, a newer report does not call it idle, the node was told to stay, or the node has asked by itself. A node that
 * is down needs no report: only a job or a question contradicts.
 */
export function contradictedNodes(
  nodes: readonly NodeId[],
  decidedAt: Instant,
  record: ClusterRecord,
  bodies: Bodies,
  { senders }: Pick<Policy, "senders">,
  now: Instant,
): ReadonlySet<NodeId> {
  if (nodes.length === 0) return new Set();
  const facts = hostFacts(record, bodies, now, senders);
  return new Set(
    nodes.filter((id) => {
      const known = bodies.ledger.get(id);
      return (
        known !== undefined &&
        isContradicted(
          known,
          factThatCounts(entryOfNode(facts, known), known),
          bodies.questions?.get(id),
          decidedAt,
        )
      );
    }),
  );
}

function isContradicted(
  known: LedgerNode,
  fact: HostFact | undefined,
  question: Question | undefined,
  decidedAt: Instant,
): boolean {
  if (fact?.keep !== undefined) return true;
  if (question?.stayAt !== undefined && question.stayAt >= decidedAt) return true;
  if (known.draining?.by === "down")
    return (fact?.jobs.length ?? 0) > 0 || (question?.askedAt !== undefined && question.askedAt >= decidedAt);
  const isIdle = fact !== undefined && fact.jobs.length === 0 && fact.state !== "open";
  if (isNewer(fact, decidedAt) && !isIdle) return true;
  // A stop that does not rest on a report is contradicted by a newer one only.
  if (!isByReport(known)) return false;
  return !isIdle || (question?.askedAt !== undefined && question.askedAt >= decidedAt);
}

function isNewer(fact: HostFact | undefined, at: Instant): boolean {
  return fact?.reportedAt !== undefined && fact.reportedAt >= at;
}

function isByReport({ draining, firstReadyAt }: LedgerNode): boolean {
  return draining?.by === "idle" || (draining?.by === "failed" && firstReadyAt !== undefined);
}

/**
 * The decision without the marks and stops of such nodes. Its creates and starts stay. To omit a stop in error delays it until the next
 * plan. To send one in error may end a job.
 */
export function withoutContradicted(
  decision: Decision,
  record: ClusterRecord,
  bodies: Bodies,
  policy: Policy,
  now: Instant,
): Decision {
  const { plan, ledger } = decision;
  const isNew = ({ sentAt, plan: number }: Draining): boolean =>
    sentAt === undefined && number === plan.number;
  const nodes: NodeId[] = [];
  ledger.forEach(({ draining }, id) => {
    if (draining !== undefined && isNew(draining)) nodes.push(id);
  });
  const contradicted = contradictedNodes(nodes, plan.at, record, { ...bodies, ledger }, policy, now);
  if (contradicted.size === 0) return decision;
  const next = new Map(ledger);
  const verdicts = new Map(plan.nodes);
  for (const id of contradicted) {
    const known = next.get(id);
    if (known !== undefined) next.set(id, undrain(known, now));
    verdicts.delete(id);
  }
  const left = withoutStopped(plan, (id) => contradicted.has(id));
  return {
    ...decision,
    ledger: next,
    plan: { ...left, nodes: verdicts },
    record: withoutStops(
      decision.record,
      plan.at,
      contradicted,
      plan.terminates.length - left.terminates.length,
    ),
  };
}

function withoutStops(
  record: ClusterRecord,
  decidedAt: Instant,
  nodes: ReadonlySet<NodeId>,
  count: number,
): ClusterRecord {
  const intents = record.intents.flatMap((intent) => {
    const { effect } = intent;
    if (effect.kind !== "terminate" || intent.committedAt !== decidedAt) return [intent];
    const left = effect.nodes.filter((id) => !nodes.has(id));
    return left.length === 0 ? [] : [{ ...intent, effect: { ...effect, nodes: left } }];
  });
  const totals = { ...record.totals, terminated: record.totals.terminated - count };
  return { ...record, intents, totals };
}
