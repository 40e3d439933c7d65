import { mergeAttributes } from "../../domain/attributes.ts";
import { dynamicArrayOf } from "../../domain/bucket.ts";
import type { NodeArray, Snapshot } from "../../domain/cluster.ts";
import type { RankedDemand } from "../../domain/demand.ts";
import type { DynamicArray, DynamicDefinition } from "../../domain/dynamic-array.ts";
import { DEEPEST, nodeNameStem } from "../../domain/dynamic-array.ts";
import type { ArrayName, NodeId, SetName } from "../../domain/ids.ts";
import { InTurn } from "../../domain/in-turn.ts";
import type { Reason } from "../../domain/reason.ts";
import type { ClusterRecord, Ledger, LedgerNode, SetEntry } from "../../domain/record.ts";
import { stillInFlight } from "../../domain/record.ts";
import { compareText } from "../../domain/text.ts";

/** What a dynamic node array comes to in one plan. */
export interface Dynamic {
  readonly name: ArrayName;
  /** Live sets that name it, in order of their names. */
  readonly sets: readonly SetName[];
  /** Absent: nobody defines it. */
  readonly definition?: DynamicDefinition;
  /** The array of the cluster in which its nodes are created, and all that is laid over that one's attributes; absent: see `refusal`. */
  readonly parent?: NodeArray;
  /** Present: nothing new is created for it, and why. */
  readonly refusal?: Reason;
}

/** By name; arrays that CycleCloud has are none of them. */
export type Dynamics = ReadonlyMap<ArrayName, Dynamic>;

interface Named {
  readonly sets: Set<SetName>;
  definition: DynamicDefinition | undefined;
}

/**
 * The dynamic node arrays that the demand in force names, and those that exist. A request that does not define one updates it as it is in
 * the record. Demand that is admitted defines each in one way: see `admitDemands`.
 */
export function dynamicsOf(
  demands: readonly RankedDemand[],
  existing: readonly DynamicArray[],
  snapshot: Snapshot,
): Dynamics {
  const named = readNames(demands);
  const known = new Map(existing.map((array) => [array.name, array]));
  const names = [...named].filter(([name, { definition }]) => definition !== undefined || known.has(name));
  const all = new Set([...known.keys(), ...names.map(([name]) => name)]);
  if (all.size === 0) return NO_DYNAMICS;
  const arrays = new Map(snapshot.arrays.map((array) => [array.name, array]));
  // Those that exist keep their places: of too many, only new ones are refused.
  const inOrder = [...all].sort((a, b) => Number(known.has(b)) - Number(known.has(a)) || compareText(a, b));
  const settled = new Map<ArrayName, Dynamic>();
  inOrder.forEach((name, at) => {
    const dynamic = settle(name, named.get(name), known.get(name));
    const refusal: Reason = { code: "dynamic-too-many", array: name, most: MOST_DYNAMICS };
    settled.set(name, at < MOST_DYNAMICS ? dynamic : { name, sets: dynamic.sets, refusal });
  });
  const family = { settled, arrays, wholes: new Map<ArrayName, Whole>() };
  const dynamics = new Map<ArrayName, Dynamic>();
  for (const name of [...all].sort(compareText)) {
    const dynamic = settled.get(name);
    if (dynamic !== undefined) dynamics.set(name, placed(dynamic, family));
  }
  return dynamics;
}

/** Dynamic node arrays of one cluster: each is a copy of all buckets of its parent, which every demand looks at. */
const MOST_DYNAMICS = 500;

const NO_DYNAMICS: Dynamics = new Map();

function readNames(demands: readonly RankedDemand[]): Map<ArrayName, Named> {
  const names = new Map<ArrayName, Named>();
  for (const { set, demand } of demands) {
    if (demand.kind === "job") continue;
    const named: Named = names.get(demand.array) ?? { sets: new Set(), definition: undefined };
    names.set(demand.array, named);
    named.sets.add(set);
    if (demand.extends === undefined) continue;
    const { machineTypes, attributes } = demand;
    named.definition ??= {
      extends: demand.extends,
      ...(machineTypes === undefined ? {} : { machineTypes }),
      ...(attributes === undefined ? {} : { attributes }),
    };
  }
  return names;
}

