import type { Snapshot } from "../../domain/cluster.ts";
import type { Decision } from "../../domain/decision.ts";
import type { NodeId } from "../../domain/ids.ts";
import { wantedNames } from "../../domain/held-names.ts";
import type { Ledger } from "../../domain/ledger.ts";
import type { Plan, Proposal } from "../../domain/plan.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import type { Unneeded } from "../../domain/unneeded.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import type { Conclusion, JudgedNodes } from "./judge-nodes.ts";
import { commitEffects } from "../intents/create-requests.ts";
import { startEffects, withStart } from "../intents/node-starts.ts";
import { nodesToDeallocate } from "../intents/stops.ts";
import { judgeNodes } from "./judge-nodes.ts";
import { describeAside, describeLeftOut, outcomesOfUnread } from "../need/left-out.ts";
import { findUnneeded } from "../need/unneeded.ts";
import { noteNames } from "../nodes/names.ts";
import { withStopKeys } from "../nodes/stop-keys.ts";
import { noteGroups } from "../record/group-fills.ts";
import { refusedOutcome } from "../senders/admit.ts";
import { foldQuestions } from "../stops/questions.ts";
import { splitByReach } from "../stops/reach.ts";
import { withDynamics } from "../world/existing-dynamics.ts";

/** Makes the decision: the next record with its intents, the next ledger, and the plan with its reasons. */
export function conclude(on: Conclusion): Decision {
  const { now, weighed, reach } = on;
  const { snapshot } = on.observation;
  // For observed arrays the plan is made in the same way, and only shown.
  const { done, withheld } = splitByReach(weighed.allocation, reach, on.ledger);
  const creates = on.record.createsFrom === undefined ? done.creates : [];
  const starts = presentIn(snapshot, done.starts);
  const judged = judgeNodes(on, withStarts(on.ledger, starts, now));
  const { ledger, terminates, unstopped } = judged;
  const deallocates = nodesToDeallocate(terminates, ledger, snapshot);
  const reasons = reasonsOf(on, judged);
  return {
    record: nextRecord(on, judged, { creates, starts, terminates }, deallocates),
    ledger,
    questions: foldQuestions(on.questions, now),
    seen: snapshot,
    plan: {
      number: on.record.plan,
      at: now,
      creates,
      ...(starts.length === 0 ? {} : { starts }),
      terminates,
      ...(deallocates.size === 0 ? {} : { deallocates: [...deallocates] }),
      ...reach.shown,
      ...(reach.withholds ? { withheld: { ...withheld, terminates: unstopped } } : {}),
      ...reasons,
    },
    stepsBySet: weighed.allocation.stepsBySet,
    ...(terminates.some((id) => on.standings.get(id)?.kept === true || on.kept.due.get(id) === "quota")
      ? { waitsForStops: true }
      : {}),
  };
}

/** Without those that the status lacks: they count as there for a minute, so that nothing is created in their place, and are not started now. */
function presentIn({ nodes }: Snapshot, starts: readonly NodeId[]): readonly NodeId[] {
  if (starts.length === 0) return starts;
  const lacking = new Set(nodes.flatMap((node) => (node.missing === undefined ? [] : [node.nodeId])));
  return starts.filter((id) => !lacking.has(id));
}

/** The part of a plan that says why. */
function reasonsOf(
  { weighed, admitted, aside, record, last, policy }: Conclusion,
  { verdicts }: JudgedNodes,
): Pick<Plan, "demands" | "nodes" | "groups" | "loads" | "bound" | "leftOut"> {
  const { allocation, leftOut } = weighed;
  const { groups, loads, outcomes, isTooDear, bound } = allocation;
  const currency = bound?.unit === "price" ? policy.prices?.currency : undefined;
  const dear = isTooDear === true ? policy.defaultResources?.length : undefined;
  const placed = outcomesOfUnread(admitted.unread, outcomes, last, record);
  const without = new Map([...admitted.unread].map(([set, { all, from }]) => [set, all.length - from]));
  for (const { set } of placed) without.set(set, (without.get(set) ?? 0) - 1);
  return {
    demands: [
      ...outcomes,
      ...placed,
      // Last, because plans refer to demands by their rank.
      ...admitted.refused.map(refusedOutcome),
    ],
    nodes: verdicts,
    ...(groups.length === 0 ? {} : { groups }),
    loads,
    ...(bound === undefined ? {} : { bound: { ...bound, ...withoutAbsent({ currency }) } }),
    ...(leftOut.none
      ? {}
      : { leftOut: [...describeLeftOut(leftOut, without, dear), ...describeAside(aside, record)] }),
  };
}

/** The ledger with these nodes as being started. */
function withStarts(ledger: Ledger, starts: readonly NodeId[], now: Instant): Ledger {
  const started = starts.flatMap((id) => ledger.get(id) ?? []);
  if (started.length === 0) return ledger;
  return new Map([
    ...ledger,
    ...started.map((known) => [known.nodeId, withStart(known, { state: "unsure", since: now })] as const),
  ]);
}

// ---------------------------------------------------------------- the record

function nextRecord(
  on: Conclusion,
  { ledger, verdicts }: JudgedNodes,
  { creates, starts, terminates }: Proposal,
  deallocates: ReadonlySet<NodeId>,
): ClusterRecord {
  const { policy, now } = on;
  const { snapshot } = on.observation;
  const noted = withUnneeded(
    withAwaited(withNames(on, withGroups(on, snapshot)), ledger),
    findUnneeded(snapshot, ledger, verdicts, on.standings, policy, now),
  );
  const effects = { creates, starts: startEffects(starts, snapshot), terminates, deallocates };
  const committed = commitEffects(noted, effects, now, on.owner, policy);
  const { definers } = on.admitted;
  return withDynamics(withStopKeys(committed, ledger), ledger, on.dynamics, snapshot, definers);
}

/** Notes the groups that lack nodes, of arrays that the plan may change. */
function withGroups({ record, ledger, weighed, reach, now }: Conclusion, snapshot: Snapshot): ClusterRecord {
  if (!reach.isActing) return record;
  const groups = weighed.allocation.groups.filter(({ array }) => reach.acts(array));
  return noteGroups(record, snapshot, ledger, groups, now);
}

/** Notes what the plan says of names, as far as it acts for the demand that names them. */
function withNames({ weighed, admitted, reach, now }: Conclusion, record: ClusterRecord): ClusterRecord {
  const acting = admitted.demands.filter(
    ({ demand }) => demand.kind === "target" && reach.acts(demand.array),
  );
  const named = wantedNames(acting);
  return noteNames(record, weighed.allocation.names, (name) => named.has(name), now);
}

function withUnneeded(record: ClusterRecord, unneeded: Unneeded | undefined): ClusterRecord {
  const { unneeded: _before, ...rest } = record;
  return unneeded === undefined ? rest : { ...rest, unneeded };
}

/** Notes whether a marked node waits for its scheduler's next report. */
function withAwaited(record: ClusterRecord, ledger: Ledger): ClusterRecord {
  const { awaitsReport: _before, ...rest } = record;
  const waits = [...ledger.values()].some(
    ({ draining, goneAt }) =>
      goneAt === undefined &&
      draining?.sentAt === undefined &&
      (draining?.by === "idle" || draining?.by === "failed"),
  );
  return waits ? { ...rest, awaitsReport: true } : rest;
}
