import type { Snapshot } from "../../domain/cluster.ts";
import { deallocatingArrays } from "../../domain/cluster.ts";
import type { NodeId } from "../../domain/ids.ts";
import type { Draining, Ledger } from "../../domain/ledger.ts";
import type { DownEnd, KeptEnd } from "../../domain/node-verdict.ts";
import type { Policy } from "../../domain/policy.ts";
import { endTimeoutOf } from "../../domain/timeouts.ts";
import type { Instant } from "../../domain/units.ts";
import { plusSeconds } from "../../domain/units.ts";
import { HIGHEST_PRICE } from "../../domain/price.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import { isStarting } from "../intents/node-starts.ts";
import { whyHeld } from "./end-down.ts";

/** The deallocated nodes that this app ends, and when. */
export interface KeptNodes {
  readonly ends: ReadonlyMap<NodeId, KeptEnd>;
  /** Nodes that end with this plan, where it may act, and why. */
  readonly due: ReadonlyMap<NodeId, Draining["by"]>;
}

type Around = Parameters<typeof whyHeld>[1] & {
  readonly snapshot: Snapshot;
  readonly ledger: Ledger;
  readonly policy: Policy;
};

/**
 * Finds when deallocated nodes end (docs/protocol.md, Deallocated nodes): those that we deallocated, and those of arrays whose ShutdownPolicy
 * says so. Others were deallocated by a person, who keeps their disks.
 */
export function surveyKept(around: Around): KeptNodes["ends"] {
  const { snapshot, ledger, policy } = around;
  const deallocating = deallocatingArrays(snapshot);
  const cost = diskCost(policy);
  const ends = new Map<NodeId, KeptEnd>();
  snapshot.nodes.forEach((node) => {
    if (node.phase !== "deallocated" || node.missing !== undefined) return;
    const known = ledger.get(node.nodeId);
    if (known?.kept === undefined || isStarting(known)) return;
    if (known.kept.by === undefined && !deallocating.has(node.array)) return;
    const { since } = known.kept;
    ends.set(node.nodeId, { since, ...endOf({ node, known }, since, around), ...withoutAbsent({ cost }) });
  });
  return ends;
}

function endOf(member: Parameters<typeof whyHeld>[0], since: Instant, around: Around): DownEnd {
  const held = whyHeld(member, around);
  if (held !== undefined) return { held };
  const timeout = endTimeoutOf(around.policy, member.known, "deallocated");
  if (timeout === "never") return { held: "never" };
  const at = plusSeconds(since, timeout);
  return around.reach.acts(member.node.array) ? { at } : { at, held: "observed" };
}

function diskCost({ prices }: Policy): KeptEnd["cost"] {
  return prices?.deallocated === undefined
    ? undefined
    : { perHour: Math.min(prices.deallocated, HIGHEST_PRICE), currency: prices.currency };
}

/** The nodes whose time is over. Time in which CycleCloud stood still ends none. */
export function overdue(
  ends: KeptNodes["ends"],
  { snapshot, now }: Pick<Around, "snapshot" | "now">,
): readonly NodeId[] {
  if (snapshot.early === true) return [];
  return [...ends].flatMap(([id, { at, held }]) =>
    at !== undefined && at <= now && (held === undefined || held === "observed") ? [id] : [],
  );
}
