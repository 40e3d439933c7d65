import type { Constraint } from "../domain/constraint.ts";
import type { ArrayName, MachineType } from "../domain/ids.ts";
import { arrayName, machineType } from "../domain/ids.ts";
import type { Scalar } from "../domain/resources.ts";
import { isSize, bytesOf } from "../domain/size.ts";
import { sharedPoolName } from "./pools.ts";
import { compilePattern } from "./shell-pattern.ts";

/** A job's constraints, taken apart: what decides where to look, and the rest, which is judged of each kind of node. */
export interface Requirements {
  readonly arrays?: readonly ArrayName[];
  readonly machineTypes?: readonly MachineType[];
  /** All slots in one placement group. */
  readonly grouped: boolean;
  /** Taken by each slot, by pool. */
  readonly pools: ReadonlyMap<string, number>;
  /** At least so much of a resource each slot takes anywhere; sizes in bytes. */
  readonly least: ReadonlyMap<string, number>;
  readonly rest: readonly Constraint[];
}

/** The first list of plain array names and the first of VM sizes become a scope; patterns and second lists stay constraints. */
export function takeApart(constraints: readonly Constraint[]): Requirements {
  let arrays: readonly ArrayName[] | undefined;
  let machineTypes: readonly MachineType[] | undefined;
  let grouped = false;
  const pools = new Map<string, number>();
  const least = new Map<string, number>();
  const rest: Constraint[] = [];
  for (const constraint of constraints.flatMap(parts)) {
    const names = plainNames(constraint);
    if (constraint.kind === "property-choice" && constraint.property === "nodearray" && names && !arrays)
      arrays = names.map(arrayName);
    else if (
      constraint.kind === "property-choice" &&
      constraint.property === "vm_size" &&
      names &&
      !machineTypes
    )
      machineTypes = names.map(machineType);
    else if (constraint.kind === "in-a-placement-group" && constraint.wanted) grouped = true;
    else if (constraint.kind === "pool") add(pools, constraint.pool, constraint.amount);
    else if (constraint.kind === "shared-consumable")
      for (const { source } of constraint.pools)
        add(pools, sharedPoolName(constraint.resource, source), constraint.amount);
    else {
      if (constraint.kind === "amount") {
        const { amount } = constraint;
        add(least, constraint.resource, isSize(amount) ? bytesOf(amount) : amount);
      }
      rest.push(constraint);
    }
  }
  return {
    ...(arrays === undefined ? {} : { arrays }),
    ...(machineTypes === undefined ? {} : { machineTypes }),
    grouped,
    pools,
    least,
    rest,
  };
}

const parts = (constraint: Constraint): readonly Constraint[] =>
  constraint.kind === "and" ? constraint.of.flatMap(parts) : [constraint];

function add(totals: Map<string, number>, name: string, amount: number): void {
  totals.set(name, (totals.get(name) ?? 0) + amount);
}

function plainNames(constraint: Constraint): readonly string[] | undefined {
  if (constraint.kind !== "property-choice" || constraint.choices.length === 0) return undefined;
  const names = constraint.choices.filter(isPlainName);
  return names.length === constraint.choices.length ? names : undefined;
}

const isPlainName = (choice: Scalar): choice is string =>
  typeof choice === "string" && compilePattern(choice) === undefined;

/** Names of all resources that a constraint may take something of. */
export function countedResources(constraint: Constraint): readonly string[] {
  switch (constraint.kind) {
    case "amount":
      return [constraint.resource];
    case "and":
    case "or":
    case "xor":
      return constraint.of.flatMap(countedResources);
    default:
      return [];
  }
}
