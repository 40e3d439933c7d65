import type { Bodies } from "../../domain/bodies.ts";
import type { Decision } from "../../domain/decision.ts";
import { digestOf } from "../../domain/digest.ts";
import type { ArrayName, NodeId, SetName } from "../../domain/ids.ts";
import { digest, setName } from "../../domain/ids.ts";
import type { Intent } from "../../domain/intent.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { SetEntry } from "../../domain/request-sets.ts";
import type { Instant } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import type { MovedNode, VirtualFleet } from "../../domain/virtual-fleet.ts";
import type { Fleets } from "./move-jobs.ts";
import { idleReport, newHosts, withNewHosts } from "./move-jobs.ts";

/** The record without intents and requests of observed arrays: the virtual fleet has their results as nodes. */
export function virtualRecord(
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
export function withVirtualSet(
  record: ClusterRecord,
  moved: readonly MovedNode[],
  now: Instant,
): ClusterRecord {
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

export function virtualBodies(
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
export function actingPolicy(policy: Policy): Policy {
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
