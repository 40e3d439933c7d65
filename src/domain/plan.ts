import type { Binding } from "./binding.ts";
import type { BucketKey, Purpose } from "./bucket.ts";
import type { ArrayName, NodeId, SetName } from "./ids.ts";
import type { Mode } from "./mode.ts";
import type { Reason } from "./reason.ts";
import type { CreateSet } from "./record.ts";
import type { Instant } from "./units.ts";
import { clockTime, isoTime } from "./units.ts";

/** The outcome of one reconcile, kept with its reasons. Every decision, also "do nothing", says why. */
export interface Plan {
  readonly number: number;
  readonly at: Instant;
  readonly creates: readonly CreateSet[];
  /** Deallocated nodes that are started; absent in plans of a release that started none. */
  readonly starts?: readonly NodeId[];
  readonly terminates: readonly NodeId[];
  /** `observe`: the plan does nothing, and only shows what it would do. Absent: it acts. */
  readonly mode?: "observe";
  /** Node arrays that are only observed by a plan that acts on others; absent: none. */
  readonly observed?: readonly ArrayName[];
  /** What the plan would do in observed node arrays; absent: none is observed, or the cluster is not started. */
  readonly withheld?: Proposal;
  /** What the virtual fleet of observed node arrays did with this plan; absent: none is observed, or the plan of an older release. */
  readonly virtual?: Proposal;
  readonly demands: readonly DemandOutcome[];
  readonly nodes: ReadonlyMap<NodeId, NodeVerdict>;
  /** Only some of the demands are here: their positions among all, of which there were so many. Absent: all of them are. */
  readonly kept?: { readonly positions: readonly number[]; readonly of: number };
  /** Groups that are asked for or there; absent: none, or the plan of an older release. */
  readonly groups?: readonly GroupedArray[];
  /** Which jobs are on which node; absent in plans of older releases. */
  readonly loads?: PlanLoads;
  /** Request sets of which demands cost too much to be planned; absent: none, or the plan of an older release. */
  readonly leftOut?: readonly LeftOutSet[];
}

/** What a plan has left out of one request set. */
export interface LeftOutSet {
  readonly set: SetName;
  /** How many of its demands, and the first of them. */
  readonly demands: number;
  readonly first: string;
  /** What makes them dear: "40,000 jobs with up to 100 alternatives each". */
  readonly why: string;
}

/** What a plan does, or would do. */
export interface Proposal {
  readonly creates: readonly CreateSet[];
  /** Deallocated nodes. */
  readonly starts: readonly NodeId[];
  /** Of what is withheld: also nodes that it would only mark, to look at them once more. */
  readonly terminates: readonly NodeId[];
}

/** How a plan is made, for answers. */
export function modeShown({ mode, observed, withheld }: Plan): {
  readonly mode: Mode;
  readonly observed?: readonly ArrayName[];
} {
  // A plan of an older release that withholds something withholds all.
  const isOld = mode === undefined && observed === undefined && withheld !== undefined;
  return {
    mode: isOld ? "observe" : (mode ?? "act"),
    ...(observed === undefined ? {} : { observed }),
  };
}

/** What a plan does and, in observed node arrays, would do. */
export function proposalOf({ withheld, creates, starts = [], terminates }: Plan): Proposal {
  if (withheld === undefined) return { creates, starts, terminates };
  return {
    creates: [...creates, ...withheld.creates],
    starts: [...starts, ...withheld.starts],
    terminates: [...terminates, ...withheld.terminates],
  };
}

/** All groups of one array and size: what the autoscale API calls a generated array (cyclecloud-wire.md C.2). */
export interface GroupedArray {
  /** "execute:64" for groups of 64 cores, "execute:16n" for groups of 16 nodes. */
  readonly name: string;
  /** The array that its nodes are created in. */
  readonly array: ArrayName;
  /** Groups asked for: by the set that asks for most. */
  readonly wanted: number;
  /** The sets that ask for them; the first few. */
  readonly sets: readonly SetName[];
  /** The provider knows no placement groups, so that there are as many ordinary nodes. */
  readonly ungrouped?: true;
  readonly groups: readonly GroupState[];
}

export interface GroupState {
  /** Its placement group is its id; none where the provider knows no placement groups. */
  readonly bucket: BucketKey;
  /**
   * `filling`: it lacks nodes, and what it has is kept meanwhile. `given-up`: it was not whole in time, so that its nodes are free to go.
   * `spare`: nobody asks for it.
   */
  readonly state: "whole" | "filling" | "given-up" | "spare";
  /** Nodes of a whole one. */
  readonly size: number;
  /** Nodes that exist, are in flight or are created by this plan; those that exist; and those that are up. */
  readonly nodes: number;
  readonly existing: number;
  readonly ready: number;
  /** Since when it has lacked nodes, or waits for some of them to come up; absent: it did not. */
  readonly since?: Instant;
  readonly givenUpAt?: Instant;
}

