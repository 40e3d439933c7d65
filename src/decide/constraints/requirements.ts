import type { Constraint } from "../../domain/constraint.ts";
import type { ArrayName, MachineType } from "../../domain/ids.ts";
import { arrayName, machineType } from "../../domain/ids.ts";
import type { Scalar } from "../../domain/resources.ts";
import type { Size } from "../../domain/size.ts";
import { sharedPoolName } from "./shared-pools.ts";
import { compilePattern } from "../../domain/shell-pattern.ts";
import type { Seconds } from "../../domain/units.ts";

/** What a job's constraints ask apart from amounts, by what it means for the search. */
export interface Requirements {
  readonly arrays?: readonly ArrayName[];
  readonly machineTypes?: readonly MachineType[];
  /** Only nodes in a placement group will do. */
  readonly grouped: boolean;
  /** Taken by each slot, by pool. */
  readonly pools: ReadonlyMap<string, number>;
  /** One slot of the job a node, or the job's slots only. */
  readonly alone?: "job" | "task";
  /** No new nodes in a bucket that lacked capacity so recently. */
  readonly backoffSeconds: Seconds;
  /** What nodes must be like, whatever is on them. */
  readonly marks: readonly Constraint[];
  /** Something else than amounts at the top is taken, so that each node is judged by what is left there. */
  readonly intricate: boolean;
}

/** Something that each slot takes of its node. */
export interface Amount {
  readonly resource: string;
  readonly amount: number | Size;
}

/** All constraints of a job. */
export interface TakenApart {
  readonly requirements: Requirements;
  /** Taken by each slot of its node. One resource may stand twice. */
  readonly amounts: readonly Amount[];
  /** Everything that is judged of nodes, to be judged whole: all but the pools. */
  readonly rest: readonly Constraint[];
}

/** The first list of plain array names and the first of VM sizes say where to look; patterns and second lists are marks. */
export function takeApart(constraints: readonly Constraint[]): TakenApart {
  let arrays: readonly ArrayName[] | undefined;
  let machineTypes: readonly MachineType[] | undefined;
  let alone: Requirements["alone"];
  let backoffSeconds = 0;
  let grouped = false;
  let intricate = false;
  const pools = new Map<string, number>();
  const amounts: Amount[] = [];
  const marks: Constraint[] = [];
  const rest: Constraint[] = [];
  for (const constraint of constraints.flatMap(parts)) {
    if (constraint.kind === "pool") {
      add(pools, constraint.pool, constraint.amount);
      continue;
    }
    if (constraint.kind === "shared-consumable") {
      for (const { source } of constraint.pools)
        add(pools, sharedPoolName(constraint.resource, source), constraint.amount);
      continue;
    }
    rest.push(constraint);
    switch (constraint.kind) {
      case "amount":
        amounts.push({ resource: constraint.resource, amount: constraint.amount });
        break;
      case "exclusive":
        if (constraint.wanted && alone !== "job") alone = constraint.scope;
        break;
      case "capacity-failure-backoff":
        backoffSeconds = Math.max(backoffSeconds, constraint.seconds ?? 0);
        break;
      default: {
        grouped ||= wantsGroup(constraint);
        const names = plainNames(constraint);
        if (names !== undefined && isOn(constraint, "nodearray")) arrays ??= names.map(arrayName);
        if (names !== undefined && isOn(constraint, "vm_size")) machineTypes ??= names.map(machineType);
        intricate ||= takesSomething(constraint);
        marks.push(constraint);
      }
    }
  }
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
  return { requirements, amounts, rest };
}

const parts = (constraint: Constraint): readonly Constraint[] =>
  constraint.kind === "and" ? constraint.of.flatMap(parts) : [constraint];

function add(totals: Map<string, number>, name: string, amount: number): void {
  totals.set(name, (totals.get(name) ?? 0) + amount);
}

const isOn = (constraint: Constraint, property: "nodearray" | "vm_size"): boolean =>
  constraint.kind === "property-choice" && constraint.property === property;

/** It says so, or names groups. */
function wantsGroup(constraint: Constraint): boolean {
  if (constraint.kind === "in-a-placement-group") return constraint.wanted;
  if (constraint.kind !== "property-choice" || constraint.property !== "placement_group") return false;
  return constraint.choices.length > 0 && constraint.choices.every((choice) => typeof choice === "string");
}

/** Whether a job with this constraint has decided for itself what is right of spot: it speaks of `node.spot`, or names its node arrays. */
export function decidesOnSpot(constraint: Constraint): boolean {
  return speaksOfSpot(constraint) || namesArrays(constraint);
}

function speaksOfSpot(constraint: Constraint): boolean {
  switch (constraint.kind) {
    case "property-choice":
      return constraint.property === "spot";
    case "and":
    case "or":
    case "xor":
      return constraint.of.some(speaksOfSpot);
    case "not":
      return speaksOfSpot(constraint.of);
    default:
      return false;
  }
}

function namesArrays(constraint: Constraint): boolean {
  switch (constraint.kind) {
    case "property-choice":
      return constraint.property === "nodearray" && constraint.choices.length > 0;
    case "and":
      return constraint.of.some(namesArrays);
    case "or":
    case "xor":
      return constraint.of.every(namesArrays);
    default:
      return false;
  }
}

/** Whether it hangs on the name of a placement group. */
export function namesGroups(constraint: Constraint): boolean {
  switch (constraint.kind) {
    case "property-choice":
      return constraint.property === "placement_group";
    case "and":
    case "or":
    case "xor":
      return constraint.of.some(namesGroups);
    case "not":
      return namesGroups(constraint.of);
    default:
      return false;
  }
}

function plainNames(constraint: Constraint): readonly string[] | undefined {
  if (constraint.kind !== "property-choice" || constraint.choices.length === 0) return undefined;
  const names = constraint.choices.filter(isPlainName);
  return names.length === constraint.choices.length ? names : undefined;
}

const isPlainName = (choice: Scalar): choice is string =>
  typeof choice === "string" && compilePattern(choice) === undefined;

/** Whether a constraint may take something, or judges what others have taken. */
export function takesSomething(constraint: Constraint): boolean {
  switch (constraint.kind) {
    case "amount":
    case "exclusive":
    case "pool":
    case "shared-consumable":
    case "capacity-failure-backoff":
      return true;
    case "and":
    case "or":
    case "xor":
      return constraint.of.some(takesSomething);
    case "not":
      return takesSomething(constraint.of);
    default:
      return false;
  }
}

/** Names of all resources that a constraint may take something of, or judges by what is left. */
export function countedResources(constraint: Constraint): readonly string[] {
  switch (constraint.kind) {
    case "amount":
      return [constraint.resource];
    case "and":
    case "or":
    case "xor":
      return constraint.of.flatMap(countedResources);
    case "not":
      return countedResources(constraint.of);
    default:
      return [];
  }
}
