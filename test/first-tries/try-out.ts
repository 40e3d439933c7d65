import { readStatus } from "../../src/adapters/cyclecloud/read-status.ts";
import { allocate } from "../../src/decide/search/allocate.ts";
import { dynamicsOf } from "../../src/decide/world/dynamic-arrays.ts";
import { followNodes } from "../../src/decide/nodes/ledger.ts";
import { demandsInForce } from "../../src/decide/senders/demands-in-force.ts";
import { decide } from "../../src/decide/reconcile/reconcile.ts";
import { allocationPolicyOf } from "../../src/decide/need/spare.ts";
import { suppose } from "../../src/decide/what-if/what-if.ts";
import { buildWorld, orderOf } from "../../src/decide/world/build-world.ts";
import type { Allocation } from "../../src/domain/allocation.ts";
import type { World } from "../../src/domain/world.ts";
import type { Bodies } from "../../src/domain/bodies.ts";
import type { Snapshot } from "../../src/domain/cluster.ts";
import type { Problem, RankedDemand } from "../../src/domain/demand.ts";
import { setName } from "../../src/domain/ids.ts";
import type { Policy } from "../../src/domain/policy.ts";
import type { Ledger, LedgerNode } from "../../src/domain/ledger.ts";
import type { ClusterRecord } from "../../src/domain/record.ts";
import { readRequestSet } from "../../src/wire/message/demand-message.ts";
import { readPolicy } from "../../src/wire/policy/policy.ts";
import { at, NOW, PROD, rememberNode } from "../support/build-node.ts";
import { EMPTY_RECORD, OURS } from "../support/build-record.ts";
import type { Cluster, Fields } from "./clusters.ts";
import { standingsOf } from "../../src/decide/nodes/standing.ts";
import type { Decision } from "../../src/domain/decision.ts";
import { poolsInForce } from "../../src/decide/senders/owned-pools.ts";
import { factsOfNodes, hostFacts } from "../../src/decide/senders/host-facts.ts";
import { supplyOf } from "../../src/decide/need/weigh.ts";
import type { Mode } from "../support/modes.ts";

/** What became of one message on one cluster. */
export interface Tried {
  readonly cluster: Cluster;
  readonly message: Fields;
  readonly record: ClusterRecord;
  readonly bodies: Bodies;
  readonly snapshot: Snapshot;
  readonly policy: Policy;
  readonly decision: Decision;
  /** What the allocator was given, and what it answers to that. */
  readonly world: World;
  readonly demands: readonly RankedDemand[];
  readonly allocation: Allocation;
  /** What the door did not take. */
  readonly problems: readonly Problem[];
}

/**
 * Sends the message through the door and plans on the cluster as it is, without any storage or clock. Policy, status and what the cluster
 * does anyway are read once for each cluster and mode.
 */
export function tryOut(cluster: Cluster, mode: Mode, message: Fields, config: Fields = {}): Tried {
  const setting = settingOf(cluster, mode, config);
  const { policy, snapshot } = setting;
  return planOn({ cluster, message, policy, snapshot, ...push(setting, "tries", message) });
}

/** What the door does not take of a message. */
export function problemsOf(
  cluster: Cluster,
  mode: Mode,
  message: Fields,
  config: Fields = {},
): readonly Problem[] {
  return push(settingOf(cluster, mode, config), "tries", message).problems;
}

export type Planned = Pick<
  Tried,
  "cluster" | "message" | "record" | "bodies" | "snapshot" | "policy" | "problems"
>;

/** The plan for a state, with what the allocator makes of the same. */
export function planOn(state: Planned): Tried {
  const { record, bodies, snapshot, policy } = state;
  const decision = decide(record, bodies, { snapshot, requestNodes: new Map() }, policy, NOW, OURS);
  const { world, demands } = worldOf(state);
  const allocation = allocate(world, demands, allocationPolicyOf(policy), NOW);
  return { ...state, decision, world, demands, allocation };
}

interface Setting {
  readonly policy: Policy;
  readonly snapshot: Snapshot;
  readonly record: ClusterRecord;
  readonly bodies: Bodies;
}

const settings = new Map<string, Setting>();
const snapshots = new Map<Cluster, Snapshot>();

