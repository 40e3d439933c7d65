import { decide } from "../../src/decide/reconcile/reconcile.ts";
import { bucketText } from "../../src/domain/bucket.ts";
import type { StatusBucket, Node, NodeArray } from "../../src/domain/cluster.ts";
import type { Demand, TargetDemand } from "../../src/domain/demand.ts";
import { arrayName } from "../../src/domain/ids.ts";
import type { Policy } from "../../src/domain/policy.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy.ts";
import { renderReason } from "../../src/domain/reason-text.ts";
import type { Ledger } from "../../src/domain/ledger.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import { buildArray, buildBucket, buildSnapshot, D4, D8, EXECUTE, NOW, rememberNodes } from "./build-node.ts";
import { buildState, buildTarget, OURS } from "./build-record.ts";
import type { Decision } from "../../src/domain/decision.ts";

export const CHEAP = arrayName("cheap");
export const SPOT = { Interruptible: true };
export const ON_DEMAND = { Interruptible: false };

export const quota = (quotaCores: number, consumedCores: number) => ({ quotaCores, consumedCores });

/** A full bucket on demand: all 16 cores of its family are used, so CycleCloud creates no more nodes. Of 400 cores in the region 384 are left. */
export const full: Partial<StatusBucket> = {
  availableCount: 0,
  activeCount: 4,
  familyQuota: quota(16, 16),
  regionalQuota: quota(400, 16),
};
export const execute = (more: Partial<StatusBucket> = full): NodeArray =>
  buildArray("execute", { region: "west", buckets: [buildBucket(D4, 4, more)] });

/** A spot array: the region has 12 cores of spot quota. */
export const spotArray = (more: Partial<StatusBucket> = {}): NodeArray =>
  buildArray("lowprio", {
    region: "west",
    spot: true,
    buckets: [buildBucket(D8, 8, { availableCount: 1, regionalQuota: quota(12, 0), ...more })],
  });

export const cheap = (count: number, more: Partial<TargetDemand> = {}): TargetDemand =>
  buildTarget(count, { id: "cheap", array: CHEAP, extends: EXECUTE, attributes: SPOT, position: 1, ...more });

export interface Case {
  readonly demands: readonly Demand[];
  readonly arrays: readonly NodeArray[];
  readonly policy?: Partial<Policy>;
  readonly record?: Partial<ClusterRecord>;
  readonly nodes?: readonly Node[];
  readonly ledger?: Ledger;
}

export function plan({ demands, arrays, policy, record = {}, nodes = [], ledger }: Case): Decision {
  const state = buildState({
    sets: { standard: { demands } },
    record,
    ledger: ledger ?? rememberNodes(nodes),
  });
  const observation = { snapshot: buildSnapshot(nodes, { arrays }), requestNodes: new Map() };
  return decide(state.record, state.bodies, observation, { ...DEFAULT_POLICY, ...policy }, NOW, OURS);
}

export const creates = ({ plan: { creates: all } }: Decision): readonly string[] =>
  all.map(
    ({ bucket, count, attributes }) => `${count} of ${bucketText(bucket)} ${JSON.stringify(attributes)}`,
  );

export const reasons = ({ plan: { demands } }: Decision): readonly string[] =>
  demands.flatMap((outcome) => outcome.reasons.map(renderReason));
