import type { SetName } from "./ids.ts";
import { showText } from "./shown.ts";
import type { Instant, Seconds } from "./units.ts";
import { clockTime, isoTime } from "./units.ts";

/** Why a node stays or is stopped. */
export type NodeVerdict = Judgement & {
  /** Its scheduler keeps it, whatever else is true of it, for this reason. */
  readonly keep?: string;
};

type Judgement =
  | { readonly kind: "needed"; readonly by: readonly string[] }
  | { readonly kind: "coming"; readonly bootSecondsLeft: number }
  | { readonly kind: "busy" }
  /** `beside`: request sets with demand that was planned there, and that do not report the host. Another set's report says nothing of it. */
  | { readonly kind: "busyness-unknown"; readonly beside?: readonly SetName[] }
  | { readonly kind: "idle"; readonly idleSeconds: Seconds; readonly idleTimeoutSeconds: Seconds }
  /** A request set that is left out of the plan may need it. */
  | { readonly kind: "perhaps-needed"; readonly by: SetName }
  | { readonly kind: "keep-alive" }
  /** Its scheduler keeps it, for this reason. */
  | { readonly kind: "kept"; readonly why: string }
  /** Its Configuration switches autostop off (cyclecloud-wire.md C.2). */
  | { readonly kind: "stop-disabled" }
  | { readonly kind: "not-managed" }
  | { readonly kind: "resting"; readonly until: Instant }
  | {
      readonly kind: "draining";
      readonly by: string;
      /** The node is stopped once a report later than this shows it as idle. */
      readonly reportAfter?: Instant;
      /** The last report that named it. */
      readonly lastReportAt?: Instant;
      /** When the node is judged again, unless CycleCloud has been asked to stop it by then. */
      readonly until?: Instant;
    }
  /** `act`: CycleCloud was asked to deallocate it. Absent: to terminate it. */
  | { readonly kind: "stopping"; readonly attempts: number; readonly act?: "deallocate" }
  | { readonly kind: "going" }
  /** `wasReady`: it failed after it was Ready, so jobs may still run there. `kept`: it nevertheless counts as capacity. */
  | {
      readonly kind: "failed";
      readonly status: string;
      readonly wasReady?: true;
      readonly kept?: true;
      readonly end?: DownEnd;
    }
  /** It was Ready and has not been up since then. `status` is CycleCloud's status. It is no capacity, unless `kept`. */
  | {
      readonly kind: "down";
      readonly since: Instant;
      readonly status: string;
      readonly kept?: true;
      readonly end?: DownEnd;
    }
  /** The observation lacks it. It counts as present until `until` at least. `named`: its bucket still lists it. */
  | { readonly kind: "missing"; readonly since: Instant; readonly until: Instant; readonly named?: true }
  /** CycleCloud does not show whether the node is wanted. It counts as present until `until`. `over` is its state after that. */
  | {
      readonly kind: "unclear";
      readonly since: Instant;
      readonly until: Instant;
      readonly status: string;
      readonly over?: "replaced" | "kept";
    }
  | { readonly kind: "off"; readonly status: string }
  /**
   * The node would be started when needed. If its last start failed, not before `restsUntil`. `went`: it had shut itself down, so demand does
   * not start it. `kept`: it ends by itself.
   */
  | {
      readonly kind: "deallocated";
      readonly restsUntil?: Instant;
      readonly message?: string;
      readonly went?: "down";
      readonly kept?: KeptEnd;
    }
  | { readonly kind: "starting"; readonly by: readonly string[] };

/** When a deallocated node ends, unless it is started before. */
export interface KeptEnd extends DownEnd {
  /** Since when it is deallocated. */
  readonly since: Instant;
  /** What its disks cost per hour. Absent: it is not configured. */
  readonly cost?: { readonly perHour: number; readonly currency: string };
}

/** When a node that is down is terminated. */
export interface DownEnd {
  /** Absent: it is not terminated as long as `held` holds. */
  readonly at?: Instant;
  /** Why not at once. Absent: its time is not over. */
  readonly held?: DownHold;
  /** It is deallocated then, and not terminated. */
  readonly act?: "deallocate";
}

