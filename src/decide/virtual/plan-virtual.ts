import type { Bodies } from "../../domain/bodies.ts";
import type { Node, Snapshot } from "../../domain/cluster.ts";
import type { Decision } from "../../domain/decision.ts";
import type { ArrayName, NodeId, Owner, SetName } from "../../domain/ids.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Instant } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import type { VirtualFleet, VirtualNode, MovedNode } from "../../domain/virtual-fleet.ts";
import { decide } from "../reconcile/reconcile.ts";
import { nodesToDeallocate } from "../intents/stops.ts";
import { hostFacts } from "../senders/host-facts.ts";
import { bootSecondsFor, addNodes, followArrays, nodeNow, observedArrays } from "./fleet.ts";
import { countObservation } from "./compare.ts";
import type { Fleets } from "./move-jobs.ts";
import { moveJobs, idleReport, newHosts, withNewHosts } from "./move-jobs.ts";
import { virtualObservation } from "./virtual-observation.ts";
import { digestOf } from "../../domain/digest.ts";
import { digest, setName } from "../../domain/ids.ts";
import type { Intent } from "../../domain/intent.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { SetEntry } from "../../domain/request-sets.ts";

/** The inputs of a virtual plan besides the real decision. */
export interface VirtualInput {
  readonly bodies: Bodies;
  readonly policy: Policy;
  readonly now: Instant;
  readonly owner: Owner;
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
  { bodies, policy, now, owner }: VirtualInput,
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
  const deallocated = nodesToDeallocate(plan.terminates, ledger, seen);
  const started = new Set(plan.starts ?? []);
  const stoppedIn = new Set<ArrayName>();
  const nodes = fleet.nodes.map((one): VirtualNode => {
    const { node } = one;
    const known = ledger.get(node.nodeId) ?? one.known;
    if (stopped.has(node.nodeId)) {
      stoppedIn.add(node.array);
      if (deallocated.has(node.nodeId)) {
        const off: Node = { ...node, phase: "deallocated", status: "Deallocated" };
        return { node: off, known, deallocatedAt: now };
      }
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

/** The record without intents and requests of observed arrays: the virtual fleet has their results as nodes. */
function virtualRecord(
  { record, seen }: Decision,
  fleet: VirtualFleet,
  observed: ReadonlySet<ArrayName>,
): ClusterRecord {
  const inActing = ({ bucket }: { readonly bucket: { readonly array: ArrayName } }): boolean =>
    !observed.has(bucket.array);
  const ofObserved = new Set(
    seen.nodes.flatMap(({ array, nodeId }) => (observed.has(array) ? [nodeId] : [])),
  );
  const { groupFills, ...rest } = record;
  const fills = [...(groupFills ?? []).filter(inActing), ...(fleet.groupFills ?? [])];
  return {
    ...rest,
    plan: record.plan - 1,
    intents: record.intents.flatMap((intent) => intentOutside(intent, inActing, ofObserved)),
    inFlight: record.inFlight.filter(inActing),
    ...(fills.length === 0 ? {} : { groupFills: fills }),
  };
}

function intentOutside(
  intent: Intent,
  inActing: (set: { readonly bucket: { readonly array: ArrayName } }) => boolean,
  ofObserved: ReadonlySet<NodeId>,
): readonly Intent[] {
  const { effect } = intent;
  switch (effect.kind) {
    case "create": {
      const sets = effect.sets.filter(inActing);
      return sets.length === 0 ? [] : [{ ...intent, effect: { ...effect, sets } }];
    }
    case "start":
      return inActing(effect) ? [intent] : [];
    case "terminate": {
      const nodes = effect.nodes.filter((id) => !ofObserved.has(id));
      return nodes.length === 0 ? [] : [{ ...intent, effect: { ...effect, nodes } }];
    }
  }
}

/** No sender can use this name, because names have no control characters. */
const VIRTUAL_SET: SetName = setName("\u0000virtual");
const VIRTUAL_REPORT = digest("virtual-report");

/** Plans recognise demand by its digest, so the digest changes when jobs move. */
const digestOfMoves = (moved: readonly MovedNode[]) => digestOf(JSON.stringify(moved));

/** The record with a set of our own that reports the virtual nodes without a job as idle. It has no demand. */
function withVirtualSet(record: ClusterRecord, moved: readonly MovedNode[], now: Instant): ClusterRecord {
  const entry: SetEntry = {
    revision: { value: now, tieBreak: "" },
    intervalSeconds: 60,
    sentAt: now,
    acceptedAt: now,
    expiresAt: plusSeconds(now, 60),
    digest: digestOfMoves(moved),
    live: true,
    report: VIRTUAL_REPORT,
  };
  return { ...record, sets: new Map([...record.sets, [VIRTUAL_SET, entry]]) };
}

/** Demand and reports as if the jobs ran on the virtual nodes, and the ledger of the virtual fleet. */
function virtualBodies(
  decision: Decision,
  bodies: Bodies,
  fleet: VirtualFleet,
  fleets: Fleets,
  moved: readonly MovedNode[],
  observed: ReadonlySet<ArrayName>,
): Bodies {
  const { demands, reports } = withNewHosts(bodies, newHosts(fleets, moved));
  return {
    demands: new Map([...demands, [digestOfMoves(moved), { demands: [], pools: [], rejectedJobs: [] }]]),
    reports: new Map([...reports, [VIRTUAL_REPORT, idleReport(fleets, moved, bodies.reports)]]),
    ledger: virtualLedger(decision.ledger, fleet, observed),
  };
}

function virtualLedger(ledger: Ledger, fleet: VirtualFleet, observed: ReadonlySet<ArrayName>): Ledger {
  const next = new Map<NodeId, LedgerNode>();
  ledger.forEach((known, id) => {
    if (!observed.has(known.array)) next.set(id, known);
  });
  for (const { node, known } of fleet.nodes) next.set(node.nodeId, known);
  return next;
}

/** The configuration with the mode `act` everywhere. All virtual nodes are ours, and their report counts whatever the senders may do. */
function actingPolicy(policy: Policy): Policy {
  const { senders } = policy;
  const acting: Policy = { ...policy, mode: "act", arrayModes: new Map(), exclusiveArrays: true };
  if (senders === undefined || senders.length === 0) return acting;
  const mine = {
    requestSets: [VIRTUAL_SET],
    write: true,
    hosts: true,
    pools: false,
    dynamicArrays: false,
    attributes: [],
  };
  return { ...acting, senders: [mine, ...senders] };
}
