import type { NodeId } from "../../domain/ids.ts";
import type { NodeVerdict } from "../../domain/node-verdict.ts";
import type { DemandOutcome, Plan } from "../../domain/plan.ts";
import type { BodyCodec } from "./codec.ts";
import type { MovedNode, VirtualFleet, VirtualNode } from "../../domain/virtual-fleet.ts";

/** The members of an outcome about what it lacks. */
type Why = Pick<DemandOutcome, "reasons" | "moreReasons" | "binding">;

/** Outcomes one after the other that differ in their ids only. */
interface StoredRun extends Omit<DemandOutcome, "id" | "reasons" | "moreReasons" | "binding"> {
  readonly ids: readonly string[];
  /** The position of its reasons in `whys`. Absent: it lacks nothing. */
  readonly why?: number;
}

/** As a build before 0.1.0 wrote it: each outcome by itself, with its first reason. */
type StoredOutcome = Omit<DemandOutcome, "moreReasons" | "binding"> & { readonly why?: number };

type StoredPlan = Omit<Plan, "nodes" | "demands"> & {
  readonly nodes: readonly (readonly [NodeId, NodeVerdict])[];
  readonly runs?: readonly StoredRun[];
  readonly demands: readonly StoredOutcome[];
  readonly whys?: readonly Why[];
};

/** There may be 100,000 identical jobs, and each plan is stored. So what they share is written once, and their ids as one list. */
export const planCodec: BodyCodec<Plan> = {
  write(plan) {
    const whys = new Whys();
    const runs = runsOf(plan.demands).map((run) => storedRun(run, whys));
    const stored: StoredPlan = { ...plan, nodes: [...plan.nodes], demands: [], runs, whys: whys.all };
    return stored;
  },
  read(text) {
    const { whys = [], runs, ...stored }: StoredPlan = JSON.parse(text);
    const demands =
      runs?.flatMap((run) => readRun(run, whys)) ?? stored.demands.map((one) => readOne(one, whys));
    return { ...stored, nodes: new Map(stored.nodes), demands };
  },
};

interface Run {
  readonly first: DemandOutcome;
  readonly ids: string[];
}

function runsOf(outcomes: readonly DemandOutcome[]): readonly Run[] {
  const runs: Run[] = [];
  let last: Run | undefined;
  for (const outcome of outcomes) {
    if (last !== undefined && isAlike(last.first, outcome)) {
      last.ids.push(outcome.id);
      continue;
    }
    last = { first: outcome, ids: [outcome.id] };
    runs.push(last);
  }
  return runs;
}

/** Reasons and remedies are compared as objects: identical jobs share them. */
const isAlike = (a: DemandOutcome, b: DemandOutcome): boolean =>
  a.reasons === b.reasons &&
  a.set === b.set &&
  a.asked === b.asked &&
  a.placed === b.placed &&
  a.pending === b.pending &&
  a.kind === b.kind &&
  a.unit === b.unit &&
  a.moreReasons === b.moreReasons &&
  a.room === b.room &&
  a.binding === b.binding;

function storedRun({ first, ids }: Run, whys: Whys): StoredRun {
  const { id: _first, reasons, moreReasons: _more, binding: _binding, ...rest } = first;
  return { ...rest, ids, ...(reasons.length === 0 ? {} : { why: whys.positionOf(first) }) };
}

function readRun({ ids, why, ...rest }: StoredRun, whys: readonly Why[]): readonly DemandOutcome[] {
  const reasons = (why === undefined ? undefined : whys[why]) ?? NO_REASONS;
  return ids.map((id) => ({ ...rest, id, ...reasons }));
}

const NO_REASONS: Why = { reasons: [] };

function readOne({ why, ...outcome }: StoredOutcome, whys: readonly Why[]): DemandOutcome {
  const known = why === undefined ? undefined : whys[why];
  return known === undefined ? outcome : { ...outcome, ...known };
}

/** Collects the reasons of outcomes, each once: by the list of reasons itself if it is shared, else by its text. */
class Whys {
  readonly all: Why[] = [];
  readonly #byText = new Map<string, number>();
  readonly #byReasons = new Map<
    DemandOutcome["reasons"],
    { readonly binding: Why["binding"]; readonly position: number }
  >();

  positionOf({ reasons, moreReasons, binding }: DemandOutcome): number {
    const known = this.#byReasons.get(reasons);
    if (known !== undefined && known.binding === binding) return known.position;
    const why: Why = {
      reasons,
      ...(moreReasons === undefined ? {} : { moreReasons }),
      ...(binding === undefined ? {} : { binding }),
    };
    const text = JSON.stringify(why);
    const position = this.#byText.get(text) ?? this.all.push(why) - 1;
    this.#byText.set(text, position);
    this.#byReasons.set(reasons, { binding, position });
    return position;
  }
}

/**
 * The stored form of the virtual fleet. A name that occurs twice is stored once, so that a fleet of 10,000 nodes with jobs fits into one
 * row: each plan writes it.
 */
interface StoredFleet extends Omit<VirtualFleet, "nodes" | "moved"> {
  readonly nodes: readonly StoredNode[];
  readonly moved: readonly StoredMove[];
}

type Names = Pick<VirtualNode["known"], "nodeId" | "name" | "array" | "hostname">;

/** `names: "same"`: the ledger entry has the same names as the node. */
type StoredNode =
  | VirtualNode
  | (Omit<VirtualNode, "known"> & { readonly names: "same"; readonly known: Nameless });

type Nameless = Omit<VirtualNode["known"], keyof Names>;

/** The position of a node that has the jobs of the real node with its own id, or that real node and the position. */
type StoredMove = number | readonly [NodeId, number] | MovedNode;

export const virtualCodec: BodyCodec<VirtualFleet> = {
  write(fleet) {
    const places = new Map(fleet.nodes.map(({ node }, at) => [node.nodeId, at]));
    const stored: StoredFleet = {
      ...fleet,
      nodes: fleet.nodes.map(storeNode),
      moved: fleet.moved.map((move) => storeMove(move, places)),
    };
    return stored;
  },
  read(text) {
    const stored: StoredFleet = JSON.parse(text);
    return {
      ...stored,
      nodes: stored.nodes.map(readNode),
      moved: stored.moved.flatMap((move) => readMove(move, stored.nodes)),
    };
  },
};

const namesOf = ({ nodeId, name, array, hostname }: Names): Names => ({
  nodeId,
  name,
  array,
  ...(hostname === undefined ? {} : { hostname }),
});

function storeNode(one: VirtualNode): StoredNode {
  const { nodeId, name, array, hostname, ...rest } = one.known;
  const { node } = one;
  const isSame =
    nodeId === node.nodeId && name === node.name && array === node.array && hostname === node.hostname;
  return isSame ? { ...one, names: "same", known: rest } : one;
}

function readNode(stored: StoredNode): VirtualNode {
  if (!("names" in stored)) return stored;
  const { names: _same, known, ...rest } = stored;
  return { ...rest, known: { ...namesOf(rest.node), ...known } };
}

function storeMove(move: MovedNode, places: ReadonlyMap<NodeId, number>): StoredMove {
  const at = places.get(move.to);
  if (at === undefined) return move;
  return move.real === move.to ? at : [move.real, at];
}

function readMove(move: StoredMove, nodes: readonly StoredNode[]): readonly MovedNode[] {
  if (typeof move === "object" && "to" in move) return [move];
  const to = nodes[typeof move === "number" ? move : move[1]]?.node.nodeId;
  if (to === undefined) return [];
  return [{ real: typeof move === "number" ? to : move[0], to }];
}