/** What keeps a node that is down from being terminated. */
export type DownHold =
  /** Its `downTimeout` is `never`. */
  | "never"
  | "observed"
  | "not-ours"
  | "keep-alive"
  | "kept"
  | "stop-disabled"
  | "busy"
  | "asked"
  | "resting"
  | "starting"
  | "group"
  | "wave"
  | "bound";

/** One sentence part for each: "…, because …". */
const HOLDS: { readonly [H in DownHold]: string } = {
  never: "the configuration leaves it to a person (its timeout is never)",
  observed: "the app only observes its node array",
  "not-ours": "it is not ours",
  "keep-alive": "KeepAlive is set",
  kept: "its scheduler keeps it",
  "stop-disabled": "its configuration switches autostop off",
  busy: "a job is reported or placed on it",
  asked: "it has asked by itself in the last five minutes",
  resting: "scale-down rests",
  starting: "another tool has started it again",
  group: "another node of its placement group is busy",
  wave: "many nodes are down at once",
  bound: "enough others were terminated in the last ten minutes",
};

/** When a node that is down is terminated, or why it is not. */
function downEndText({ at, held, act }: DownEnd): string {
  const stopped = act === undefined ? "terminated" : "deallocated";
  if (held === undefined) return at === undefined ? "" : `is ${stopped} at ${isoTime(at)}`;
  const why = HOLDS[held];
  return at === undefined
    ? `is not ${stopped}: ${why}`
    : `is ${stopped} at ${isoTime(at)} or later, because ${why}`;
}

const FAILED_AFTER_READY = " after it was Ready";
const NO_CAPACITY =
  ": no capacity, but jobs may still run on it; it is stopped by its own callback, or when a scheduler reports it idle";
const KEPT =
  "it still counts as present, because a job is reported on it or enough other nodes of its array are being replaced";

/** Used in every text in which an unknown busy state keeps a node from being stopped. */
export const BUSY_STATE_UNKNOWN = "busy state unknown: no report and no callback yet";

type Kind = NodeVerdict["kind"];
type VerdictOf<K extends Kind> = Extract<NodeVerdict, { readonly kind: K }>;

/** Every verdict is one of these. In this form the compiler knows that the sentence found by a verdict's kind takes that verdict. */
type Judged<K extends Kind> = { readonly [P in K]: VerdictOf<P> & { readonly kind: P } }[K];

/** One sentence for users. */
export function renderVerdict(verdict: NodeVerdict): string {
  const { keep } = verdict;
  return keep === undefined
    ? sentenceOf(verdict)
    : `${sentenceOf(verdict)}; it is not stopped, because its scheduler keeps it: ${showText(keep)}`;
}

function sentenceOf<K extends Kind>(verdict: Judged<K>): string {
  // A newer release may have stored a kind that this release does not know.
  return Object.hasOwn(SENTENCES, verdict.kind) ? SENTENCES[verdict.kind](verdict) : verdict.kind;
}

