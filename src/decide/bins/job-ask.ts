import type { JobDemand, PlacedSlots } from "../../domain/demand.ts";
import type { SetName } from "../../domain/ids.ts";
import { amountOf, TOLERANCE } from "../../domain/resources.ts";
import type { Needs, Subject } from "./empty-node-fit.ts";
import type { JobClass } from "./job-class.ts";
import type { Requirements } from "../constraints/requirements.ts";

/**
 * Where the units of a job go: each where it fits, all on distinct nodes anywhere, all in one bucket, or all in one placement group. `anywhere`
 * may place some of the units. The others place all or none.
 */
type Together = "anywhere" | "spread" | "one-bucket" | "one-group";

/**
 * What a job asks of nodes, ready for counting. A unit is what cannot be divided between nodes: a slot, or all slots of a node task.
 *
 * - A job with a node count is a gang: it needs exactly that number of distinct nodes, with `iterations` slots on each, all or none. They
 *   must be in one bucket unless the job may span buckets. A host that a task of the gang runs on has its whole unit. A gang for which
 *   fewer nodes are enough (`partial`) is packed, one unit on each node.
 * - The slots of any other job are packed, some of them if not all fit. An exclusive job has one slot on a node.
 *
 * There may be a hundred thousand jobs, so this keeps only what differs between them.
 */
export class Ask {
  readonly rank: number;
  readonly set: SetName;
  readonly demand: JobDemand;
  readonly jobClass: JobClass;
  readonly together: Together;
  /** The job has a node count. */
  readonly isGang: boolean;
  readonly slotsPerUnit: number;
  /** Units to place. */
  readonly units: number;

  /** `units`: how many to place. Undefined: all that are not bound to hosts already. */
  constructor(rank: number, set: SetName, demand: JobDemand, jobClass: JobClass, units?: number) {
    const { iterations, nodeCount = 0 } = demand;
    const gang = nodeCount > 0;
    this.rank = rank;
    this.set = set;
    this.demand = demand;
    this.jobClass = jobClass;
    this.together = togetherOf(demand, jobClass.requirements);
    this.isGang = gang;
    this.slotsPerUnit = gang ? iterations : 1;
    this.units = units ?? unitsLeft(demand, this.slotsPerUnit);
  }

  get kind(): "job" {
    return "job";
  }

  /** "set/demand". */
  get by(): string {
    return `${this.set}/${this.demand.id}`;
  }

  get requirements(): Requirements {
    return this.jobClass.requirements;
  }

  /** Maximum number of units on one node: one unit of a gang, or any number of slots. */
  get unitsPerNode(): number {
    return this.isGang ? 1 : Number.POSITIVE_INFINITY;
  }

  /** Slots that the job asks for, with those that are bound to hosts already. */
  get asked(): number {
    const { iterations, nodeCount = 1 } = this.demand;
    return this.isGang ? iterations * nodeCount : iterations;
  }

  /** The same job with this many units to place. */
  with(units: number): Ask {
    return new Ask(this.rank, this.set, this.demand, this.jobClass, units);
  }
}

/** The units that are not bound to hosts already. */
function unitsLeft(demand: JobDemand, slotsPerUnit: number): number {
  const { iterations, placed, nodeCount = 0 } = demand;
  if (slotsPerUnit === 0) return 0;
  return Math.max(0, nodeCount > 0 ? nodeCount - countHosts(placed) : iterations - countSlots(placed));
}

/** A gang that asks for nodes in a placement group means a single group. */
function togetherOf(job: JobDemand, { grouped }: Requirements): Together {
  if (job.colocated) return "one-group";
  if ((job.nodeCount ?? 0) === 0 || job.partial === true) return "anywhere";
  if (job.span === true) return "spread";
  return grouped ? "one-group" : "one-bucket";
}

function countSlots(placed: readonly PlacedSlots[]): number {
  let total = 0;
  for (let i = 0; i < placed.length; i += 1) total += placed[i]?.iterations ?? 0;
  return total;
}

function countHosts(placed: readonly PlacedSlots[]): number {
  if (placed.length === 0) return 0;
  return new Set(placed.map(({ hostname }) => hostname.toLowerCase())).size;
}

/** How many slots of the job fit into the free amounts that begin at `start`. Constraints on the node do not matter. */
export function slotsIn({ jobClass }: Ask, free: Float64Array, start: number): number {
  const { takes } = jobClass;
  if (takes === undefined) return 0;
  let slots = Number.POSITIVE_INFINITY;
  for (let i = 0; i < takes.resource.length; i += 1) {
    const left = free[start + (takes.resource[i] ?? 0)] ?? 0;
    const amount = takes.amount[i] ?? 0;
    if (amount > 0) slots = Math.min(slots, Math.floor(left / amount + TOLERANCE));
    else if (left < 0) return 0;
  }
  return Math.max(0, slots);
}

/**
 * How many units fit on a node that has room for this many slots. The slots of a gang's unit may share an exclusive node. Infinite room means
 * that a slot takes nothing of the node. Then the job gets one slot there (scalelib.md 3, "With no constraints at all the room is 1").
 */
export function unitsFrom(ask: Ask, slots: number): number {
  if (ask.unitsPerNode === 1) return slots >= ask.slotsPerUnit ? 1 : 0;
  const isOne = ask.requirements.alone === "job" || slots === Number.POSITIVE_INFINITY;
  return isOne ? Math.min(1, slots) : slots;
}

/** How many units fit on an empty node, tested with all constraints. `names`: the resources by position. */
export function unitsOnEmpty(ask: Ask, subject: Subject, names: readonly string[]): number {
  const needs = ask.jobClass.fit.on(subject);
  if (needs.refusal !== undefined) return 0;
  const slots = slotsOf(needs, subject, names);
  return unitsFrom(ask, ask.unitsPerNode === 1 ? slots : Math.min(slots, needs.slotsPerNode));
}

function slotsOf(needs: Needs, subject: Subject, names: readonly string[]): number {
  let slots = Number.POSITIVE_INFINITY;
  needs.resource.forEach((position, i) => {
    const times = amountOf(subject.resources[names[position] ?? ""]) / (needs.amount[i] ?? 1);
    slots = Math.min(slots, Math.floor(times + TOLERANCE));
  });
  return slots;
}
