import type { NodeId } from "./ids.ts";
import type { Instant } from "./units.ts";

/**
 * What a node is to a plan (docs/nodes.md, Standings). Each observed node has one, found once for each plan (decide/nodes/standing.ts). Whether
 * it is capacity, whether it may be stopped, and what users read of it follow from that.
 */
export interface NodeStanding extends Flaw {
  readonly kind: StandingKind;
  /** Another tool made it, so we neither stop nor start it (exclusive.ts). */
  readonly notOurs?: true;
  /** A stop of it is committed, and its outcome is not known. */
  readonly open?: true;
  /** It is of no use, and waits for its turn to be replaced. */
  readonly kept?: true;
  /** It keeps its jobs and takes no others. */
  readonly full?: true;
}

/** What speaks against a node, whatever it counts for. */
export interface Flaw {
  /** Absent: nothing does. */
  readonly why?: "missing" | "unclear" | "down" | "failed" | "late" | "stop";
  /** Since when it is missing, unclear or down. */
  readonly since?: Instant;
  /** Until when it counts as present, or has time to come up. */
  readonly until?: Instant;
}

/**
 * What each is to the allocator. `up`: it serves, and replaces a node that stops. `present`: it serves, nothing is created in its place, and
 * it replaces no node. `none`: it does not serve, but counts against limits if it may have a VM.
 */
export const WORTH = {
  up: "up",
  full: "up",
  coming: "present",
  starting: "present",
  startable: "present",
  doubted: "present",
  kept: "present",
  replaced: "none",
  closed: "none",
  unfit: "none",
  stopping: "none",
  going: "none",
  off: "none",
  deallocated: "none",
  unknown: "none",
} as const satisfies Readonly<Record<string, "up" | "present" | "none">>;

type StandingKind = keyof typeof WORTH;

/** The standings of observed nodes. A node without an entry is up: most are. */
export type Standings = ReadonlyMap<NodeId, NodeStanding>;

const UP: NodeStanding = { kind: "up" };

export function standingIn(standings: Standings, node: NodeId): NodeStanding {
  return standings.get(node) ?? UP;
}

export const isUp = ({ kind }: NodeStanding): boolean => WORTH[kind] === "up";
/** Whether CycleCloud has accepted a stop of it, or may have. */
export const isStopping = ({ kind, open }: NodeStanding): boolean => open === true || kind === "stopping";
export const isCapacity = ({ kind }: NodeStanding): boolean => WORTH[kind] !== "none";
/** Whether it is of no use, though CycleCloud lists it as wanted: others are created in its place, or it waits for its turn. */
export const isUseless = ({ kind }: NodeStanding): boolean => kind === "kept" || kind === "replaced";
/** Whether it is not known if the node exists or is wanted. Such a node is not stopped. If it asks, it is told to wait. */
export const isRecordDoubted = ({ why, until }: Flaw, now: Instant): boolean =>
  why === "missing" || (why === "unclear" && until !== undefined && now < until);
