/** A demand message as its sender knows it. */
export interface Told {
  readonly set: string;
  readonly revision: number;
  readonly array: string;
  /** A total that the array shall have, or whole-node slots that come on top of those of other sets; some run on `hosts` already. */
  readonly asks:
    | { readonly kind: "target"; readonly count: number }
    | { readonly kind: "slots"; readonly count: number; readonly hosts: readonly string[] };
  readonly sentAt: number;
  readonly expiresAt: number;
  /** It says of each host whether a job runs there. */
  readonly reports: boolean;
}

/** Targets are floors: the larger of the largest target and the nodes that jobs need. */
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
 * The same, read in favour of whoever stops a node: what a silent set said may be out of date, so that a slot on a host that is gone
 * needs no node, and two slots on one host need one.
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
    waiting += asks.count - asks.hosts.length;
    for (const host of asks.hosts) if (hostsUp.has(host)) taken.add(host);
  }
  return Math.max(target, waiting + taken.size);
}
