import type { Bodies } from "../../domain/bodies.ts";
import type { Node, Snapshot } from "../../domain/cluster.ts";
import type { Decision } from "../../domain/decision.ts";
import type { ArrayName, NodeId, Owner } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Instant } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import type { VirtualFleet, VirtualNode } from "../../domain/virtual-fleet.ts";
import type { Recall } from "../need/recall.ts";
import type { Weighing } from "../need/weigh.ts";
import { decide } from "../reconcile/reconcile.ts";
import { hostFacts } from "../senders/host-facts.ts";
import { bootSecondsFor } from "./boot-times.ts";
import { countObservation } from "./count-observation.ts";
import { addNodes, followArrays, nodeNow, observedArrays } from "./fleet.ts";
import type { Fleets } from "./move-jobs.ts";
import { moveJobs } from "./move-jobs.ts";
import { actingPolicy, virtualBodies, virtualRecord, withVirtualSet } from "./planner-input.ts";
import { virtualObservation } from "./virtual-observation.ts";

/** The inputs of a virtual plan besides the real decision. */
export interface VirtualInput {
  readonly bodies: Bodies;
  readonly policy: Policy;
  readonly now: Instant;
  readonly owner: Owner;
  readonly recall: Recall<Weighing>;
}

/**
 * Plans the same demand for the virtual fleet with the same planner, and applies that plan to the fleet. The real decision is returned with
 * the new fleet and its changes. None of them reaches CycleCloud. Returns the same decision if no array is observed.
 */
export function withVirtualFleet(decision: Decision, input: VirtualInput): Decision {
  const { bodies, policy, now } = input;
  const before = bodies.virtual;
  const observed = observedArrays(decision.seen, policy);
  if (observed.size === 0 && (before === undefined || before.arrays.length === 0)) return decision;
  const fleet = followArrays(before, observed, decision, now);
  if (observed.size === 0) return { ...decision, virtual: { ...fleet, at: now, moved: [] } };
  const { fleet: planned, made } = planFleet(decision, fleet, observed, input);
  const { creates, terminates, starts = [] } = made.plan;
  const ids = new Set(planned.nodes.map(({ node }) => node.nodeId));
  const isVirtual = (id: NodeId): boolean => ids.has(id);
  const virtual = {
    creates: creates.filter(({ bucket }) => observed.has(bucket.array)),
    starts: starts.filter(isVirtual),
    terminates: terminates.filter(isVirtual),
  };
  return { ...decision, plan: { ...decision.plan, virtual }, virtual: planned };
}

function planFleet(
  decision: Decision,
  fleet: VirtualFleet,
  observed: ReadonlySet<ArrayName>,
  { bodies, policy, now, owner, recall }: VirtualInput,
): { readonly fleet: VirtualFleet; readonly made: Decision } {
  const { record, seen } = decision;
  const nodes = fleet.nodes.flatMap((one) => nodeNow(one, now) ?? []);
  const fleets: Fleets = {
    real: seen.nodes.filter(({ array }) => observed.has(array)),
    virtual: nodes.filter(({ phase }) => phase !== "going"),
  };
  const facts = hostFacts(record, bodies, now, policy.senders);
  const moved = moveJobs(fleet.moved, fleets, facts);
  const snapshot = virtualObservation(seen, observed, nodes, policy);
  const made = decide(
    withVirtualSet(virtualRecord(decision, fleet, observed), moved, now),
    virtualBodies(decision, bodies, fleet, fleets, moved, observed),
    { snapshot, requestNodes: new Map() },
    actingPolicy(policy),
    now,
    owner,
    recall,
  );
  const counted = countObservation({
    decision,
    made,
    fleet,
    fleets,
    nodes,
    moved,
    facts,
    bodies,
    policy,
    now,
  });
  const next = applyPlan({ ...fleet, moved, comparison: counted }, made, observed, seen, now);
  return { fleet: next, made };
}

/** The fleet after the plan: nodes that it stops, starts and creates. */
function applyPlan(
  fleet: VirtualFleet,
  { plan, ledger, record }: Decision,
  observed: ReadonlySet<ArrayName>,
  seen: Snapshot,
  now: Instant,
): VirtualFleet {
  const stopped = new Set(plan.terminates);
  const started = new Set(plan.starts ?? []);
  const stoppedIn = new Set<ArrayName>();
  const nodes = fleet.nodes.map((one): VirtualNode => {
    const { node } = one;
    const known = ledger.get(node.nodeId) ?? one.known;
    if (stopped.has(node.nodeId)) {
      stoppedIn.add(node.array);
      return { ...one, known, stoppedAt: now };
    }
    if (!started.has(node.nodeId)) return known === one.known ? one : { ...one, known };
    const up: Node = { ...node, phase: "ready" };
    return { node: up, known, readyAt: plusSeconds(now, bootSecondsFor(fleet.boots, node.machineType)) };
  });
  const arrays = fleet.arrays.map((one) => (stoppedIn.has(one.name) ? { ...one, stoppedAt: now } : one));
  const { groupFills: _before, ...rest } = fleet;
  const fills = (record.groupFills ?? []).filter(({ bucket }) => observed.has(bucket.array));
  const kept: VirtualFleet = {
    ...rest,
    at: now,
    arrays,
    nodes,
    ...(fills.length === 0 ? {} : { groupFills: fills }),
  };
  return plan.creates
    .filter(({ bucket }) => observed.has(bucket.array))
    .reduce((next, set) => addNodes(next, set, seen, now, now), kept);
}
