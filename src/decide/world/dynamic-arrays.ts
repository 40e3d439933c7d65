import { mergeAttributes } from "../../domain/attributes.ts";
import type { NodeArray, Snapshot } from "../../domain/cluster.ts";
import type { RankedDemand } from "../../domain/demand.ts";
import type { DynamicArray, DynamicDefinition } from "../../domain/dynamic-array.ts";
import { DEEPEST } from "../../domain/dynamic-array.ts";
import type { ArrayName, SetName } from "../../domain/ids.ts";
import type { Reason } from "../../domain/reason.ts";
import { compareText } from "../../domain/text.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";

/** A dynamic node array in one plan. */
export interface Dynamic {
  readonly name: ArrayName;
  /** The live sets that name it, in the order of their names. */
  readonly sets: readonly SetName[];
  /** Absent: no set defines it. */
  readonly definition?: DynamicDefinition;
  /** The array of the cluster in which its nodes are created. Absent: see `refusal`. */
  readonly parent?: NodeArray;
  /** Why no new nodes are created for it. Absent: they are. */
  readonly refusal?: Reason;
}

/** Dynamic node arrays by name. Arrays that CycleCloud has are not here. */
export type Dynamics = ReadonlyMap<ArrayName, Dynamic>;

interface Named {
  readonly sets: Set<SetName>;
  definition: DynamicDefinition | undefined;
}

/**
 * The dynamic node arrays that the demand in force names, and those that exist. If no demand defines an array that exists, its stored
 * definition counts. Admitted demands never define one in two ways: see `admitDemands`.
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
  // Existing arrays come first, so that only new ones are refused if there are too many.
  const inOrder = [...all].sort((a, b) => Number(known.has(b)) - Number(known.has(a)) || compareText(a, b));
  const defined = new Map<ArrayName, Dynamic>();
  inOrder.forEach((name, at) => {
    const dynamic = define(name, named.get(name), known.get(name));
    const refusal: Reason = { code: "dynamic-too-many", array: name, most: MOST_DYNAMICS };
    defined.set(name, at < MOST_DYNAMICS ? dynamic : { name, sets: dynamic.sets, refusal });
  });
  const family = { defined, arrays, wholes: new Map<ArrayName, Whole>() };
  const dynamics = new Map<ArrayName, Dynamic>();
  for (const name of [...all].sort(compareText)) {
    const dynamic = defined.get(name);
    if (dynamic !== undefined) dynamics.set(name, withParent(dynamic, family));
  }
  return dynamics;
}

/** Maximum number of dynamic node arrays. Each copies all buckets of its parent, and every demand reads them. */
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
    named.definition ??= definitionOf({ ...demand, extends: demand.extends });
  }
  return names;
}

/** The array with its definition. Whether the cluster has its parent is not checked yet. */
function define(name: ArrayName, named: Named | undefined, known: DynamicArray | undefined): Dynamic {
  const sets = [...(named?.sets ?? [])].sort(compareText);
  if (named === undefined) return { name, sets, refusal: { code: "dynamic-not-asked-for", array: name } };
  const definition = named.definition ?? known;
  return definition === undefined ? { name, sets } : { name, sets, definition: definitionOf(definition) };
}

/** The definition without other fields. */
export function definitionOf({ machineTypes, attributes, ...rest }: DynamicDefinition): DynamicDefinition {
  return { extends: rest.extends, ...(machineTypes && { machineTypes }), ...(attributes && { attributes }) };
}

/** A dynamic array merged with all arrays that it extends, or why there is no result. */
type Whole =
  | {
      readonly kind: "whole";
      readonly definition: DynamicDefinition;
      readonly parent: NodeArray;
      readonly depth: number;
    }
  | { readonly kind: "unknown"; readonly extends: ArrayName }
  | { readonly kind: "too-deep" };

/** All dynamic arrays and the arrays of the cluster. */
interface Family {
  readonly defined: ReadonlyMap<ArrayName, Dynamic>;
  readonly arrays: ReadonlyMap<ArrayName, NodeArray>;
  /** Results so far: each is computed once. */
  readonly wholes: Map<ArrayName, Whole>;
}

/** Finds the array of the cluster that it extends in the end, and merges the definitions in between. */
function withParent(dynamic: Dynamic, family: Family): Dynamic {
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

/** `above`: the number of arrays on the way to this one, each extending the next. A circle is too deep, too. */
function wholeOf(name: ArrayName, definition: DynamicDefinition, family: Family, above = 0): Whole {
  const known = family.wholes.get(name);
  if (known !== undefined) return known.kind === "whole" && known.depth + above >= DEEPEST ? TOO_DEEP : known;
  if (above >= DEEPEST) return TOO_DEEP;
  const whole = mergeParents(definition, family, above);
  // An array that is too deep on this way may not be too deep on another one.
  if (whole.kind !== "too-deep" || above === 0) family.wholes.set(name, whole);
  return whole;
}

const TOO_DEEP: Whole = { kind: "too-deep" };

function mergeParents(definition: DynamicDefinition, family: Family, above: number): Whole {
  const { defined, arrays } = family;
  const parent = arrays.get(definition.extends);
  if (parent !== undefined) return { kind: "whole", definition, parent, depth: 0 };
  const between = defined.get(definition.extends)?.definition;
  if (between === undefined) return { kind: "unknown", extends: definition.extends };
  const under = wholeOf(definition.extends, between, family, above + 1);
  if (under.kind !== "whole") return under;
  return {
    kind: "whole",
    definition: mergeDefinitions(under.definition, definition),
    parent: under.parent,
    depth: under.depth + 1,
  };
}

function mergeDefinitions(under: DynamicDefinition, over: DynamicDefinition): DynamicDefinition {
  const machineTypes = over.machineTypes ?? under.machineTypes;
  const attributes =
    under.attributes === undefined || over.attributes === undefined
      ? (over.attributes ?? under.attributes)
      : mergeAttributes(under.attributes, over.attributes);
  return {
    extends: under.extends,
    ...withoutAbsent({ machineTypes, attributes }),
  };
}
