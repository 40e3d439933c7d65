import type { Purpose } from "./bucket.ts";
import { dynamicArrayOf } from "./bucket.ts";
import type { ArrayName } from "./ids.ts";
import type { Seconds } from "./units.ts";

/** The timeouts of a configuration, in seconds: one for all node arrays, and those of arrays with their own. */
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
  /** A node that was Ready and is shown as Off or Terminated for this long is terminated. Absent: {@link DOWN_TIMEOUT_SECONDS}. */
  readonly downTimeout?: EndTimeout;
  /** A node that failed after it was Ready is terminated after this time. Absent: never. */
  readonly failedTimeout?: EndTimeout;
  /** A deallocated node is terminated after this time. Absent: {@link DEALLOCATED_TIMEOUT_SECONDS}. */
  readonly deallocatedTimeout?: EndTimeout;
}

/** The `downTimeout` of nodes for which the configuration has none. */
export const DOWN_TIMEOUT_SECONDS: Seconds = 300;

/** The `deallocatedTimeout` of nodes for which the configuration has none: a day. */
export const DEALLOCATED_TIMEOUT_SECONDS: Seconds = 86_400;

/** The time after which a node is ended, or `never`: a person decides. */
export type EndSeconds = Seconds | "never";

/** An {@link EndSeconds} for all node arrays, and those of arrays with their own. */
export interface EndTimeout {
  readonly every: EndSeconds;
  /** Absent: no array has its own. */
  readonly byArray?: ReadonlyMap<string, EndSeconds>;
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
 * those of the array in which it is created, else the default. Each timeout is looked up separately.
 */
export function timeoutsOf(rules: TimeoutRules, homed: Homed): Timeouts {
  return timeoutsOfFirst(rules, namesOf(homed));
}

/**
 * The time after which a node that is down or deallocated is ended, looked up like the timeouts. `failed`: it failed after it was Ready.
 */
export function endTimeoutOf(
  rules: TimeoutRules,
  homed: Homed,
  how: "off" | "failed" | "deallocated",
): EndSeconds {
  const { downTimeout = DOWN, failedTimeout = NEVER, deallocatedTimeout = DEALLOCATED } = rules;
  const { every, byArray } = { off: downTimeout, failed: failedTimeout, deallocated: deallocatedTimeout }[
    how
  ];
  return firstOf(byArray, namesOf(homed)) ?? every;
}

/** The names under which a timeout of a node may be configured. The first counts. */
function namesOf({ array, purpose }: Homed): readonly string[] {
  if (purpose.kind === "array") return [array];
  const names = [purpose.kind === "group" ? purpose.key : undefined, dynamicArrayOf(purpose), array];
  return names.filter((name) => name !== undefined);
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

const DOWN: EndTimeout = { every: DOWN_TIMEOUT_SECONDS };
const NEVER: EndTimeout = { every: "never" };
const DEALLOCATED: EndTimeout = { every: DEALLOCATED_TIMEOUT_SECONDS };

function firstOf<T>(timeouts: ReadonlyMap<string, T> | undefined, names: readonly string[]): T | undefined {
  if (timeouts === undefined) return undefined;
  const name = names.find((one) => timeouts.has(one));
  return name === undefined ? undefined : timeouts.get(name);
}