function settingOf(cluster: Cluster, mode: Mode, config: Fields): Setting {
  const key = JSON.stringify([cluster.name, mode, config]);
  const known = settings.get(key);
  if (known !== undefined) return known;
  const policy = policyOf({ ...cluster.config, ...mode, ...config });
  const snapshot = snapshots.get(cluster) ?? snapshotOf(cluster);
  snapshots.set(cluster, snapshot);
  const bodies: Bodies = {
    demands: new Map(),
    reports: new Map(),
    ledger: rememberUp(snapshot),
    seen: snapshot,
  };
  const rested: ClusterRecord = { ...EMPTY_RECORD, lastGoodLookAt: at(-30) };
  const bare: Setting = { policy, snapshot, record: rested, bodies };
  const { background } = cluster;
  const setting =
    background === undefined ? bare : { policy, snapshot, ...push(bare, "background", background) };
  settings.set(key, setting);
  return setting;
}

/**
 * All nodes were up an hour ago, but for those that are just being prepared; those that are off now have been so for ten minutes. Those
 * that are up, or should be, were needed a minute ago.
 */
function rememberUp({ nodes }: Snapshot): Ledger {
  return new Map(
    nodes.map((node) => {
      const gone: Partial<LedgerNode> =
        node.phase === "coming" && node.status === "Off"
          ? { firstSeenAt: at(-3600), firstReadyAt: at(-3500), leftReadyAt: at(-600) }
          : {};
      const needed = node.phase === "ready" || node.phase === "coming" ? { lastNeededAt: at(-60) } : {};
      return [node.nodeId, rememberNode(node, { ...needed, ...gone })];
    }),
  );
}

export function policyOf(config: Fields): Policy {
  const read = readPolicy(config);
  if (read.kind === "problems")
    throw new Error(`the configuration is refused: ${JSON.stringify(read.problems)}`);
  return read.policy;
}

function snapshotOf({ status }: Cluster): Snapshot {
  const read = readStatus(status, PROD, NOW);
  if (read.kind === "malformed") throw new Error(`the status is refused at ${read.path}`);
  return read.snapshot;
}

interface Pushed {
  readonly record: ClusterRecord;
  readonly bodies: Bodies;
  readonly problems: readonly Problem[];
}

/** What the door makes of the message, and the state with it. */
function push({ record, bodies, snapshot: seen, policy }: Setting, set: string, message: Fields): Pushed {
  const { maxExpirationSeconds } = policy;
  const read = readRequestSet(
    { version: 1, ...message },
    { cluster: PROD, set: setName(set), now: NOW, maxExpirationSeconds },
  );
  if (read.kind !== "update")
    return { record, bodies, problems: read.kind === "rejected" ? read.problems : [] };
  const whatIf = { policy, updates: [read.update], limits: [], buckets: [] };
  const accepted = suppose(record, bodies, seen, whatIf, NOW);
  if (accepted.kind !== "state") throw new Error("nothing is asked that could be unknown");
  // A message that asks for nothing has no demand.
  const rejected = read.update.demand?.rejectedJobs ?? [];
  return {
    record: accepted.record,
    bodies: accepted.bodies,
    problems: rejected.flatMap((job) => job.problems),
  };
}

/** What `decide` gives its allocator, put together a second time. */
function worldOf({ record, bodies, snapshot, policy }: Planned) {
  const demands = demandsInForce(record, bodies).read;
  const observation = { snapshot, requestNodes: new Map() };
  const ledger = followNodes(
    { ledger: bodies.ledger, isRestart: false },
    observation,
    record.inFlight,
    factsOfNodes(hostFacts(record, bodies, NOW), snapshot.nodes),
    NOW,
  );
  const supply = supplyOf(record, {
    snapshot,
    ledger,
    policy,
    pools: poolsInForce(record, bodies),
    dynamics: dynamicsOf(demands, record.dynamicArrays ?? [], snapshot),
    standings: standingsOf({ snapshot, ledger, open: new Set() }, policy, NOW),
    excluded: new Set(),
    now: NOW,
  });
  return { world: buildWorld({ ...supply, demands, order: orderOf }), demands };
}
