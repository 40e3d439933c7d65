import { digestOfAttributes } from "../../../src/domain/digest.ts";
import { decide } from "../../../src/decide/reconcile/reconcile.ts";
import type { Purpose } from "../../../src/domain/bucket.ts";
import { bucketText } from "../../../src/domain/bucket.ts";
import type { Node, Snapshot } from "../../../src/domain/cluster.ts";
import type { Demand, TargetDemand } from "../../../src/domain/demand.ts";
import { arrayName, placementGroup } from "../../../src/domain/ids.ts";
import type { Policy } from "../../../src/domain/policy.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { LedgerNode } from "../../../src/domain/ledger.ts";
import {
  buildArray,
  buildBucket,
  buildLedger,
  buildNode,
  buildSnapshot,
  D4,
  EXECUTE,
  NOW,
  notOurs,
  rememberNode,
} from "../../support/build-node.ts";
import { SENDER_RULE } from "../../support/sender-rule.ts";
import type { Scenario } from "../../support/build-record.ts";
import { buildState, buildTarget, OURS } from "../../support/build-record.ts";
import type { Decision } from "../../../src/domain/decision.ts";

/*
 * A cluster with the dynamic array "licensed", and what a plan of it creates and leaves unmet.
 */

export const LICENSED = arrayName("licensed");
export const FOR_LICENSED: Purpose = { kind: "dynamic", array: LICENSED };
export const LICENCE = { Configuration: { licence: "x" } };

/** "The dynamic array licensed, which extends execute, shall have this many nodes." */
export function licensed(count: number, more: Partial<TargetDemand> = {}): TargetDemand {
  return buildTarget(count, { id: "licensed", array: LICENSED, extends: EXECUTE, position: 1, ...more });
}

export const execute = (count: number, more: Partial<TargetDemand> = {}): TargetDemand =>
  buildTarget(count, more);

/** Nodes of execute that the ledger knows as made for the dynamic array. */
export function licensedNodes(count: number, more: Partial<Node> = {}): readonly Node[] {
  return Array.from({ length: count }, (_, i) => buildNode(`l${i + 1}`, more));
}

export const ANY_ATTRIBUTE: Policy = { ...DEFAULT_POLICY, senders: [{ ...SENDER_RULE, attributes: ["*"] }] };

export interface Case extends Scenario {
  readonly demands?: readonly Demand[];
  readonly nodes?: readonly Node[];
  /** By node id, what it was made for; absent: the array. */
  readonly made?: Readonly<Record<string, Partial<LedgerNode>>>;
  readonly snapshot?: Partial<Snapshot>;
  readonly policy?: Partial<Policy>;
  /** No request of any node is known. */
  readonly lost?: true;
}

export function plan({ demands = [], nodes = [], made = {}, ...more }: Case): Decision {
  const { lost, snapshot, policy, sets, record } = more;
  const known = nodes.map((node) => rememberNode(node, made[node.nodeId]));
  const ledger = buildLedger(lost === true ? known.map(notOurs) : known);
  const state = buildState({
    sets: sets ?? { standard: { demands } },
    ledger,
    ...(record === undefined ? {} : { record }),
  });
  const observation = { snapshot: buildSnapshot(nodes, snapshot), requestNodes: new Map() };
  return decide(state.record, state.bodies, observation, { ...ANY_ATTRIBUTE, ...policy }, NOW, OURS);
}

/** "3 of execute/Standard_D4s_v5 for licensed". */
export function creates({ plan: { creates: all } }: Decision): readonly string[] {
  return all.map(({ bucket, count, purpose }) => {
    // With or without a dash behind the word: what generated groups are called is not tried here.
    const place = bucketText(bucket).replace(/\/group-?/, "/group-");
    return `${count} of ${place} for ${textOf(purpose)}`;
  });
}

export function textOf(purpose: Purpose): string {
  if (purpose.kind !== "group") return purpose.kind === "dynamic" ? purpose.array : "the array";
  return `${purpose.key}${purpose.dynamic === undefined ? "" : ` of ${purpose.dynamic}`}`;
}

export const purposeLicensed = (...ids: readonly string[]): NonNullable<Case["made"]> =>
  Object.fromEntries(ids.map((id) => [id, { purpose: FOR_LICENSED }]));

export const arrays = (...all: Snapshot["arrays"]): Partial<Snapshot> => ({ arrays: all });

/** The array execute with a placement group of its own. */
export function pinned() {
  return buildArray("execute", {
    placementGroup: placementGroup("only"),
    buckets: [buildBucket(D4, 4, { maxPlacementGroupSize: 10 })],
  });
}

export function lookedLike(attributes: TargetDemand["attributes"]): Partial<LedgerNode> {
  const look = digestOfAttributes(attributes);
  return look === undefined ? {} : { look };
}
