import type { Bodies } from "../../domain/bodies.ts";
import { dynamicArrayOf } from "../../domain/bucket.ts";
import type { ArrayName, SetName } from "../../domain/ids.ts";
import type { DemandOutcome } from "../../domain/plan.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import { stillInFlight } from "../../domain/in-flight.ts";
import type { ArrayTimeoutsShown, ArrayUseShown } from "../../wire/api/cluster-arrays.ts";
import type { PhaseShown } from "../../wire/api/parts.ts";
import { firstBytes } from "./pages.ts";
import { phaseShown } from "./phase-shown.ts";

/**
 * The part of an array's answer about its nodes and the sets that need them. `neededBy`: several sets may need a node, and a verdict names
 * the first few.
 */
export type ArrayUse = Omit<
  ArrayUseShown,
  keyof ArrayTimeoutsShown | "mode" | "target" | "askedBy" | "moreSets"
>;

type DescribedTarget = ArrayUse["targets"][number];

/** Limits of a state page for the targets and sets of each array, in number and bytes. */
const SHOWN = 200;
const SHOWN_BYTES = 16_000;

interface Tally {
  readonly targets: DescribedTarget[];
  readonly nodes: Partial<Record<PhaseShown, number>>;
  count: number;
  inFlight: number;
  readonly neededBy: Map<SetName, number>;
  notNeeded: number;
}

/** The use of every array, including dynamic ones, that has demand or nodes. Others have {@link NO_USE}. */
export function describeArrayUse(record: ClusterRecord, bodies: Bodies): ReadonlyMap<ArrayName, ArrayUse> {
  const tallies = new Map<ArrayName, Tally>();
  const tallyOf = (array: ArrayName): Tally => {
    const tally = tallies.get(array) ?? {
      targets: [],
      nodes: {},
      count: 0,
      inFlight: 0,
      neededBy: new Map<SetName, number>(),
      notNeeded: 0,
    };
    tallies.set(array, tally);
    return tally;
  };
  const sets = setsByDemand(bodies);
  for (const { array, target } of targetsOf(record, bodies)) tallyOf(array).targets.push(target);
  for (const entry of record.inFlight)
    tallyOf(dynamicArrayOf(entry.purpose) ?? entry.bucket.array).inFlight += stillInFlight(entry);
  for (const node of bodies.seen?.nodes ?? []) {
    const known = bodies.ledger.get(node.nodeId);
    if (known === undefined) continue;
    const tally = tallyOf(dynamicArrayOf(known.purpose) ?? node.array);
    if (node.phase !== "off") tally.count += 1;
    const phase = phaseShown(node, bodies.plan);
    tally.nodes[phase] = (tally.nodes[phase] ?? 0) + 1;
    const verdict = bodies.plan?.nodes.get(node.nodeId);
    if (verdict?.kind !== "needed" && verdict?.kind !== "starting") {
      tally.notNeeded += 1;
      continue;
    }
    const needing = new Set(verdict.by.flatMap((demand) => sets.get(demand) ?? []));
    for (const set of needing) tally.neededBy.set(set, (tally.neededBy.get(set) ?? 0) + 1);
  }
  return new Map([...tallies].map(([array, tally]) => [array, finish(tally)]));
}

export const NO_USE: ArrayUse = { targets: [], nodes: {}, count: 0, inFlight: 0, neededBy: [], notNeeded: 0 };

function finish({ targets, nodes, count, inFlight, neededBy, notNeeded }: Tally): ArrayUse {
  const sets = [...neededBy].toSorted(([, a], [, b]) => b - a).slice(0, SHOWN);
  return {
    targets: firstBytes(targets.slice(0, SHOWN), SHOWN_BYTES),
    nodes,
    count,
    inFlight,
    neededBy: firstBytes(
      sets.map(([requestSet, needed]) => ({ requestSet, nodes: needed })),
      SHOWN_BYTES,
    ),
    notNeeded,
  };
}

/** Targets of live sets with their results in the last plan. Targets that no plan has seen yet are missing. */
function* targetsOf(
  { sets }: ClusterRecord,
  { demands, plan }: Bodies,
): Generator<{ readonly array: ArrayName; readonly target: DescribedTarget }> {
  const outcomes = new Map<SetName, Map<string, DemandOutcome>>();
  for (const outcome of plan?.demands ?? []) {
    if (outcome.kind === "job") continue;
    const ofSet = outcomes.get(outcome.set) ?? new Map<string, DemandOutcome>();
    outcomes.set(outcome.set, ofSet.set(outcome.id, outcome));
  }
  for (const [set, entry] of sets) {
    for (const demand of demands.get(entry.digest)?.demands ?? []) {
      const outcome = demand.kind === "job" ? undefined : outcomes.get(set)?.get(demand.id);
      if (demand.kind === "job" || outcome === undefined) continue;
      const { id, unit, asked, placed } = outcome;
      yield { array: demand.array, target: { requestSet: set, id, unit, asked, placed } };
    }
  }
}

/** The sets of "set/demand", from the plan's own demands: a set's name may contain any character. */
function setsByDemand({ plan }: Bodies): ReadonlyMap<string, SetName> {
  return new Map((plan?.demands ?? []).map(({ set, id }) => [`${set}/${id}`, set]));
}
