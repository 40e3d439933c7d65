import type { Snapshot } from "../../domain/cluster.ts";
import type { ArrayName, NodeId } from "../../domain/ids.ts";
import { actsOn, isObserving } from "../../domain/mode.ts";
import { managedArrays } from "../../domain/exclusive.ts";
import type { Plan, Proposal } from "../../domain/plan.ts";
import type { Policy } from "../../domain/policy.ts";
import type { Ledger } from "../../domain/ledger.ts";

/** Where a plan may change nodes, by the modes of the node arrays. */
export interface Reach {
  /** The node arrays that are ours. */
  readonly managed: ReadonlySet<ArrayName>;
  /** Nodes of at least one array may be changed. */
  readonly isActing: boolean;
  /** Some changes are planned and only shown. */
  readonly withholds: boolean;
  /** Whether nodes of this array may be created, started and stopped. */
  readonly acts: (array: ArrayName) => boolean;
  /** The modes as the plan shows them. */
  readonly shown: Pick<Plan, "mode" | "observed">;
}

/** Whether anything may be changed: only in a cluster that is started and meant to be, and only if the mode is not `observe` everywhere. */
export function isActing(snapshot: Snapshot, policy: Policy): boolean {
  return !isObserving(policy) && isStarted(snapshot);
}

function isStarted({ state, targetState }: Snapshot): boolean {
  return state === "Started" && targetState === "Started";
}

/** The reach of a plan on this observation. */
export function reachOf(snapshot: Snapshot, policy: Policy): Reach {
  const managed = managedArrays(snapshot, policy);
  const isStart = isStarted(snapshot);
  const observed = [...managed].filter((array) => !actsOn(policy, array));
  const isBlind = isObserving(policy);
  return {
    managed,
    isActing: isStart && !isBlind,
    withholds: isStart && (isBlind || observed.length > 0),
    acts: (array) => isStart && actsOn(policy, array),
    shown: isBlind ? { mode: "observe" } : observed.length === 0 ? {} : { observed },
  };
}

/** The changes that are made, and those that are only shown. */
interface Split {
  readonly done: Pick<Proposal, "creates" | "starts">;
  readonly withheld: Pick<Proposal, "creates" | "starts">;
}

/** Divides new and started nodes by the mode of their node array. */
export function splitByReach(
  { creates, starts }: Pick<Proposal, "creates" | "starts">,
  { acts }: Reach,
  ledger: Ledger,
): Split {
  const isOurs = (id: NodeId): boolean => {
    const known = ledger.get(id);
    return known !== undefined && acts(known.array);
  };
  return {
    done: { creates: creates.filter(({ bucket }) => acts(bucket.array)), starts: starts.filter(isOurs) },
    withheld: {
      creates: creates.filter(({ bucket }) => !acts(bucket.array)),
      starts: starts.filter((id) => !isOurs(id)),
    },
  };
}