/** Why a node is not needed although groups like its own are asked for; undefined: its group was not given up. */
export function whyReleased({ groups = [] }: Plan, purpose: Purpose): string | undefined {
  if (purpose.kind !== "group" || purpose.group === undefined) return undefined;
  const states = groups.find(({ name }) => name === purpose.key)?.groups ?? [];
  const state = states.find(({ bucket }) => bucket.placementGroup === purpose.group);
  if (state?.givenUpAt === undefined) return undefined;
  return `its group ${purpose.group} was given up at ${isoTime(state.givenUpAt)}, as it had only ${state.nodes} of ${state.size} nodes`;
}

/** What a plan puts where, made small: 100,000 jobs on thousands of nodes are stored with every plan. */
export interface PlanLoads {
  /** The buckets that loads name by position. */
  readonly buckets: readonly BucketKey[];
  readonly loads: readonly PlanLoad[];
  /** Nodes with jobs that were left out, beyond what is kept. */
  readonly cut: number;
}

/** The jobs on one existing node, or on each of so many nodes alike that are in flight or to be made. */
export interface PlanLoad {
  readonly origin: "existing" | "in-flight" | "planned";
  readonly bucket: number;
  readonly nodeId?: NodeId;
  readonly count: number;
  readonly jobs: readonly LoadRun[];
}

/** Demands in a row, first and last by their position in {@link Plan.demands}, each with so many slots; a fourth member, 1: they run there already. */
export type LoadRun =
  | readonly [first: number, last: number, slots: number]
  | readonly [first: number, last: number, slots: number, bound: 1];

/** What became of one demand: placed + unmet = asked, in its own unit. */
export interface DemandOutcome {
  readonly set: SetName;
  readonly id: string;
  readonly kind: "target" | "groups" | "job";
  /** Nodes or cores of a target, groups, or slots of a job. */
  readonly unit: "nodes" | "cores" | "groups" | "slots";
  readonly asked: number;
  /** On nodes that exist or were asked for; at most `asked`. */
  readonly placed: number;
  /** Of `placed`, what waits for nodes that this plan creates, or that are coming. */
  readonly pending: number;
  /** At least one whenever `placed` is less than `asked`. */
  readonly reasons: readonly Reason[];
  /** Reasons that were left out; absent: none. */
  readonly moreReasons?: number;
  /** What is short of all of it; absent: nothing, or not known. */
  readonly binding?: Binding;
}

/** Why a node stays or is stopped. */
export type NodeVerdict =
  | { readonly kind: "needed"; readonly by: readonly string[] }
  | { readonly kind: "coming"; readonly bootSecondsLeft: number }
  | { readonly kind: "busy" }
  | { readonly kind: "busyness-unknown" }
  | { readonly kind: "idle"; readonly idleSeconds: number; readonly idleTimeoutSeconds: number }
  /** A request set is left out of the plan, and may need it. */
  | { readonly kind: "perhaps-needed"; readonly by: SetName }
  | { readonly kind: "keep-alive" }
  /** Its Configuration switches autostop off (cyclecloud-wire.md C.2). */
  | { readonly kind: "stop-disabled" }
  | { readonly kind: "not-managed" }
  | { readonly kind: "resting"; readonly until: Instant }
  | {
      readonly kind: "draining";
      readonly by: string;
      /** It is stopped once a report later than this names it idle. */
      readonly reportAfter?: Instant;
      /** The last report that named it. */
      readonly lastReportAt?: Instant;
      /** It is judged again then, unless CycleCloud has been asked to stop it. */
      readonly until?: Instant;
    }
  | { readonly kind: "stopping"; readonly attempts: number }
  | { readonly kind: "going" }
  /** `wasReady`: it failed after it was Ready, so that jobs may still run there. `kept`: it counts as there all the same. */
  | { readonly kind: "failed"; readonly status: string; readonly wasReady?: true; readonly kept?: true }
  /** It was Ready and is up no more since then; `status` is what CycleCloud shows. No capacity, unless `kept`. */
  | { readonly kind: "down"; readonly since: Instant; readonly status: string; readonly kept?: true }
  /** The look lacks it; it counts as present until then. `named`: its bucket still names it. */
  | { readonly kind: "missing"; readonly since: Instant; readonly until: Instant; readonly named?: true }
  /** CycleCloud does not say whether it is wanted. It counts as there until then; what it is afterwards, if its time is over. */
  | {
      readonly kind: "unclear";
      readonly since: Instant;
      readonly until: Instant;
      readonly status: string;
      readonly over?: "replaced" | "kept";
    }
  | { readonly kind: "off"; readonly status: string }
  /** Would be started when needed; not before `restsUntil`, where its last start came to nothing. */
  | { readonly kind: "deallocated"; readonly restsUntil?: Instant; readonly message?: string }
  | { readonly kind: "starting"; readonly by: readonly string[] };

