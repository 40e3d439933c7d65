import { dynamicArrayOf } from "../../domain/bucket.ts";
import type { RequestedNode } from "../../domain/cluster.ts";
import { nodeNameStem } from "../../domain/dynamic-array.ts";
import type { NodeId } from "../../domain/ids.ts";
import { sameMachineType } from "../../domain/ids.ts";
import type { CreateKind, CreateSet } from "../../domain/intent.ts";
import type { ClusterRecord } from "../../domain/record.ts";

/** Which sets share a create request, and which set each node of a request belongs to (docs/protocol.md, Creates). */

type Place = Pick<CreateSet, "bucket" | "purpose">;

/**
 * The requests that ask for these sets, in their order. One request takes them all, except sets that must go alone, and sets whose nodes
 * could not be told apart in the list of the request's nodes: those that agree in array, size, group and name.
 */
export function requestsOf(
  sets: readonly CreateSet[],
  alone: readonly CreateKind[],
): readonly (readonly CreateSet[])[] {
  const shared: { readonly keys: Set<string>; readonly sets: CreateSet[] }[] = [];
  const single: CreateSet[][] = [];
  for (const set of sets) {
    if (alone.some((kind) => isSameKind(kind, kindOf(set)))) {
      single.push([set]);
      continue;
    }
    const key = keyOf(set);
    const request = shared.find(({ keys }) => !keys.has(key));
    if (request === undefined) shared.push({ keys: new Set([key]), sets: [set] });
    else {
      request.keys.add(key);
      request.sets.push(set);
    }
  }
  return [...shared.map((request) => request.sets), ...single];
}

function keyOf(set: Place): string {
  const { array, machineType, placementGroup = "" } = set.bucket;
  return JSON.stringify([array, machineType.toLowerCase(), placementGroup, nameStemOf(set) ?? ""]);
}

/** What the nodes of a set are called up to their number; undefined: as CycleCloud calls them, after their array. */
export function nameStemOf({ purpose, bucket }: Place): string | undefined {
  const dynamic = dynamicArrayOf(purpose);
  return dynamic === undefined ? undefined : nodeNameStem(dynamic, bucket.array);
}

// ---------------------------------------------------------------- which set a node belongs to

/** A set of a request, how many nodes it may have, and which nodes are known to be its own. */
export interface Claim extends Place {
  readonly added: number;
  readonly seen: readonly NodeId[];
}

/**
 * The sets of one request with their nodes. A node belongs to the set that agrees with it in array, size, group and name. A record may
 * lack some of these; where that leaves several sets, the node belongs to the first that has room.
 */
export function nodesBySet<C extends Claim>(
  sets: readonly C[],
  nodes: readonly RequestedNode[],
): ReadonlyMap<C, readonly NodeId[]> {
  const found = new Map<C, NodeId[]>(sets.map((set) => [set, []]));
  const known = new Map(sets.flatMap((set) => set.seen.map((id) => [id, set] as const)));
  for (const node of nodes) {
    const set = known.get(node.nodeId) ?? setOf(sets, node, (one) => hasRoom(one, found.get(one) ?? []));
    if (set !== undefined) found.get(set)?.push(node.nodeId);
  }
  return found;
}

function hasRoom({ added, seen }: Claim, more: readonly NodeId[]): boolean {
  return new Set([...seen, ...more]).size < added;
}

function setOf<C extends Claim>(
  sets: readonly C[],
  node: RequestedNode,
  roomy: (set: C) => boolean,
): C | undefined {
  const agrees: readonly ((set: C) => boolean)[] = [
    ({ bucket }) => bucket.array === node.array,
    ({ bucket }) => sameMachineType(bucket.machineType, node.machineType),
    ({ bucket }) => bucket.placementGroup === node.placementGroup,
    (set) => isNumbered(node.name, nameStemOf(set) ?? set.bucket.array),
    roomy,
  ];
  const left = agrees.reduce((rest, agree) => {
    const fitting = rest.filter(agree);
    return fitting.length === 0 ? rest : fitting;
  }, sets);
  return left[0];
}

function isNumbered(name: string, stem: string): boolean {
  const prefix = `${stem}-`;
  return name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length));
}

// ---------------------------------------------------------------- what goes alone

function kindOf({ bucket, purpose }: Place): CreateKind {
  const dynamic = dynamicArrayOf(purpose);
  const { array, machineType } = bucket;
  return { array, machineType, ...(dynamic === undefined ? {} : { dynamic }) };
}

function isSameKind(a: CreateKind, b: CreateKind): boolean {
  return a.array === b.array && a.dynamic === b.dynamic && sameMachineType(a.machineType, b.machineType);
}

/** After a request without effect: each of its sets may be why, so each goes alone until CycleCloud has accepted it once. */
export function sendAlone(record: ClusterRecord, sets: readonly CreateSet[]): ClusterRecord {
  const alone = [...(record.alone ?? [])];
  for (const kind of sets.map(kindOf)) if (!alone.some((other) => isSameKind(other, kind))) alone.push(kind);
  return { ...record, alone };
}

/** After a request that CycleCloud has accepted. */
export function sendTogether(record: ClusterRecord, sets: readonly CreateSet[]): ClusterRecord {
  if (record.alone === undefined) return record;
  const { alone, ...rest } = record;
  const left = alone.filter((kind) => !sets.some((set) => isSameKind(kind, kindOf(set))));
  return left.length === 0 ? rest : { ...rest, alone: left };
}
