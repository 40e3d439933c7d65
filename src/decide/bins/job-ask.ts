import type { JobDemand, PlacedSlots } from "../../domain/demand.ts";
import type { SetName } from "../../domain/ids.ts";
import { amountOf } from "../../domain/resources.ts";
import type { Needs, Subject } from "./empty-node-fit.ts";
import type { JobClass } from "./job-class.ts";
import type { Requirements } from "../constraints/requirements.ts";
import { TOLERANCE } from "../../domain/tolerance.ts";

/** All units in one bucket or one placement group, all on distinct nodes wherever they are, or each where it fits. */
export type Together = "anywhere" | "spread" | "one-bucket" | "one-group";

/**
 * What a job asks of nodes, made ready for counting. A unit is what goes to one node or not at all: a slot, or all slots of a node task.
 * There is one for each of maybe a hundred thousand jobs: it keeps what differs, and works out the rest.
 *
 * With a node count it is a gang: exactly so many distinct nodes with `iterations` slots on each, in one bucket (array and VM size) unless
 * it may span buckets, all or none; a host that it is bound to holds its whole share. One of which a part will do is packed, a unit on each
 * node. Without one, slots are packed, some of them if not all; an exclusive job has one on a node.
 */
export class Ask {
  readonly rank: number;
  readonly set: SetName;
  readonly demand: JobDemand;
  readonly jobClass: JobClass;
  readonly together: Together;
  /** It has a node count. */
  readonly isGang: boolean;
  readonly slotsPerUnit: number;
  /** Units that are left to place. */
  readonly units: number;

  /** Of a job as it was asked for; `units`: not all of it. */
  constructor(rank: number, set: SetName, demand: JobDemand, jobClass: JobClass, units?: number) {
    const { iterations, nodeCount = 0 } = demand;
    const gang = nodeCount > 0;
    this.rank = rank;
    this.set = set;
    this.demand = demand;
    this.jobClass = jobClass;
    this.together = togetherOf(demand, gang, jobClass.requirements.grouped);
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

  /** A whole node task, or slots one by one. */
  get unitsPerNode(): number {
    return this.isGang ? 1 : Number.POSITIVE_INFINITY;
  }

  /** Slots asked for, those that are bound to hosts already among them. */
  get asked(): number {
    const { iterations, nodeCount = 1 } = this.demand;
    return this.isGang ? iterations * nodeCount : iterations;
  }

  /** The same job with so many units to place. */
  with(units: number): Ask {
    return new Ask(this.rank, this.set, this.demand, this.jobClass, units);
  }
}

/** What is not bound to hosts already. */
function unitsLeft(demand: JobDemand, slotsPerUnit: number): number {
  const { iterations, placed, nodeCount = 0 } = demand;
  if (slotsPerUnit === 0) return 0;
  return Math.max(0, nodeCount > 0 ? nodeCount - countHosts(placed) : iterations - countSlots(placed));
}

/** A gang that wants to be in a placement group means one group, or it would not say so. */
function togetherOf(job: JobDemand, gang: boolean, grouped: boolean): Together {
  if (job.colocated) return "one-group";
  if (!gang || job.partial === true) return "anywhere";
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

/** How many slots of the job fit into so much, whatever else is asked of the node. */
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
 * How many units go to a node that has room for this many slots; a gang may stack its share on an exclusive node. Room without end means that
 * a slot takes nothing there: then a job has one slot on a node (scalelib.md 3, "With no constraints at all the room is 1").
 */
export function unitsFrom(ask: Ask, slots: number): number {
  if (ask.unitsPerNode === 1) return slots >= ask.slotsPerUnit ? 1 : 0;
  const isOne = ask.requirements.alone === "job" || slots === Number.POSITIVE_INFINITY;
  return isOne ? Math.min(1, slots) : slots;
}

/** How many units fit on an empty node like this, judged whole; `names` are the resources by position. */
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
