import type { StopVerdict, StopCall } from "../../../src/decide/autostop/stop-survey.ts";
import { judgeStops } from "../../../src/decide/autostop/judge-stops.ts";
import type { Node } from "../../../src/domain/cluster.ts";
import type { NodeId } from "../../../src/domain/ids.ts";
import { nodeId } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { Bodies } from "../../../src/domain/bodies.ts";
import type { ClusterRecord } from "../../../src/domain/record.ts";
import type { Draining, LedgerNode } from "../../../src/domain/ledger.ts";
import type { Instant } from "../../../src/domain/units.ts";
import { afterQuestions, buildCall } from "../../support/build-call.ts";
import { at, buildNode, buildSnapshot, NOW, rememberNodes } from "../../support/build-node.ts";
import type { Scenario } from "../../support/build-record.ts";
import { buildState, buildTarget, OURS } from "../../support/build-record.ts";
import { confirmStops } from "../../../src/decide/autostop/confirm-stops.ts";

/*
 * Calls of nodes, and what the two commits of a stop make of them.
 */

export const policy = DEFAULT_POLICY;

export interface State {
  readonly record: ClusterRecord;
  readonly bodies: Bodies;
}

export const call = buildCall;
export const target = (count: number) => ({ standard: { demands: [buildTarget(count)] } });

/** A cluster of these nodes, all known, observed just now. */
export function stateOf(nodes: readonly Node[], scenario: Scenario = {}): State {
  return buildState({ ledger: rememberNodes(nodes), seen: buildSnapshot(nodes), ...scenario });
}

export function judge({ record, bodies }: State, calls: readonly StopCall[], now: Instant = NOW) {
  return judgeStops(record, bodies, calls, policy, now);
}

/** The record as the first commit leaves it. */
export function afterMarks(state: State, calls: readonly StopCall[], now: Instant = NOW) {
  const { record, questions, verdicts, up } = judge(state, calls, now);
  const after = { record, bodies: afterQuestions(state.bodies, questions) };
  return { state: after, marked: markedIn(verdicts), up };
}

export const markedIn = (verdicts: readonly StopVerdict[]): readonly NodeId[] =>
  verdicts.flatMap((verdict) => (verdict.kind === "marked" ? [verdict.node] : []));

export function confirm(
  { record, bodies }: State,
  marked: readonly string[],
  now: Instant = NOW,
  up?: ReadonlySet<NodeId>,
) {
  const calls = marked.map((id) => ({ node: nodeId(id), call: { arrivedAt: now } }));
  const confirmed = confirmStops(record, bodies, calls, policy, now, OURS, up);
  const going = [...confirmed.verdicts].flatMap(([id, { kind }]) => (kind === "granted" ? [id] : []));
  const after = afterQuestions(bodies, confirmed.questions);
  return { ...confirmed, going: new Set(going), ledger: after.ledger, bodies: after };
}

export const one = buildNode("n1");
export const marked: StopVerdict = { kind: "marked", node: nodeId("n1") };

export const draining = (more: Partial<Draining>): Partial<LedgerNode> => ({
  draining: { since: at(-10), by: "callback", plan: 6, attempts: 0, ...more },
});
