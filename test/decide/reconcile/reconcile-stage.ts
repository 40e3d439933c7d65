import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import type { Snapshot } from "../../../src/domain/cluster.ts";
import type { NodeVerdict } from "../../../src/domain/node-verdict.ts";
import type { Policy } from "../../../src/domain/policy.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { Bodies } from "../../../src/domain/bodies.ts";
import type { ClusterRecord, Observation } from "../../../src/domain/record.ts";
import { bucketText } from "../../../src/domain/bucket.ts";
import type { Instant } from "../../../src/domain/units.ts";
import { NOW } from "../../support/build-node.ts";
import type { SetScenario } from "../../support/build-record.ts";
import { buildTarget, OURS } from "../../support/build-record.ts";
import type { Decision } from "../../../src/domain/decision.ts";

/*
 * A record, a snapshot and what a plan of them decides.
 */

export interface State {
  readonly record: ClusterRecord;
  readonly bodies: Bodies;
}

export interface Turn {
  readonly policy?: Policy;
  readonly now?: Instant;
  readonly requestNodes?: Observation["requestNodes"];
}

export function decideOn({ record, bodies }: State, snapshot: Snapshot, turn: Turn = {}): Decision {
  const { policy = DEFAULT_POLICY, now = NOW, requestNodes = new Map() } = turn;
  return decide(record, bodies, { snapshot: { ...snapshot, at: now }, requestNodes }, policy, now, OURS);
}

export const created = ({ plan }: Decision) =>
  plan.creates.map(({ bucket, count }) => `${count} ${bucketText(bucket)}`);

export const verdicts = ({ plan }: Decision): Record<string, NodeVerdict> => Object.fromEntries(plan.nodes);

/** How many nodes have each verdict. */
export function countVerdicts({ plan }: Decision): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { kind } of plan.nodes.values()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

export const targetOf = (count: number, more: SetScenario = {}) => ({
  standard: { demands: [buildTarget(count)], ...more },
});

export const d4 = "execute/Standard_D4s_v5";
export const d8 = "execute/Standard_D8s_v5";