/** One sentence for each kind of verdict. */
const SENTENCES: { readonly [K in Kind]: (verdict: VerdictOf<K>) => string } = {
  needed: (verdict) => `needed by ${verdict.by.join(", ")}`,
  coming: (verdict) => `on its way up; ${Math.round(verdict.bootSecondsLeft)} s left to boot`,
  busy: () => "stays: a job runs on it",
  "busyness-unknown": ({ beside }) =>
    `stays: not needed; ${beside === undefined ? BUSY_STATE_UNKNOWN : unreportedText(beside)}`,
  idle: (verdict) =>
    `stays for now: idle for ${Math.round(verdict.idleSeconds)} of ${verdict.idleTimeoutSeconds} s`,
  "perhaps-needed": (verdict) => `stays: request set ${verdict.by} is left out of this plan, and may need it`,
  "keep-alive": () => "stays: KeepAlive is set",
  kept: ({ why }) => `stays: its scheduler keeps it: ${showText(why)}`,
  "stop-disabled": () =>
    "stays: its configuration switches autostop off (cyclecloud.cluster.autoscale.stop_enabled)",
  "not-managed": () => "stays: its node array is not autoscaled by us",
  resting: () => "stays for now: scale-down rests after a start or an interruption of the autoscaler",
  draining: (verdict) => `marked to be stopped (${verdict.by})${awaitedText(verdict)}`,
  stopping: (verdict) =>
    `asked CycleCloud to ${verdict.act ?? "terminate"} it${verdict.attempts > 1 ? ` (${verdict.attempts} times)` : ""}`,
  going: () => "is being stopped",
  failed: (verdict) => `failed (${verdict.status})${afterFailed(verdict)}`,
  down: downText,
  missing: (verdict) =>
    `CycleCloud has not listed it since ${isoTime(verdict.since)}${verdict.named === true ? ", though its bucket names it" : ""}: it counts as present until ${isoTime(verdict.until)} or later, and as removed after that`,
  unclear: (verdict) =>
    `since ${isoTime(verdict.since)} CycleCloud's record has not said whether it is wanted (no known TargetState, Status ${verdict.status}): ${unclearText(verdict)}`,
  off: (verdict) => `has no VM (${verdict.status})`,
  deallocated: (verdict) => {
    const { restsUntil, message, went, kept } = verdict;
    const since = kept === undefined ? "" : ` since ${isoTime(kept.since)}`;
    const starts =
      went === "down"
        ? "demand does not start it, because it had shut itself down"
        : restsUntil === undefined
          ? "would be started when needed"
          : `not started again before ${isoTime(restsUntil)}, because ${message ?? "its last start failed"}`;
    return `deallocated${since}: ${starts}${endText(kept)}${kept === undefined ? "" : diskText(kept)}`;
  },
  starting: (verdict) =>
    verdict.by.length === 0
      ? "deallocated, and asked to start; no longer needed"
      : `deallocated, and asked to start for ${verdict.by.join(", ")}`,
};

function afterFailed({ wasReady, kept, end }: VerdictOf<"failed">): string {
  const after = wasReady === true ? FAILED_AFTER_READY : "";
  if (kept === true) return `${after}; ${KEPT}${endText(end)}`;
  return wasReady === true ? `${after}${NO_CAPACITY}${endText(end)}` : "";
}

function diskText({ cost }: KeptEnd): string {
  if (cost === undefined) return "; its disks cost money, how much is not configured (prices.deallocated)";
  return `; its disks cost ${cost.perHour} ${cost.currency} an hour`;
}

function downText({ status, since, kept, end }: VerdictOf<"down">): string {
  const shown = `it was Ready, and CycleCloud has shown it as ${status} since ${isoTime(since)};`;
  if (kept === true) return `${shown} ${KEPT}${endText(end)}`;
  return `no capacity: ${shown} its demand is placed elsewhere, and it still counts against the limits${endText(end)}`;
}

const endText = (end: DownEnd | undefined): string => (end === undefined ? "" : `; it ${downEndText(end)}`);

function unclearText({ until, over }: VerdictOf<"unclear">): string {
  if (over === undefined) return `it counts as present until ${isoTime(until)}, and is not stopped`;
  const ends =
    "it is stopped by its own callback, when a scheduler reports it idle, or by an administrator in CycleCloud";
  return over === "kept" ? `${KEPT}; ${ends}` : `no capacity; ${ends}`;
}

function awaitedText({ reportAfter, lastReportAt, until }: VerdictOf<"draining">): string {
  if (until !== undefined) return `: judged again at ${clockTime(until)} if it is still up`;
  if (reportAfter === undefined) return "";
  const last = lastReportAt === undefined ? "there is none" : `the last is from ${clockTime(lastReportAt)}`;
  return `: waiting for a report later than ${clockTime(reportAfter)}; ${last}`;
}

function unreportedText(sets: readonly SetName[]): string {
  const names = sets.join(", ");
  return sets.length === 1
    ? `busy state unknown: demand of request set ${names} was planned on it, and that set does not report its host`
    : `busy state unknown: demand of request sets ${names} was planned on it, and these sets do not report its host`;
}
