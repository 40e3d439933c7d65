import type { RankedDemand } from "./demand.ts";
import { expandHostList } from "./host-list.ts";
import type { NodeId, SetName } from "./ids.ts";
import type { NameCause } from "./name-cause.ts";
import type { Instant } from "./units.ts";

/** What is remembered of a name that targets ask for (docs/protocol.md, Named nodes). */
export interface HeldName {
  /** The first plan that found it wanted. It begins anew with a newer `since`, and when the name was in no set for a moment. */
  readonly from: Instant;
  /** The request set that named it first. With rules for senders, sets under other rules may not name it meanwhile. */
  readonly by?: SetName;
  /** The moment of the resume that its node is for. Absent: no set has said one. */
  readonly since?: number;
  /** A plan since `from` found its node up or on its way. */
  readonly there?: true;
  /** A newer resume came when this node, which it does not wait for, had been Ready already. */
  readonly earlier?: NodeId;
  /** What became of it. No node is made with this name before a newer resume. Absent: not decided. */
  readonly end?: NameEnd;
  /** CycleCloud refused this name. The next plan finds out whether that is final. */
  readonly refusal?: Omit<NameEnd, "state">;
  /** Why it has no node yet, or not the right one. Absent: there is nothing to tell. */
  readonly told?: string;
  /** The kind of cause of that. Absent: it has none. */
  readonly cause?: NameCause;
  /** Since when no set names it. Absent: a set does. */
  readonly outSince?: Instant;
}

/** What became of a name. */
interface NameEnd {
  readonly state: "refused" | "failed";
  readonly at: Instant;
  /** The sentence of then. */
  readonly why: string;
  readonly cause: NameCause;
}

/** Names of which the same is remembered, as a host list: thousands of names make a short record. */
export interface HeldNames extends HeldName {
  readonly names: string;
}

/** A bound for what we wrote ourselves. */
const MOST = 10_000_000;

/** What is remembered of each name. */
export function heldNames({
  names = [],
}: {
  readonly names?: readonly HeldNames[];
}): ReadonlyMap<string, HeldName> {
  const held = new Map<string, HeldName>();
  for (const { names: list, ...one } of names) {
    const found = expandHostList(list, MOST);
    if (!("expected" in found)) for (const name of found) held.set(name, one);
  }
  return held;
}

/** The names that demands ask for, each with the newest resume that any of them says. */
export function wantedNames(demands: readonly RankedDemand[]): ReadonlyMap<string, number | undefined> {
  const wanted = new Map<string, number | undefined>();
  for (const { demand } of demands) {
    if (demand.kind !== "target" || demand.named === undefined) continue;
    const { names, since } = demand.named;
    for (const name of names) {
      const known = wanted.get(name);
      wanted.set(name, known === undefined || (since !== undefined && since > known) ? since : known);
    }
  }
  return wanted;
}
