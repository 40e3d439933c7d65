import type {
  JobMessage,
  SchedulerNodeMessage,
  DemandMessage,
  NodearrayMessage,
} from "../wire/message/message.ts";
import { withoutAbsent } from "../domain/without-absent.ts";

/** Builders of jobs and constraints (docs/demand.md), with the names that cyclecloud_autoscaler.py has. */

/** A condition on nodes, or amounts that a slot takes there: scalelib's JSON. */
export type Constraint = Readonly<Record<string, unknown>>;

type JobKeys = Omit<JobMessage, "name" | "constraints" | "placed" | "node-count" | "packing-strategy">;

/** The keys of a job besides its name and its constraints. */
export interface JobOptions extends JobKeys {
  readonly nodeCount?: number;
  readonly packingStrategy?: "pack" | "scatter";
  /** Hosts on which it runs. Each mention is a slot. */
  readonly placed?: readonly string[];
}

/** A job: `jobOf("42", [needs({ ncpus: 4 })], { iterations: 10 })`. */
export function jobOf(
  name: string,
  constraints: readonly Constraint[] = [],
  { nodeCount, packingStrategy, placed, ...keys }: JobOptions = {},
): JobMessage {
  const counts = new Map<string, number>();
  for (const host of placed ?? []) counts.set(host, (counts.get(host) ?? 0) + 1);
  const hosts = [...counts].map(([hostname, iterations]) => ({ hostname, iterations }));
  return {
    name,
    ...keys,
    ...(nodeCount === undefined ? {} : { "node-count": nodeCount }),
    ...(packingStrategy === undefined ? {} : { "packing-strategy": packingStrategy }),
    ...(placed === undefined ? {} : { placed: hosts }),
    ...(constraints.length === 0 ? {} : { constraints }),
  };
}

/** What a slot takes of a node, or must find there: `needs({ ncpus: 4, mem: memory("8g"), project: "open" })`. */
export const needs = (amounts: Constraint): Constraint => amounts;

/** An amount of memory: "512m", "8g", or a number of GiB. */
export const memory = (amount: string | number): string =>
  `memory::${typeof amount === "number" ? `${amount}g` : amount}`;

/** What the node must be: `nodeIs({ vm_size: "Standard_F*", spot: false })`. */
export const nodeIs = (properties: Constraint): Constraint =>
  Object.fromEntries(Object.entries(properties).map(([name, value]) => [`node.${name}`, value]));

export const allOf = (...constraints: readonly Constraint[]): Constraint => ({ and: constraints });
/** In the order of preference. */
export const anyOf = (...constraints: readonly Constraint[]): Constraint => ({ or: constraints });
export const oneOf = (...constraints: readonly Constraint[]): Constraint => ({ xor: constraints });
export const isNot = (constraint: Constraint): Constraint => ({ not: constraint });
export const never = (why: string): Constraint => ({ never: why });
/** An amount of a shared pool, or the value that it must have. */
export const pool = (name: string, amountOrValue: string | number | boolean): Constraint => ({
  pool: { [name]: amountOrValue },
});
export const EXCLUSIVE: Constraint = { exclusive: true };
export const EXCLUSIVE_TASK: Constraint = { "exclusive-task": true };
export const IN_A_PLACEMENT_GROUP: Constraint = { "in-a-placement-group": true };

/** A host of the scheduler with the jobs on it, for `schedulerNodes`. */
export const hostOf = (
  hostname: string,
  jobs: readonly string[] = [],
  keys: Pick<SchedulerNodeMessage, "state" | "resources" | "available"> = {},
): SchedulerNodeMessage => ({ ...keys, hostname, jobs });

/** A node array and its total target, as in `jetpack.autoscale.set`. */
export interface ArrayTarget {
  readonly name: string;
  /** Cores, rounded up to whole nodes. */
  readonly corecount?: number;
  readonly instancecount?: number;
}

/** The target of one node array, for {@link updateOf}. */
export function targetOf({ name, corecount, instancecount }: ArrayTarget): NodearrayMessage {
  return {
    Name: name,
    ...withoutAbsent({ TargetCoreCount: corecount, TargetCount: instancecount }),
  };
}

export interface Envelope {
  readonly cluster: string;
  /** Default "standard". */
  readonly requestSet?: string;
  /** Seconds. Default 300. */
  readonly expirationInterval?: number;
}

/**
 * A message with the targets of a request set, as in `jetpack.autoscale.update`. It replaces all targets of the set: a node array that is
 * missing has no target any more. An empty list empties the set.
 */
export function updateOf(
  { cluster, requestSet, expirationInterval }: Envelope,
  nodearrays: NodearrayMessage | readonly NodearrayMessage[],
): DemandMessage {
  return {
    version: 1,
    cluster,
    ...withoutAbsent({ requestSet, expirationInterval }),
    nodearrays,
  };
}
