import type { Purpose } from "./bucket.ts";
import { dynamicArrayOf } from "./bucket.ts";
import type { ArrayName } from "./ids.ts";
import type { Seconds } from "./units.ts";

/** The idle and boot timeouts of a configuration, in seconds: one for all node arrays, and those of arrays with their own. */
export interface TimeoutRules {
  /** A node that is Ready, idle and not needed for this long is stopped. scalelib's idle_timeout. Default 300. */
  readonly idleTimeoutSeconds: Seconds;
  /**
   * A node that is not Ready this long after it was first observed is stopped. scalelib's boot_timeout. Default 3600, as in its
   * documentation.
   */
  readonly bootTimeoutSeconds: Seconds;
  /** Idle timeouts of single node arrays, including dynamic and generated ones. Absent: no array has its own. */
  readonly idleTimeouts?: ArrayTimeouts;
  /** Boot timeouts of single node arrays. Absent: no array has its own. */
  readonly bootTimeouts?: ArrayTimeouts;
}

/** Seconds by the name of a node array. */
export type ArrayTimeouts = ReadonlyMap<string, number>;

/** The timeouts of one node, or of the nodes of one array. */
export interface Timeouts {
  readonly idleSeconds: Seconds;
  readonly bootSeconds: Seconds;
}

/** The purpose of a node, and the array of the template in which it is created. A ledger entry has both. */
interface Homed {
  readonly array: ArrayName;
  readonly purpose: Purpose;
}

/**
 * The timeouts of a node: those of the array that it counts for (a dynamic array, or a generated one such as "hpc:64") if configured, else
 * those of the array in which it is created, else the default. Idle and boot timeout are looked up separately.
 */
export function timeoutsOf(rules: TimeoutRules, { array, purpose }: Homed): Timeouts {
  if (purpose.kind === "array") return timeoutsOfArray(rules, array);
  const names = [purpose.kind === "group" ? purpose.key : undefined, dynamicArrayOf(purpose), array];
  return timeoutsOfFirst(
    rules,
    names.filter((name) => name !== undefined),
  );
}

/** The timeouts of an array's nodes. `parent`: the array that a dynamic one extends. */
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
