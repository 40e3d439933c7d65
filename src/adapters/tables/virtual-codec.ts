import type { NodeId } from "../../domain/ids.ts";
import type { MovedNode, VirtualFleet, VirtualNode } from "../../domain/virtual-fleet.ts";
import type { BodyCodec } from "./codec.ts";

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
