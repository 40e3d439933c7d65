import type { Bodies } from "../../domain/bodies.ts";
import type { Node } from "../../domain/cluster.ts";
import type { Comparison } from "../../domain/comparison.ts";
import type { ArrayName, SetName } from "../../domain/ids.ts";
import { setName } from "../../domain/ids.ts";
import type { Plan } from "../../domain/plan.ts";
import type { Policy } from "../../domain/policy.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { Instant } from "../../domain/units.ts";
import type { MovedNode, VirtualFleet } from "../../domain/virtual-fleet.ts";
import { entryOfNode } from "../../domain/hosts.ts";
import { priceNodes } from "../world/price-nodes.ts";
import type { Found, FoundArray, FoundBoth } from "./compare.ts";
import { addObservation } from "./compare.ts";
import type { Fleets } from "./move-jobs.ts";
import type { Decision } from "../../domain/decision.ts";
import type { HostFact } from "../senders/host-facts.ts";

/** Both plans of one observation, before the virtual one is applied. */
export interface CountedObservation {
  readonly decision: Decision;
  readonly made: Decision;
  readonly fleet: VirtualFleet;
  readonly fleets: Fleets;
  /** The virtual nodes, including those on their way down. */
  readonly nodes: readonly Node[];
  readonly moved: readonly MovedNode[];
  readonly facts: ReadonlyMap<string, HostFact>;
  readonly bodies: Bodies;
  readonly policy: Policy;
  readonly now: Instant;
}

/** Adds an observation to the comparison. An array that is observed for the first time counts from the next one on. */
export function countObservation(observation: CountedObservation): Comparison {
  const { fleet, fleets, nodes, moved, facts, made, decision, policy, now } = observation;
  const busy = new Set(moved.map(({ to }) => to));
  const isRealIdle = (node: Node): boolean =>
    isIdle(node, decision.plan) && (entryOfNode(facts, node)?.jobs.length ?? 0) === 0;
  const isVirtualIdle = (node: Node): boolean => isIdle(node, made.plan) && !busy.has(node.nodeId);
  const arrays = fleet.arrays
    .filter(({ since }) => since < now)
    .map(({ name, stoppedAt }): FoundArray => {
      const real = fleets.real.filter(({ array }) => array === name);
      const virtual = nodes.filter(({ array }) => array === name);
      return {
        array: name,
        real: found(real, isRealIdle, realBoots(observation, real), observation),
        virtual: found(virtual, isVirtualIdle, virtualBoots(observation, name), observation),
        ...(stoppedAt === undefined ? {} : { stoppedAt }),
        sets: setsNeeding(virtual, made.plan),
      };
    });
  const waiting = countWaiting(observation);
  const both: FoundBoth = {
    arrays,
    ...(waiting === undefined ? {} : { waiting }),
    ...(policy.prices === undefined ? {} : { currency: policy.prices.currency }),
  };
  return arrays.length === 0 ? fleet.comparison : addObservation(fleet.comparison, both, fleet.at, now);
}

function found(
  nodes: readonly Node[],
  isIdleHere: (node: Node) => boolean,
  boots: number,
  { decision, policy }: CountedObservation,
): Found {
  const there = nodes.filter(hasVm);
  const price = priceNodes(there, decision.seen, policy);
  return {
    nodes: there.length,
    idle: there.filter(isIdleHere).length,
    boots,
    ...(price === undefined ? {} : { pricePerHour: price.pricePerHour, unpriced: price.unpricedNodes ?? 0 }),
  };
}

/** A plan may still count a node that the observation lacks. The comparison does not. */
const hasVm = ({ phase, missing }: Node): boolean =>
  phase !== "off" && phase !== "deallocated" && missing === undefined;

/** Whether the node is up and no demand needs it. */
function isIdle({ nodeId, phase }: Node, plan: Plan): boolean {
  return phase === "ready" && plan.nodes.get(nodeId)?.kind !== "needed";
}

const realBoots = ({ decision, now }: CountedObservation, nodes: readonly Node[]): number =>
  nodes.filter((node) => hasVm(node) && decision.ledger.get(node.nodeId)?.firstSeenAt === now).length;

/** Number of nodes that the previous plan made. This observation is the first with them. */
const virtualBoots = ({ fleet }: CountedObservation, array: ArrayName): number =>
  fleet.nodes.filter(
    ({ node, known }) => node.array === array && known.firstSeenAt === fleet.at && isMade(node),
  ).length;

const isMade = ({ nodeId }: Node): boolean => nodeId.startsWith("virtual-");

const SETS_NAMED = 3;

function setsNeeding(nodes: readonly Node[], { nodes: verdicts }: Plan): readonly SetName[] {
  const sets = new Set<SetName>();
  for (const { nodeId } of nodes) {
    const verdict = verdicts.get(nodeId);
    if (verdict?.kind !== "needed") continue;
    for (const by of verdict.by) sets.add(setName(by.slice(0, Math.max(0, by.indexOf("/")))));
    if (sets.size >= SETS_NAMED) break;
  }
  return [...sets].slice(0, SETS_NAMED);
}

/**
 * Number of jobs that wait for capacity. In the real fleet a job waits if no report names it on a host. In the virtual fleet it waits if the
 * plan does not place all of it on nodes that are up, or if it runs on a real node whose virtual node still boots. Undefined if no set has
 * jobs.
 */
function countWaiting(observation: CountedObservation): FoundBoth["waiting"] {
  const { decision, made, bodies, facts, now } = observation;
  const unplaced = new Set(
    made.plan.demands
      .filter(({ kind, pending, placed, asked }) => kind === "job" && placed - pending < asked)
      .map(({ set, id }) => `${set}/${id}`),
  );
  const running = new Set([...facts.values()].flatMap(({ jobs }) => jobs));
  const booting = jobsOnBootingNodes(observation);
  let jobs = 0;
  const waiting = { real: 0, virtual: 0 };
  for (const [set, demand] of demandsIn(decision.record, bodies, now)) {
    if (demand.kind !== "job") continue;
    jobs += 1;
    if (!running.has(demand.name)) waiting.real += 1;
    if (unplaced.has(`${set}/${demand.id}`) || booting.has(demand.name)) waiting.virtual += 1;
  }
  return jobs === 0 ? undefined : waiting;
}

function jobsOnBootingNodes({ fleets, moved, facts }: CountedObservation): ReadonlySet<string> {
  const coming = new Set(fleets.virtual.flatMap(({ nodeId, phase }) => (phase === "coming" ? [nodeId] : [])));
  const hosts = new Set(moved.flatMap(({ real, to }) => (coming.has(to) ? [real] : [])));
  const nodes = fleets.real.filter(({ nodeId }) => hosts.has(nodeId));
  return new Set(nodes.flatMap((node) => entryOfNode(facts, node)?.jobs ?? []));
}

function demandsIn({ sets }: ClusterRecord, { demands }: Bodies, now: Instant) {
  return [...sets]
    .filter(([, { live, expiresAt }]) => live && expiresAt > now)
    .flatMap(([set, { digest }]) =>
      (demands.get(digest)?.demands ?? []).map((demand) => [set, demand] as const),
    );
}