const FAILED_AFTER_READY = " after it was Ready";
const NO_CAPACITY =
  ": no capacity, but jobs may still run on it; it is stopped by its own callback, or when a scheduler reports it idle";
const KEPT =
  "it still counts as present, because a job is reported on it or enough other nodes of its array are being replaced";

/** What is said wherever it keeps a node from being stopped. */
export const BUSY_STATE_UNKNOWN = "busy state unknown: no report and no callback yet";

/** One sentence for people. */
export function renderVerdict(verdict: NodeVerdict): string {
  switch (verdict.kind) {
    case "needed":
      return `needed by ${verdict.by.join(", ")}`;
    case "coming":
      return `on its way up; ${Math.round(verdict.bootSecondsLeft)} s left to boot`;
    case "busy":
      return "stays: a job runs on it";
    case "busyness-unknown":
      return `stays: not needed; ${BUSY_STATE_UNKNOWN}`;
    case "idle":
      return `stays for now: idle for ${Math.round(verdict.idleSeconds)} of ${verdict.idleTimeoutSeconds} s`;
    case "perhaps-needed":
      return `stays: request set ${verdict.by} is left out of this plan, and may need it`;
    case "keep-alive":
      return "stays: KeepAlive is set";
    case "stop-disabled":
      return "stays: its configuration switches autostop off (cyclecloud.cluster.autoscale.stop_enabled)";
    case "not-managed":
      return "stays: its node array is not autoscaled by us";
    case "resting":
      return "stays for now: scale-down rests after a start or an interruption of the autoscaler";
    case "draining":
      return `marked to be stopped (${verdict.by})${awaitedText(verdict)}`;
    case "stopping":
      return `asked CycleCloud to terminate it${verdict.attempts > 1 ? ` (${verdict.attempts} times)` : ""}`;
    case "going":
      return "is being stopped";
    case "failed":
      return `failed (${verdict.status})${afterFailed(verdict)}`;
    case "down":
      return downText(verdict);
    case "missing":
      return `CycleCloud has not listed it since ${isoTime(verdict.since)}${verdict.named === true ? ", though its bucket names it" : ""}: it counts as present until ${isoTime(verdict.until)}, and as removed after that`;
    case "unclear":
      return `since ${isoTime(verdict.since)} CycleCloud's record has not said whether it is wanted (no TargetState, Status ${verdict.status}): ${unclearText(verdict)}`;
    case "off":
      return `has no VM (${verdict.status})`;
    case "deallocated":
      return verdict.restsUntil === undefined
        ? "deallocated: would be started when needed"
        : `deallocated: not started again before ${isoTime(verdict.restsUntil)}, as ${verdict.message ?? "its last start came to nothing"}`;
    case "starting":
      return verdict.by.length === 0
        ? "deallocated, and asked to start; no longer needed"
        : `deallocated, and asked to start for ${verdict.by.join(", ")}`;
  }
}

type Of<K extends NodeVerdict["kind"]> = Extract<NodeVerdict, { readonly kind: K }>;

function afterFailed({ wasReady, kept }: Of<"failed">): string {
  const after = wasReady === true ? FAILED_AFTER_READY : "";
  if (kept === true) return `${after}; ${KEPT}`;
  return wasReady === true ? `${after}${NO_CAPACITY}` : "";
}

function downText({ status, since, kept }: Of<"down">): string {
  const shown = `it was Ready, and CycleCloud has shown it as ${status} since ${isoTime(since)};`;
  if (kept === true) return `${shown} ${KEPT}`;
  return `no capacity: ${shown} its demand is placed elsewhere, and it still counts against the limits`;
}

function unclearText({ until, over }: Of<"unclear">): string {
  if (over === undefined) return `it counts as present until ${isoTime(until)}, and is not stopped`;
  const ends =
    "it is stopped by its own callback, when a scheduler reports it idle, or by an administrator in CycleCloud";
  return over === "kept" ? `${KEPT}; ${ends}` : `no capacity; ${ends}`;
}

function awaitedText({
  reportAfter,
  lastReportAt,
  until,
}: Extract<NodeVerdict, { readonly kind: "draining" }>): string {
  if (until !== undefined) return `: judged again at ${clockTime(until)} if it is still up`;
  if (reportAfter === undefined) return "";
  const last = lastReportAt === undefined ? "there is none" : `the last is from ${clockTime(lastReportAt)}`;
  return `: waiting for a report later than ${clockTime(reportAfter)}; ${last}`;
}
