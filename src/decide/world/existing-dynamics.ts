import { dynamicArrayOf } from "../../domain/bucket.ts";
import type { Snapshot } from "../../domain/cluster.ts";
import type { DynamicArray } from "../../domain/dynamic-array.ts";
import { nodeNameStem } from "../../domain/dynamic-array.ts";
import type { ArrayName, NodeId, SetName } from "../../domain/ids.ts";
import type { Ledger, LedgerNode } from "../../domain/ledger.ts";
import type { ClusterRecord } from "../../domain/record.ts";
import type { SetEntry } from "../../domain/request-sets.ts";
import { stillInFlight } from "../../domain/record.ts";
import { compareText } from "../../domain/text.ts";
import type { Dynamic, Dynamics } from "./dynamic-arrays.ts";
import { definitionOf } from "./dynamic-arrays.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/**
 * Notes the dynamic node arrays that exist after an observation: those that a set asks for while the cluster is started, and those that
 * still have nodes, with those that this plan has just requested. A set that has omitted an array since then no longer asks for it. A set
 * that only lapsed stays noted.
 */
export function withDynamics(
  record: ClusterRecord,
  ledger: Ledger,
  dynamics: Dynamics,
  snapshot: Snapshot,
  definers: ReadonlyMap<ArrayName, SetName>,
): ClusterRecord {
  const before = new Map((record.dynamicArrays ?? []).map((array) => [array.name, array]));
  const open = snapshot.state === "Started" && snapshot.targetState === "Started";
  const inUse = withNodes(record, ledger, snapshot);
  const existing: DynamicArray[] = [];
  for (const dynamic of dynamics.values()) {
    const { name, sets, parent } = dynamic;
    const old = before.get(name);
    // An array that is refused keeps its old definition, if it has one.
    const definition = parent === undefined ? old : dynamic.definition;
    const asked = open && sets.length > 0;
    if (definition === undefined || !(asked || inUse.has(name))) continue;
    // The demand of a lapsed set is gone, but the record names the set that defined the array last.
    const by = definers.get(name) ?? old?.by;
    const silent = (old?.sets ?? []).filter((set) => isSilent(record.sets.get(set)));
    existing.push({
      name,
      ...definitionOf(definition),
      sets: [...new Set([...sets, ...silent])].sort(compareText),
      ...withoutAbsent({ by }),
    });
  }
  const { dynamicArrays: _before, ...rest } = record;
  return existing.length === 0 ? rest : { ...rest, dynamicArrays: existing };
}

/** Whether the set lapsed. A set that was deleted asks for nothing. */
function isSilent(entry: SetEntry | undefined): boolean {
  return entry?.live === false && entry.ended === undefined;
}

/**
 * The ledger with nodes without a known request assigned to the dynamic array in their name. After a loss of the table only names are left
 * (architecture.md, The node ledger).
 */
export function recogniseByName(ledger: Ledger, dynamics: Dynamics): Ledger {
  const stems = new Map<string, Dynamic>();
  for (const dynamic of dynamics.values()) {
    if (dynamic.parent === undefined) continue;
    const stem = nodeNameStem(dynamic.name, dynamic.parent.name);
    if (!stems.has(stem)) stems.set(stem, dynamic);
  }
  if (stems.size === 0) return ledger;
  let next: Map<NodeId, LedgerNode> | undefined;
  for (const node of ledger.values()) {
    if (node.requestId !== undefined || node.purpose.kind !== "array" || node.goneAt !== undefined) continue;
    const stem = /^(.*)-\d+$/.exec(node.name)?.[1];
    const dynamic = stem === undefined ? undefined : stems.get(stem);
    if (dynamic?.parent?.name !== node.array) continue;
    next ??= new Map(ledger);
    next.set(node.nodeId, { ...node, purpose: { kind: "dynamic", array: dynamic.name } });
  }
  return next ?? ledger;
}

/** Dynamic arrays with nodes that exist, are on their way or may be. */
function withNodes(record: ClusterRecord, ledger: Ledger, snapshot: Snapshot): ReadonlySet<ArrayName> {
  const names = new Set<ArrayName>();
  const note = (name: ArrayName | undefined): void => {
    if (name !== undefined) names.add(name);
  };
  snapshot.nodes.forEach(({ nodeId, phase }) => {
    if (phase !== "off") note(dynamicArrayOf(ledger.get(nodeId)?.purpose));
  });
  for (const entry of record.inFlight) if (stillInFlight(entry) > 0) note(dynamicArrayOf(entry.purpose));
  for (const { effect } of record.intents)
    if (effect.kind === "create") for (const { purpose } of effect.sets) note(dynamicArrayOf(purpose));
  return names;
}

/** Whether no set asks for the array any more. It is removed with its last node. */
export function isFlagged({ sets }: DynamicArray): boolean {
  return sets.length === 0;
}
