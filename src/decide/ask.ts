import type { JobDemand, PlacedSlots } from "../domain/demand.ts";
import type { Resources } from "../domain/resources.ts";

/** What a job asks of nodes, made ready for counting. A unit is what goes to one node or not at all: a slot, or all slots of a node task. */
export interface Ask {
  /** "set/demand". */
  readonly by: string;
  readonly job: JobDemand;
  /** Positions of the resources that a slot takes, and the amounts; nothing that is zero. */
  readonly resource: readonly number[];
  readonly amount: readonly number[];
  readonly slotsPerUnit: number;
  readonly unitsPerNode: number;
  /** Nobody else may be on the node. */
  readonly alone: boolean;
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
export function readJob(job: JobDemand, by: string, positions: ReadonlyMap<string, number>): Ask {
  const needs = Object.entries(job.needs).filter(([, amount]) => amount > 0);
  const gang = job.nodeCount !== undefined && job.nodeCount > 0 ? job.nodeCount : undefined;
  const slotsPerUnit = gang === undefined ? 1 : job.iterations;
  const asked = job.iterations * (gang ?? 1);
  const boundSlots = gang === undefined ? countSlots(job.placed) : countHosts(job.placed) * slotsPerUnit;
  const bound = Math.min(asked, boundSlots);
  return {
    by,
    job,
    resource: needs.map(([name]) => positions.get(name) ?? 0),
    amount: needs.map(([, amount]) => amount),
    slotsPerUnit,
    unitsPerNode: gang !== undefined || job.exclusive ? 1 : Number.POSITIVE_INFINITY,
    alone: job.exclusive,
    together: job.colocated ? "one-group" : gang === undefined ? "anywhere" : "one-bucket",
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

/** Resources are compared with a relative tolerance: 0.1 taken ten times from 1 leaves room for nothing and owes nothing. */
export const TOLERANCE = 1e-9;

/** How many units fit on a new node that offers so much; `names` are the resources by position. */
export function unitsOnEmpty(ask: Ask, offered: Resources, names: readonly string[]): number {
  let slots = Number.POSITIVE_INFINITY;
  ask.resource.forEach((position, i) => {
    const times = (offered[names[position] ?? ""] ?? 0) / (ask.amount[i] ?? 1);
    slots = Math.min(slots, Math.floor(times + TOLERANCE));
  });
  return Math.min(ask.unitsPerNode, Math.floor(slots / ask.slotsPerUnit));
}
