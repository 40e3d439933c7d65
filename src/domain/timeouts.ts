import type { Purpose } from "./bucket.ts";
import { dynamicArrayOf } from "./bucket.ts";
import type { ArrayName } from "./ids.ts";

/** The idle and boot timeouts of a configuration, in seconds: one for all node arrays, and those of arrays that have their own. */
export interface TimeoutRules {
  /** A node that is Ready, idle and not needed for this long is stopped. scalelib's idle_timeout; default 300. */
  readonly idleTimeoutSeconds: number;
  /** A node not Ready this long after it was first seen is stopped. scalelib's boot_timeout; default 3600, as its documentation says. */
  readonly bootTimeoutSeconds: number;
  /** Idle timeouts of single node arrays, dynamic and generated ones included; absent: no array has its own. */
  readonly idleTimeouts?: ArrayTimeouts;
  /** Boot timeouts of single node arrays; absent: no array has its own. */
  readonly bootTimeouts?: ArrayTimeouts;
}

/** Seconds by the name of a node array. */
export type ArrayTimeouts = ReadonlyMap<string, number>;

/** The timeouts that count for one node, or for the nodes of one array. */
export interface Timeouts {
  readonly idleSeconds: number;
  readonly bootSeconds: number;
}

/** What a node is for, and the array of the template that it is created in: a ledger entry says both. */
interface Homed {
  readonly array: ArrayName;
  readonly purpose: Purpose;
}

/**
 * The timeouts of a node: those of the array that it counts for (a dynamic array, or a generated one such as "hpc:64") if the
 * configuration names it, else those of the array that it is created in, else the default. Idle and boot are looked up apart.
 */
export function timeoutsOf(rules: TimeoutRules, { array, purpose }: Homed): Timeouts {
  if (purpose.kind === "array") return timeoutsOfArray(rules, array);
  const names = [purpose.kind === "group" ? purpose.key : undefined, dynamicArrayOf(purpose), array];
  return timeoutsOfFirst(
    rules,
    names.filter((name) => name !== undefined),
  );
}

/** The timeouts of an array's nodes; `parent`: the array that a dynamic one extends. */
export function timeoutsOfArray(rules: TimeoutRules, array: ArrayName, parent?: ArrayName): Timeouts {
  return timeoutsOfFirst(rules, parent === undefined ? [array] : [array, parent]);
}

function timeoutsOfFirst(rules: TimeoutRules, names: readonly string[]): Timeouts {
  const { idleTimeouts, bootTimeouts, idleTimeoutSeconds, bootTimeoutSeconds } = rules;
  return {
    idleSeconds: firstOf(idleTimeouts, names) ?? idleTimeoutSeconds,
    bootSeconds: firstOf(bootTimeouts, names) ?? bootTimeoutSeconds,
  };
}

function firstOf(timeouts: ArrayTimeouts | undefined, names: readonly string[]): number | undefined {
  if (timeouts === undefined) return undefined;
  const name = names.find((one) => timeouts.has(one));
  return name === undefined ? undefined : timeouts.get(name);
}