/** How it is defined, whatever the cluster has. */
function settle(name: ArrayName, named: Named | undefined, known: DynamicArray | undefined): Dynamic {
  const sets = [...(named?.sets ?? [])].sort(compareText);
  if (named === undefined) return { name, sets, refusal: { code: "dynamic-not-asked-for", array: name } };
  const definition = named.definition ?? known;
  return definition === undefined ? { name, sets } : { name, sets, definition: definitionOf(definition) };
}

function definitionOf({ machineTypes, attributes, ...rest }: DynamicDefinition): DynamicDefinition {
  return {
    extends: rest.extends,
    ...(machineTypes === undefined ? {} : { machineTypes }),
    ...(attributes === undefined ? {} : { attributes }),
  };
}

/** What a dynamic array comes to with all that it extends, or why that is not known. */
type Whole =
  | {
      readonly kind: "whole";
      readonly definition: DynamicDefinition;
      readonly parent: NodeArray;
      readonly depth: number;
    }
  | { readonly kind: "unknown"; readonly extends: ArrayName }
  | { readonly kind: "too-deep" };

interface Family {
  readonly settled: ReadonlyMap<ArrayName, Dynamic>;
  readonly arrays: ReadonlyMap<ArrayName, NodeArray>;
  /** Each is worked out once. */
  readonly wholes: Map<ArrayName, Whole>;
}

/** Finds the array of the cluster that it extends in the end, with what those in between lay over it. */
function placed(dynamic: Dynamic, family: Family): Dynamic {
  const { name, definition, refusal } = dynamic;
  const { arrays } = family;
  if (arrays.has(name)) return { ...dynamic, refusal: { code: "dynamic-name-taken", array: name } };
  if (refusal !== undefined || definition === undefined) return dynamic;
  const whole = wholeOf(name, definition, family);
  switch (whole.kind) {
    case "whole":
      return {
        ...dynamic,
        definition: { ...whole.definition, extends: definition.extends },
        parent: whole.parent,
      };
    case "too-deep":
      return { ...dynamic, refusal: { code: "extends-too-deep", array: name, most: DEEPEST } };
    case "unknown": {
      const known = [...arrays.keys()].sort(compareText);
      return { ...dynamic, refusal: { code: "extends-unknown", array: name, extends: whole.extends, known } };
    }
  }
}

/** `above`: how many dynamic arrays extend this one in a row, on the way to it. A circle is too deep, too. */
function wholeOf(name: ArrayName, definition: DynamicDefinition, family: Family, above = 0): Whole {
  const known = family.wholes.get(name);
  if (known !== undefined) return known.kind === "whole" && known.depth + above >= DEEPEST ? TOO_DEEP : known;
  if (above >= DEEPEST) return TOO_DEEP;
  const whole = workOut(definition, family, above);
  // What is too deep from here may not be from elsewhere.
  if (whole.kind !== "too-deep" || above === 0) family.wholes.set(name, whole);
  return whole;
}

const TOO_DEEP: Whole = { kind: "too-deep" };

function workOut(definition: DynamicDefinition, family: Family, above: number): Whole {
  const { settled, arrays } = family;
  const parent = arrays.get(definition.extends);
  if (parent !== undefined) return { kind: "whole", definition, parent, depth: 0 };
  const between = settled.get(definition.extends)?.definition;
  if (between === undefined) return { kind: "unknown", extends: definition.extends };
  const under = wholeOf(definition.extends, between, family, above + 1);
  if (under.kind !== "whole") return under;
  return {
    kind: "whole",
    definition: laidOver(under.definition, definition),
    parent: under.parent,
    depth: under.depth + 1,
  };
}

