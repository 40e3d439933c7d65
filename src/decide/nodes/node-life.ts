import type { Node, Snapshot } from "../../domain/cluster.ts";
import type { NodeId, SetName } from "../../domain/ids.ts";
import type { Ledger, LedgerNode, NodeMachine } from "../../domain/ledger.ts";
import type { NodeLife } from "../../domain/node-life.ts";
import type { DemandOutcome } from "../../domain/plan.ts";
import type { Policy } from "../../domain/policy.ts";
import { findPrice } from "../../domain/price.ts";
import type { Instant } from "../../domain/units.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import { isOurs } from "../../domain/exclusive.ts";

/** What is noted of nodes only for their history (docs/protocol.md, History of nodes). Of it a decision reads only the first sets (world/old-nodes.ts). */

/** The ledger with what the nodes that have just gone were. `before`: the observation that was accepted last. The same object if none has. */
export function noteMachines(ledger: Ledger, before: Snapshot | undefined, now: Instant): Ledger {
  const gone: LedgerNode[] = [];
  ledger.forEach((known) => {
    if (known.goneAt === now && known.was === undefined) gone.push(known);
  });
  if (gone.length === 0 || before === undefined) return ledger;
  const machines = machinesIn(before);
  const noted = new Map(ledger);
  for (const known of gone) {
    const was = machines(known.nodeId);
    if (was !== undefined) noted.set(known.nodeId, { ...known, was });
  }
  return noted;
}

/** The machines of the nodes that an observation shows, by id. */
function machinesIn({ nodes, arrays }: Snapshot): (id: NodeId) => NodeMachine | undefined {
  const byId = new Map<NodeId, Node>();
  nodes.forEach((node) => byId.set(node.nodeId, node));
  const arrayOf = new Map(arrays.map((array) => [array.name, array]));
  return (id) => {
    const node = byId.get(id);
    if (node === undefined) return undefined;
    const { machineType, placementGroup } = node;
    const home = arrayOf.get(node.array);
    const isSpot = node.spot ?? home?.spot ?? false;
    return {
      ...(machineType === "" ? {} : { machineType }),
      ...withoutAbsent({ placementGroup, region: home?.region }),
      ...(isSpot ? { spot: true } : {}),
    };
  };
}

/** Sets that are kept of a node's first demand. */
const MOST_SETS = 3;

/** Notes which sets needed a node first. */
export class FirstNeeds {
  readonly #outcomes: readonly DemandOutcome[];
  readonly #now: Instant;
  #sets: ReadonlyMap<string, SetName> | undefined;

  /** `outcomes`: the demand of this plan. */
  constructor(outcomes: readonly DemandOutcome[], now: Instant) {
    this.#outcomes = outcomes;
    this.#now = now;
  }

  /** `needed`: the demands that need the node, as "set/demand". A node that was needed before the app noted this stays without. */
  noted(known: LedgerNode, needed: readonly string[] | undefined): LedgerNode {
    if (needed === undefined || known.firstNeeded !== undefined || known.lastNeededAt !== undefined)
      return known;
    // Names of sets may contain a slash, so that the text does not say where the name ends.
    this.#sets ??= new Map(this.#outcomes.map(({ set, id }) => [`${set}/${id}`, set]));
    const sets = new Set<SetName>();
    for (const one of needed) {
      const set = this.#sets.get(one);
      if (set !== undefined && sets.size < MOST_SETS) sets.add(set);
    }
    return { ...known, firstNeeded: { at: this.#now, sets: [...sets] } };
  }
}

/**
 * The lives of nodes that the ledger knows, with what an hour of each costs by the configuration's prices. `seen`: the last accepted observation,
 * for nodes that are there.
 */
export function livesOf(
  nodes: readonly LedgerNode[],
  seen: Snapshot | undefined,
  { prices }: Pick<Policy, "prices">,
): readonly NodeLife[] {
  const machines = seen === undefined ? undefined : machinesIn(seen);
  return nodes.map((known) => {
    const machine = known.was ?? machines?.(known.nodeId);
    return { ...factsOf(known), ...machine, ...priceOf(machine, known, prices) };
  });
}

function factsOf(known: LedgerNode): Omit<NodeLife, "price"> {
  const { nodeId, name, array, hostname, instanceId, purpose, asked } = known;
  const { firstSeenAt, firstReadyAt, firstNeeded, lastNeededAt, draining, goneAt, kept, offSeconds } = known;
  return {
    nodeId,
    name,
    array,
    ...withoutAbsent({ hostname, instanceId, asked }),
    purpose,
    ...(isOurs(known, {}) ? {} : { notOurs: true as const }),
    firstSeenAt,
    ...withoutAbsent({ firstReadyAt, firstNeeded, lastNeededAt, draining, goneAt, kept, offSeconds }),
  };
}

function priceOf(
  machine: NodeMachine | undefined,
  { kept, offSeconds }: LedgerNode,
  prices: Policy["prices"],
): Pick<NodeLife, "price"> {
  if (prices === undefined || machine?.machineType === undefined) return {};
  const perHour = findPrice(prices, machine.region, machine.machineType, { spot: machine.spot ?? false });
  if (perHour === undefined) return {};
  const off = kept === undefined && offSeconds === undefined ? undefined : prices.deallocated;
  return { price: { perHour, ...withoutAbsent({ offPerHour: off }), currency: prices.currency } };
}
