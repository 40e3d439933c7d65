import type { JobDemand, PlacedSlots } from "../domain/demand.ts";
import type { SetName } from "../domain/ids.ts";
import { amountOf } from "../domain/resources.ts";
import type { Needs, Subject } from "./fit.ts";
import type { JobClass } from "./job-class.ts";
import type { Requirements } from "./requirements.ts";
import { TOLERANCE } from "./tolerance.ts";

/** What a job asks of nodes, made ready for counting. A unit is what goes to one node or not at all: a slot, or all slots of a node task. */
export interface Ask {
  /** "set/demand". */
  readonly by: string;
  readonly set: SetName;
  readonly job: JobDemand;
  readonly jobClass: JobClass;
  readonly requirements: Requirements;
  readonly slotsPerUnit: number;
  readonly unitsPerNode: number;
  /** All units in one bucket or one placement group, all on distinct nodes wherever they are, or each where it fits. */
  readonly together: "anywhere" | "spread" | "one-bucket" | "one-group";
  /** Slots asked for, slots that are bound to hosts already, and units that are left to place. */
  readonly asked: number;
  readonly bound: number;
  readonly units: number;
}

/**
 * Reads a job. With a node count it is a gang: exactly so many distinct nodes with `iterations` slots on each, in one bucket (array and VM
 * size) unless it may span buckets, all or none; a host that it is bound to holds its whole share. (scalelib ignores iterations there,
 * which is the same for its default of 1.) Without one, slots are packed, some of them if not all; an exclusive job has one on a node.
 */
export function readJob(job: JobDemand, set: SetName, by: string, jobClass: JobClass): Ask {
  const gang = job.nodeCount !== undefined && job.nodeCount > 0 ? job.nodeCount : undefined;
  const slotsPerUnit = gang === undefined ? 1 : job.iterations;
  const asked = job.iterations * (gang ?? 1);
  const boundSlots = gang === undefined ? countSlots(job.placed) : countHosts(job.placed) * slotsPerUnit;
  const bound = Math.min(asked, boundSlots);
  return {
    by,
    set,
    job,
    jobClass,
    requirements: jobClass.requirements,
    slotsPerUnit,
    unitsPerNode: gang === undefined ? Number.POSITIVE_INFINITY : 1,
    together: togetherOf(job, gang, jobClass.requirements.grouped),
    asked,
    bound,
    units: slotsPerUnit === 0 ? 0 : (asked - bound) / slotsPerUnit,
  };
}

/** A gang that wants to be in a placement group means one group, or it would not say so. */
function togetherOf(job: JobDemand, gang: number | undefined, grouped: boolean): Ask["together"] {
  if (job.colocated) return "one-group";
  if (gang === undefined) return "anywhere";
  if (job.span === true) return "spread";
  return grouped ? "one-group" : "one-bucket";
}

function countSlots(placed: readonly PlacedSlots[]): number {
  return placed.reduce((total, { iterations }) => total + iterations, 0);
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

/** How many units go to a node that has room for so many slots; a gang may stack its share on an exclusive node. */
export function unitsFrom(ask: Ask, slots: number): number {
  if (ask.unitsPerNode === 1) return slots >= ask.slotsPerUnit ? 1 : 0;
  return ask.requirements.alone === "job" ? Math.min(1, slots) : slots;
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
