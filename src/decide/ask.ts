import type { JobDemand, PlacedSlots } from "../domain/demand.ts";
import { amountOf } from "../domain/resources.ts";
import type { Fit, Needs, Subject } from "./fit.ts";
import type { Requirements } from "./requirements.ts";
import { TOLERANCE } from "./tolerance.ts";

/** What a job asks of nodes, made ready for counting. A unit is what goes to one node or not at all: a slot, or all slots of a node task. */
export interface Ask {
  /** "set/demand". */
  readonly by: string;
  readonly job: JobDemand;
  readonly requirements: Requirements;
  /** What a slot takes of each kind of node. */
  readonly fit: Fit;
  readonly slotsPerUnit: number;
  readonly unitsPerNode: number;
  /** All units in one bucket, or none. */
  readonly together: "anywhere" | "one-bucket" | "one-group";
  /** Slots asked for, slots that are bound to hosts already, and units that are left to place. */
  readonly asked: number;
  readonly bound: number;
  readonly units: number;
}

/**
 * Reads a job. With a node count it is a gang: exactly so many distinct nodes with `iterations` slots on each, in one bucket (array and VM
 * size), all or none; a host that it is bound to holds its whole share. (scalelib ignores iterations there, which is the same for its
 * default of 1.) Without one, slots are packed, some of them if not all; an exclusive job has one on a node.
 */
export function readJob(job: JobDemand, by: string, requirements: Requirements, fit: Fit): Ask {
  const gang = job.nodeCount !== undefined && job.nodeCount > 0 ? job.nodeCount : undefined;
  const slotsPerUnit = gang === undefined ? 1 : job.iterations;
  const asked = job.iterations * (gang ?? 1);
  const boundSlots = gang === undefined ? countSlots(job.placed) : countHosts(job.placed) * slotsPerUnit;
  const bound = Math.min(asked, boundSlots);
  return {
    by,
    job,
    requirements,
    fit,
    slotsPerUnit,
    unitsPerNode: gang === undefined ? Number.POSITIVE_INFINITY : 1,
    together:
      job.colocated || requirements.grouped ? "one-group" : gang === undefined ? "anywhere" : "one-bucket",
    asked,
    bound,
    units: slotsPerUnit === 0 ? 0 : (asked - bound) / slotsPerUnit,
  };
}

function countSlots(placed: readonly PlacedSlots[]): number {
  return placed.reduce((total, { iterations }) => total + iterations, 0);
}

function countHosts(placed: readonly PlacedSlots[]): number {
  return new Set(placed.map(({ hostname }) => hostname.toLowerCase())).size;
}

/** How many units go to a node of this kind, of which so many slots are free by resources; a gang may stack its share on an exclusive node. */
export function unitsOf(ask: Ask, needs: Needs, slots: number): number {
  if (needs.refusal !== undefined) return 0;
  if (ask.unitsPerNode === 1) return slots >= ask.slotsPerUnit ? 1 : 0;
  return Math.min(needs.slotsPerNode, slots);
}

/** How many units fit on a new node of this kind; `names` are the resources by position. */
export function unitsOnEmpty(ask: Ask, subject: Subject, names: readonly string[]): number {
  const needs = ask.fit.on(subject);
  let slots = Number.POSITIVE_INFINITY;
  needs.resource.forEach((position, i) => {
    const times = amountOf(subject.resources[names[position] ?? ""]) / (needs.amount[i] ?? 1);
    slots = Math.min(slots, Math.floor(times + TOLERANCE));
  });
  return unitsOf(ask, needs, slots);
}
