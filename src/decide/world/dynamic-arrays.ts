import { mergeAttributes } from "../../domain/attributes.ts";
import type { NodeArray, Snapshot } from "../../domain/cluster.ts";
import type { RankedDemand } from "../../domain/demand.ts";
import type { DynamicArray, DynamicDefinition } from "../../domain/dynamic-array.ts";
import { DEEPEST } from "../../domain/dynamic-array.ts";
import type { ArrayName, SetName } from "../../domain/ids.ts";
import type { Reason } from "../../domain/reason.ts";
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

export function definitionOf({ machineTypes, attributes, ...rest }: DynamicDefinition): DynamicDefinition {
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
