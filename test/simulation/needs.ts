import type { SchedulerNode } from "../../src/domain/demand.ts";

/** A node that a target names, and the resume that it waits for. */
export interface NameAsked {
  readonly name: string;
  readonly since?: number;
}

/** A demand message, as its sender knows it. */
export interface Told {
  readonly set: string;
  readonly revision: number;
  readonly array: string;
  /**
   * A target: the total number of nodes that the array shall have. Slots: whole nodes on top of the slots of other sets, some of which run
   * on `hosts` already. Names: exactly these nodes (judge-named.ts).
   */
  readonly asks:
    | { readonly kind: "target"; readonly count: number }
    | { readonly kind: "slots"; readonly count: number; readonly hosts: readonly string[] }
    | { readonly kind: "names"; readonly names: readonly NameAsked[] };
  /** When its sender sent it, or had read its scheduler for it. */
  readonly sentAt: number;
  readonly expiresAt: number;
  /** It reports for each host whether a job runs there. */
  readonly reports: boolean;
  /** What it reports, if its nodes are named. */
  readonly hosts?: readonly SchedulerNode[];
}

/** The nodes that an array needs. Targets are floors, so this is the largest target or the number of nodes for jobs, whichever is larger. */
export function needOf(array: string, told: readonly Told[]): number {
  let target = 0;
  for (const one of told)
    if (one.array === array && one.asks.kind === "target") target = Math.max(target, one.asks.count);
  return Math.max(target, slotsOf(array, told));
}

/** The nodes that jobs need. */
export function slotsOf(array: string, told: readonly Told[]): number {
  let slots = 0;
  for (const one of told) if (one.array === array && one.asks.kind === "slots") slots += one.asks.count;
  return slots;
}

/**
 * The least need that a stop may be judged by. The demand of a silent set may be out of date, so a slot on a host that is gone needs no
 * node, and two slots on one host need one.
 */
export function leastNeedOf(array: string, told: readonly Told[], hostsUp: ReadonlySet<string>): number {
  let target = 0;
  let waiting = 0;
  const taken = new Set<string>();
  for (const { array: of, asks } of told) {
    if (of !== array) continue;
    if (asks.kind === "target") {
      target = Math.max(target, asks.count);
      continue;
    }
    if (asks.kind === "names") continue;
    waiting += asks.count - asks.hosts.length;
    for (const host of asks.hosts) if (hostsUp.has(host)) taken.add(host);
  }
  return Math.max(target, waiting + taken.size);
}
