import type { Constraint } from "../../domain/constraint.ts";
import type { ArrayName, MachineType } from "../../domain/ids.ts";
import { arrayName, machineType } from "../../domain/ids.ts";
import type { Scalar } from "../../domain/resources.ts";
import { compilePattern } from "../../domain/shell-pattern.ts";
import type { Size } from "../../domain/size.ts";
import type { Seconds } from "../../domain/units.ts";
import { takesSomething } from "./constraint-facts.ts";
import { sharedPoolName } from "./shared-pools.ts";

/** What the constraints of a job ask apart from amounts, sorted by its effect on the search. */
export interface Requirements {
  readonly arrays?: readonly ArrayName[];
  readonly machineTypes?: readonly MachineType[];
  /** Only nodes in a placement group are accepted. */
  readonly grouped: boolean;
  /** Amount that each slot takes, by pool. */
  readonly pools: ReadonlyMap<string, number>;
  /** The job needs nodes of its own: "job" with one slot on each node, "task" with any number of its slots. */
  readonly alone?: "job" | "task";
  /** No new nodes in a bucket that lacked capacity less than this time ago. */
  readonly backoffSeconds: Seconds;
  /** Constraints on the node itself, whatever jobs are on it. */
  readonly marks: readonly Constraint[];
  /** The job takes something by other constraints than plain amounts. So each node is judged by what is left on it. */
  readonly intricate: boolean;
}

/** An amount that each slot takes of its node. */
export interface Amount {
  readonly resource: string;
  readonly amount: number | Size;
}

/** The constraints of a job, taken apart. */
export interface TakenApart {
  readonly requirements: Requirements;
  /** What each slot takes of its node. A resource may occur twice. */
  readonly amounts: readonly Amount[];
  /** Everything that is tested on nodes: all constraints but the pools. */
  readonly rest: readonly Constraint[];
}

/** What was found in the constraints so far. */
interface Found {
  arrays: readonly ArrayName[] | undefined;
  machineTypes: readonly MachineType[] | undefined;
  alone: Requirements["alone"];
  backoffSeconds: Seconds;
  grouped: boolean;
  intricate: boolean;
  readonly pools: Map<string, number>;
  readonly amounts: Amount[];
  readonly marks: Constraint[];
  readonly rest: Constraint[];
}

/**
 * Takes the constraints of a job apart. The first list of plain array names and the first list of plain VM sizes restrict the buckets.
 * Patterns and further lists are marks.
 */
export function takeApart(constraints: readonly Constraint[]): TakenApart {
  const found: Found = {
    arrays: undefined,
    machineTypes: undefined,
    alone: undefined,
    backoffSeconds: 0,
    grouped: false,
    intricate: false,
    pools: new Map(),
    amounts: [],
    marks: [],
    rest: [],
  };
  for (const constraint of constraints.flatMap(parts)) note(found, constraint);
  const { arrays, machineTypes, alone, grouped, pools, backoffSeconds, marks, intricate } = found;
  const requirements = {
    ...(arrays === undefined ? {} : { arrays }),
    ...(machineTypes === undefined ? {} : { machineTypes }),
    ...(alone === undefined ? {} : { alone }),
    grouped,
    pools,
    backoffSeconds,
    marks,
    intricate,
  };
  return { requirements, amounts: found.amounts, rest: found.rest };
}

/** The members of a constraint that must all hold, without an "and". */
export const parts = (constraint: Constraint): readonly Constraint[] =>
  constraint.kind === "and" ? constraint.of.flatMap(parts) : [constraint];

function note(found: Found, constraint: Constraint): void {
  switch (constraint.kind) {
    case "pool":
      add(found.pools, constraint.pool, constraint.amount);
      return;
    case "shared-consumable":
      for (const { source } of constraint.pools)
        add(found.pools, sharedPoolName(constraint.resource, source), constraint.amount);
      return;
    case "amount":
      found.amounts.push({ resource: constraint.resource, amount: constraint.amount });
      break;
    case "exclusive":
      if (constraint.wanted && found.alone !== "job") found.alone = constraint.scope;
      break;
    case "capacity-failure-backoff":
      found.backoffSeconds = Math.max(found.backoffSeconds, constraint.seconds ?? 0);
      break;
    default:
      noteMark(found, constraint);
  }
  found.rest.push(constraint);
}

function noteMark(found: Found, constraint: Constraint): void {
  found.grouped ||= wantsGroup(constraint);
  const names = plainNames(constraint);
  if (names !== undefined && isOn(constraint, "nodearray")) found.arrays ??= names.map(arrayName);
  if (names !== undefined && isOn(constraint, "vm_size")) found.machineTypes ??= names.map(machineType);
  found.intricate ||= takesSomething(constraint);
  found.marks.push(constraint);
}

function add(totals: Map<string, number>, name: string, amount: number): void {
  totals.set(name, (totals.get(name) ?? 0) + amount);
}

const isOn = (constraint: Constraint, property: "nodearray" | "vm_size"): boolean =>
  constraint.kind === "property-choice" && constraint.property === property;

/** Whether the constraint asks for a placement group, or names groups. */
function wantsGroup(constraint: Constraint): boolean {
  if (constraint.kind === "in-a-placement-group") return constraint.wanted;
  if (constraint.kind === "not") return excludesNone(constraint.of);
  if (constraint.kind !== "property-choice" || constraint.choices.length === 0) return false;
  // A node is colocated if it is in a placement group.
  if (constraint.property === "colocated") return constraint.choices.every((choice) => Number(choice) === 1);
  if (constraint.property !== "placement_group") return false;
  return constraint.choices.every((choice) => typeof choice === "string");
}

/** Whether what is excluded are the nodes without a placement group. */
function excludesNone(constraint: Constraint): boolean {
  if (constraint.kind !== "property-choice") return false;
  const { property, choices } = constraint;
  if (property === "placement_group") return choices.includes(null);
  return property === "colocated" && choices.some((choice) => choice === false || choice === 0);
}

function plainNames(constraint: Constraint): readonly string[] | undefined {
  if (constraint.kind !== "property-choice" || constraint.choices.length === 0) return undefined;
  const names = constraint.choices.filter(isPlainName);
  return names.length === constraint.choices.length ? names : undefined;
}

const isPlainName = (choice: Scalar): choice is string =>
  typeof choice === "string" && compilePattern(choice) === undefined;
