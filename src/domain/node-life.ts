import { hostKey } from "./hosts.ts";
import { digestOf } from "./digest.ts";
import type { LedgerNode, NodeMachine } from "./ledger.ts";
import type { Instant } from "./units.ts";
import { secondsBetween } from "./units.ts";

/** The history of one node: what stays of it when the ledger has forgotten it. */
export interface NodeLife extends NodeMachine, Pick<LedgerNode, LedgerFacts> {
  /** Another tool made it. Absent: we did. */
  readonly notOurs?: true;
  /** What an hour of it costs. Absent: there is no price. */
  readonly price?: NodePrice;
}

type LedgerFacts =
  | "nodeId"
  | "name"
  | "array"
  | "hostname"
  | "instanceId"
  | "purpose"
  | "asked"
  | "firstSeenAt"
  | "firstReadyAt"
  | "firstNeeded"
  | "lastNeededAt"
  | "draining"
  | "kept"
  | "offSeconds"
  | "goneAt";

interface NodePrice {
  /** With a VM. */
  readonly perHour: number;
  /** Deallocated. Absent: it never was, or the price is not known. */
  readonly offPerHour?: number;
  readonly currency: string;
}

/** Beyond every moment that a Date can hold. */
const END_OF_TIME = 9_000_000_000_000_000;

/** Lives sort by their keys: nodes that are there, the newest first, and then those that have gone, the last first. */
export function lifeKey({
  nodeId,
  firstSeenAt,
  goneAt,
}: Pick<NodeLife, "nodeId" | "firstSeenAt" | "goneAt">): string {
  // The hash: a NodeId is a text of CycleCloud, and a key of storage has a few letters and an end.
  const id = digestOf(nodeId);
  return goneAt === undefined ? `live-${downFrom(firstSeenAt)}-${id}` : `${goneBy(goneAt)}-${id}`;
}

/** The keys of nodes that went at this moment or before come behind this text, all others before it. */
export const goneBy = (at: Instant): string => `node-${downFrom(at)}`;

/** Texts sort in ascending order, so the number counts down. */
const downFrom = (at: Instant): string => String(END_OF_TIME - at).padStart(16, "0");

/** Whether a text has the form of a key. */
export const isLifeKey = (text: string): boolean => /^(live|node)-\d{16}-[0-9a-f]{32}$/.test(text);

/** The names by which users know a node. */
export function namesOf({ name, hostname, instanceId }: NodeLife): readonly string[] {
  return [name, hostname, instanceId].filter((one) => one !== undefined);
}

/** Whether one of the names is meant. Case does not count, nor does the domain of a host. */
export function isNamed(names: readonly string[], meant: string): boolean {
  const key = hostKey(meant);
  return names.some((name) => name === meant || hostKey(name) === key);
}

/** For how many hours the node was there, by the observations, and for how many of these it was deallocated. */
export function hoursOf(
  { firstSeenAt, goneAt, kept, offSeconds = 0 }: NodeLife,
  now: Instant,
): { readonly all: number; readonly off: number } {
  const until = goneAt ?? now;
  const off = offSeconds + (kept === undefined ? 0 : Math.max(0, secondsBetween(kept.since, until)));
  return { all: Math.max(0, secondsBetween(firstSeenAt, until)) / 3600, off: off / 3600 };
}

/** What the node cost. Undefined: there is no price. Without its disks while it was deallocated, if their price is not known. */
export function costOf(life: NodeLife, now: Instant): number | undefined {
  const { price } = life;
  if (price === undefined) return undefined;
  const { all, off } = hoursOf(life, now);
  return Math.max(0, all - off) * price.perHour + off * (price.offPerHour ?? 0);
}
