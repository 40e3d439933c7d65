import type { Node, NodeArray, Snapshot, Unlisted } from "../../domain/cluster.ts";
import type { ClusterName, NodeId } from "../../domain/ids.ts";
import type { Instant } from "../../domain/units.ts";
import { describeKind, readText } from "./read-fields.ts";
import type { ActiveNodes } from "./read-nodearray.ts";
import { readLimit, readNodeArray } from "./read-nodearray.ts";
import type { StopKeyReader } from "./read-node.ts";
import { readNode } from "./read-node.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import { isFields } from "../../domain/fields.ts";

/** An answer of the wrong form. Its content is not used: unknown is not the same as empty (architecture.md, Unknown). */
export interface Malformed {
  readonly kind: "malformed";
  readonly path: string;
  readonly found: string;
  readonly expected: string;
}

/** Counts of unusable parts that were left out of an answer. */
interface Oddities {
  readonly nodesWithoutId: number;
  /** Further records of the same node. */
  readonly nodesRepeated: number;
  readonly bucketsWithoutMachineType: number;
}

type StatusReading =
  | { readonly kind: "snapshot"; readonly snapshot: Snapshot; readonly oddities: Oddities }
  | Malformed;

/** Reads `GET /clusters/{c}/status?nodes=true` (cyclecloud-wire.md A.3): leniently in what it may leave out, strictly in what it must say. */
export function readStatus(
  body: unknown,
  cluster: ClusterName,
  at: Instant,
  stopKeyOf?: StopKeyReader,
): StatusReading {
  if (!isFields(body)) return malformed("(body)", body, "an object");
  const arrays = readArrays(body["nodearrays"]);
  if (arrays.kind === "malformed") return arrays;
  const nodes = readNodes(body["nodes"], stopKeyOf);
  if (nodes.kind === "malformed") return nodes;
  const contradiction = findContradiction(arrays.arrays, nodes.nodes);
  if (contradiction !== undefined) return contradiction;
  const unlisted = findUnlisted(arrays.activeNodes, nodes.nodes, at);
  const state = readText(body["state"]);
  const targetState = readText(body["targetState"]);
  return {
    kind: "snapshot",
    snapshot: {
      cluster,
      at,
      ...withoutAbsent({ state, targetState }),
      limit: readLimit(body),
      arrays: arrays.arrays,
      nodes: nodes.nodes,
      ...(unlisted.length === 0 ? {} : { unlisted }),
    },
    oddities: {
      nodesWithoutId: nodes.nodesWithoutId,
      nodesRepeated: nodes.nodesRepeated,
      bucketsWithoutMachineType: arrays.bucketsWithoutMachineType,
    },
  };
}

type NodesReading =
  | ({ readonly kind: "nodes"; readonly nodes: readonly Node[] } & Pick<
      Oddities,
      "nodesWithoutId" | "nodesRepeated"
    >)
  | Malformed;

/** Reads the `nodes` list of a status or of `GET /clusters/{c}/nodes`: each node once, as the first record says. */
export function readNodes(list: unknown, stopKeyOf?: StopKeyReader): NodesReading {
  if (!Array.isArray(list)) return malformed("nodes", list, "a list of node records");
  const nodes = new Map<NodeId, Node>();
  let nodesRepeated = 0;
  list.forEach((record: unknown) => {
    const node = isFields(record) ? readNode(record, stopKeyOf) : undefined;
    if (node === undefined) return;
    if (nodes.has(node.nodeId)) nodesRepeated += 1;
    else nodes.set(node.nodeId, node);
  });
  const nodesWithoutId = list.length - nodesRepeated - nodes.size;
  return { kind: "nodes", nodes: [...nodes.values()], nodesWithoutId, nodesRepeated };
}

export function malformed(path: string, found: unknown, expected: string): Malformed {
  return { kind: "malformed", path, found: describeKind(found), expected };
}

type ArraysReading =
  | {
      readonly kind: "arrays";
      readonly arrays: readonly NodeArray[];
      readonly bucketsWithoutMachineType: number;
      readonly activeNodes: readonly ActiveNodes[];
    }
  | Malformed;

/** An array without a name makes the whole answer malformed: leaving it out would mean that the array is gone. */
function readArrays(list: unknown): ArraysReading {
  if (!Array.isArray(list)) return malformed("nodearrays", list, "a list of node arrays");
  const arrays: NodeArray[] = [];
  let bucketsWithoutMachineType = 0;
  const activeNodes: ActiveNodes[] = [];
  for (const [index, element] of list.entries()) {
    if (!isFields(element)) return malformed(`nodearrays[${index}]`, element, "an object");
    const reading = readNodeArray(element);
    if (reading === undefined) return malformed(`nodearrays[${index}].name`, element["name"], "a name");
    arrays.push(reading.array);
    bucketsWithoutMachineType += reading.bucketsWithoutMachineType;
    activeNodes.push(...reading.activeNodes);
  }
  return { kind: "arrays", arrays, bucketsWithoutMachineType, activeNodes };
}

/**
 * The nodes that a bucket names and the list lacks. If buckets name none of the listed nodes, they use an unknown form of names, and the
 * result is empty.
 */
function findUnlisted(
  buckets: readonly ActiveNodes[],
  nodes: readonly Node[],
  at: Instant,
): readonly Unlisted[] {
  const listed = new Set(nodes.map(({ array, name }) => `${array}\n${name}`));
  let named = 0;
  const unlisted = buckets.flatMap(({ array, machineType, names }) =>
    names.flatMap((name): readonly Unlisted[] => {
      named += 1;
      return listed.has(`${array}\n${name}`) ? [] : [{ array, machineType, name, since: at }];
    }),
  );
  return unlisted.length < named ? unlisted : [];
}

/** Buckets in use and not one node: the two halves of the answer are from different moments, so neither is accepted. */
function findContradiction(arrays: readonly NodeArray[], nodes: readonly Node[]): Malformed | undefined {
  if (nodes.length > 0) return undefined;
  const active = arrays
    .flatMap((array) => array.buckets)
    .reduce((sum, bucket) => sum + bucket.activeCount, 0);
  if (active === 0) return undefined;
  return {
    kind: "malformed",
    path: "nodes",
    found: "no node",
    expected: `the ${active} active nodes that the buckets count`,
  };
}