function laidOver(under: DynamicDefinition, over: DynamicDefinition): DynamicDefinition {
  const machineTypes = over.machineTypes ?? under.machineTypes;
  const attributes =
    under.attributes === undefined || over.attributes === undefined
      ? (over.attributes ?? under.attributes)
      : mergeAttributes(under.attributes, over.attributes);
  return {
    extends: under.extends,
    ...(machineTypes === undefined ? {} : { machineTypes }),
    ...(attributes === undefined ? {} : { attributes }),
  };
}

/**
 * The dynamic node arrays that exist after a look: those that a set asks for, in a cluster that is started, and those that still have
 * nodes. A set that has left one out since asks for it no longer; one that only lapsed has said nothing, and stays named.
 */
export function existingDynamics(
  record: ClusterRecord,
  ledger: Ledger,
  dynamics: Dynamics,
  snapshot: Snapshot,
  definers: ReadonlyMap<ArrayName, SetName>,
): readonly DynamicArray[] {
  const before = new Map((record.dynamicArrays ?? []).map((array) => [array.name, array]));
  const open = snapshot.state === "Started" && snapshot.targetState === "Started";
  const inUse = withNodes(record, ledger, snapshot);
  const existing: DynamicArray[] = [];
  for (const dynamic of dynamics.values()) {
    const { name, sets, parent } = dynamic;
    const old = before.get(name);
    // Defined, and somewhere to be; what is refused stays what it was, if it was anything.
    const definition = parent === undefined ? old : dynamic.definition;
    const asked = open && sets.length > 0;
    if (definition === undefined || !(asked || inUse.has(name))) continue;
    // A set that lapsed has it no longer; who defined it last is known all the same.
    const by = definers.get(name) ?? old?.by;
    const silent = (old?.sets ?? []).filter((set) => isSilent(record.sets.get(set)));
    existing.push({
      name,
      ...definitionOf(definition),
      sets: [...new Set([...sets, ...silent])].sort(compareText),
      ...(by === undefined ? {} : { by }),
    });
  }
  return existing;
}

/** It asked for something, and is renewed no more; a set that was deleted says by that that it asks for nothing. */
function isSilent(entry: SetEntry | undefined): boolean {
  return entry?.live === false && entry.ended === undefined;
}

/**
 * The ledger with nodes of which it knows no request, as after a lost table, taken for those of the dynamic array that they are called
 * after: then names are all that is left (architecture.md, The node ledger).
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
    const dynamic = stems.get(/^(.*)-\d+$/.exec(node.name)?.[1] ?? "");
    if (dynamic?.parent?.name !== node.array) continue;
    next ??= new Map(ledger);
    next.set(node.nodeId, { ...node, purpose: { kind: "dynamic", array: dynamic.name } });
  }
  return next ?? ledger;
}

/** Dynamic arrays of which a node exists, is on its way or may be. */
function withNodes(record: ClusterRecord, ledger: Ledger, snapshot: Snapshot): ReadonlySet<ArrayName> {
  const names = new Set<ArrayName>();
  const note = (name: ArrayName | undefined): void => {
    if (name !== undefined) names.add(name);
  };
  const entries = new InTurn(ledger);
  snapshot.nodes.forEach(({ nodeId, phase }) => {
    if (phase !== "off") note(dynamicArrayOf(entries.get(nodeId)?.purpose));
  });
  for (const entry of record.inFlight) if (stillInFlight(entry) > 0) note(dynamicArrayOf(entry.purpose));
  for (const { effect } of record.intents)
    if (effect.kind === "create") for (const { purpose } of effect.sets) note(dynamicArrayOf(purpose));
  return names;
}

/** Left out by every set that asked for it: it goes with its last node. */
export function isFlagged({ sets }: DynamicArray): boolean {
  return sets.length === 0;
}
