import type { Dice } from "./dice.ts";

/** What a seed draws for a run: the size of the cluster, and which failures come how often. Probabilities are per call unless said otherwise. */
export interface Weather {
  readonly instances: number;
  /** Duration of the failures; then comes the quiet time. */
  readonly stormSeconds: number;
  readonly arrays: readonly string[];
  readonly nodesPerArray: number;
  /** The cluster's quota in nodes. Terminating nodes count, too. */
  readonly quotaNodes: number;
  readonly sets: number;
  /** A process crashes, before or after the effect, and another starts later. */
  readonly crash: number;
  /** The request or its answer is lost, or the request arrives after the caller has given up. */
  readonly loss: number;
  /** An answer takes seconds. */
  readonly slow: number;
  /** A process stands still for up to one and a half minutes, and then goes on as if nothing had happened. */
  readonly freeze: number;
  readonly lagSeconds: number;
  readonly bootFailureShare: number;
  readonly neverBootShare: number;
  readonly terminationFailureShare: number;
  /** Share of questions in which a node calls itself unfit for work. It may always be stopped. */
  readonly unfit: number;
  /** One status shows no node at all. */
  readonly falseEmpty: boolean;
  /** Azure runs out of VMs for a while, so that creates fall short. */
  readonly scarce: boolean;
  /** Schedulers report the jobs on their hosts, so that idle nodes are stopped. Otherwise nodes are stopped only by their own callback. */
  readonly reports: boolean;
  /** Many sets that only renew their demand, a few times a second, also in the quiet time. */
  readonly crowd: boolean;
  /** An administrator switches idle nodes off. They keep their disks and can be started again. No seed draws it. */
  readonly switchOff?: true;
  /** Node arrays have the ShutdownPolicy Deallocate. No seed draws it. */
  readonly deallocates?: {
    /** Share of starts that CycleCloud refuses. */
    readonly refused: number;
    /** The `deallocatedTimeout` of the run. */
    readonly timeoutSeconds: number;
  };
  /** Schedulers send every other report without demand. No seed draws it. */
  readonly reportsApart?: true;
  /** Failures that last; see kinds.ts. No seed draws it, but the seed of a kind does. */
  readonly lasting?: Lasting;
}

/** The endpoint of CycleCloud that a call is for. */
export type Endpoint = "status" | "nodes" | "operations" | "create" | "start" | "terminate";

/** The calls that change something. */
export const EFFECTS: readonly Endpoint[] = ["create", "start", "terminate"];

/** Weather that lasts. Each part is independent, and does not happen if undefined. Times are in seconds from the beginning of the run. */
export interface Lasting {
  /** Each call of the endpoint takes this long, also in the quiet time. */
  readonly slow?: { readonly endpoint: Endpoint | "all"; readonly seconds: number };
  /** Each call of the endpoint fails like this, also in the quiet time. */
  readonly broken?: { readonly endpoint: Endpoint; readonly how: 429 | 500 | 403 | "login" };
  /** Share of effects that arrive late: up to the time limit of a call after they were sent. */
  readonly late?: number;
  /** Share of effects whose request or answer is lost, each half of the time. */
  readonly lost?: number;
  /** Records of this share of the nodes lack a field, or have an unknown value. */
  readonly unclear?: Spell & { readonly share: number; readonly how: Unclear };
  /** Statuses leave out this share of the nodes. `named`: their buckets still name them in activeNodes. */
  readonly half?: readonly (Spell & { readonly share: number; readonly named: boolean })[];
  /** Share of nodes that vanish before they are Ready, and how often a Ready one does. */
  readonly vanish?: { readonly beforeReady: number; readonly everySeconds: number };
  /**
   * Half of the nodes vanish at once, this many times, first at that moment. After each wave, nodes vanish one after the other every few
   * seconds.
   */
  readonly waves?: {
    readonly count: number;
    readonly firstAt: number;
    readonly trickleSeconds: number;
  };
  /** Another tool stops nodes: an administrator any node, an old autoscaler those that it takes for idle. */
  readonly deleters?: { readonly everySeconds: number; readonly onlyIdle: boolean };
  /** Chance that something arrives at another instance during a save or a call to CycleCloud, which then takes longer. */
  readonly races?: number;
  /** Senders renew their demand less often, so that an hour is cheap to play. */
  readonly isCalm?: true;
  /** Number of sets that only renew their demand, at random times. */
  readonly renewals?: number;
  /** Idle nodes of a large array ask one after the other at this interval, while the demand of another array changes. */
  readonly stops?: { readonly nodes: number; readonly everySeconds: number };
  /** Storage loses rows or sets them back at that moment. `restart`: all processes crash then, and lose what they remember. */
  readonly storage?: {
    readonly at: number;
    readonly how: "body-lost" | "record-lost" | "set-back";
    readonly restart: boolean;
  };
  /** Demand is steady except for steps at this interval. Undefined: it changes as in the storms. */
  readonly stepSeconds?: number;
  /** Demand is high and then low for this many seconds, before it is steady: nodes are stopped soon after they were created. */
  readonly pulse?: readonly [number, number];
  /** Demand drops for between this minimum and maximum time, so that nodes begin to ask or to be idle, and then returns. */
  readonly dips?: readonly [number, number];
  /** Nodes run the script of docs/pbs.md. */
  readonly scripts?: Scripts;
  /** CycleCloud stands still now and then, and does what lies in its sockets when it goes on (standing.ts). */
  readonly standstills?: Standstills;
  /** Processes stand still: the chance for each step of a process, and the shortest and longest time in seconds. */
  readonly freezes?: { readonly chance: number; readonly seconds: readonly [number, number] };
  /** Share of senders (nodes, request sets) whose messages wait in front of a host for minutes, again and again (fronts.ts). */
  readonly queued?: number;
  /** An instance reaches nothing over a link. `hangs`: its calls get no answer; `refused`: they get no connection. */
  readonly cuts?: readonly (Spell & {
    readonly host: number;
    readonly link: Link;
    readonly how: "hangs" | "refused";
  })[];
  /** The instance at this position has an old secret for CycleCloud, for the whole run. */
  readonly oldSecret?: number;
  /** A scheduler names its nodes. */
  readonly named?: Named;
  /** A call to CycleCloud is given up after this time. Undefined: 60 s. */
  readonly callLimitSeconds?: number;
  /** The bounds of the run's judges, beside those that always hold. */
  readonly bounds?: Bounds;
}

/** A scheduler that names its nodes (slurm-writer.ts). Probabilities are for each look of it, unless said otherwise. */
export interface Named {
  /** Other demand creates nothing there. */
  readonly array: string;
  readonly names: number;
  /** The agent stands still between reading its scheduler and sending, for each message. */
  readonly frozen: number;
  /** The job is cancelled while its node boots. */
  readonly cancelled: number;
  /** A person drains an idle node. */
  readonly drained: number;
  /** A machine of an earlier resume restarts, and is taken for the new one. */
  readonly restarts: number;
  /** A resume is asked for by a set of its own, too: for each resume. */
  readonly shims: number;
}

export interface Spell {
  readonly from: number;
  readonly until: number;
}

/** What a process reaches over the network. */
export type Link = "storage" | "cyclecloud";

export interface Standstills {
  /** One after the other. */
  readonly spells: readonly {
    /** It may begin this long after the one before has ended, or after the run has begun. */
    readonly afterSeconds: number;
    readonly seconds: number;
    /**
     * `at once`, or just `before` or `after` CycleCloud handles the next change: then its answer is held. `later`: within a minute after that,
     * while nodes boot or go.
     */
    readonly begins: "at once" | "before" | "after" | "later";
  }[];
  /** Changes that were held take effect at most this long after it goes on. Reads are answered at once. */
  readonly lateSeconds: number;
  /** Share of held changes that never take effect. */
  readonly never: number;
}

export type Unclear = "no-target-state" | "no-status" | "no-state-at-all" | "new-word";

export interface Scripts {
  /** Share of questions that wait for up to a minute before they reach a host. */
  readonly delayed: number;
  /** Share of nodes whose questions wait for minutes before they reach a host, or are lost. */
  readonly unreached: number;
  /** Share of nodes without a script: only reports show them. */
  readonly silent: number;
  /** Reports say of each host whether it is open. */
  readonly states: boolean;
  /** The clocks of nodes are up to this much behind, or ahead. Undefined: they are right. */
  readonly skewSeconds?: readonly [behind: number, ahead: number];
}

/** Demand that has been in force for this many seconds is met by then. */
export interface Bounds {
  /** By existing nodes, Ready or not. */
  readonly createdSeconds?: number;
  /** By Ready nodes. */
  readonly readySeconds?: number;
  /** A node that went by itself needs no substitute for this long. */
  readonly forgiveSeconds?: number;
  /** This many nodes more than needed may come from that moment on, as substitutes for nodes that stay unclear. */
  readonly spareNodes?: { readonly count: number; readonly from: number };
}

export function drawWeather(dice: Dice): Weather {
  const crowd = dice.chance(0.06);
  // A crowd tests whether demand is served at all. Pauses of buckets would hide that.
  const trouble = crowd ? 0 : 1;
  const arrays = dice.chance(0.3) ? ["alpha", "beta"] : ["alpha"];
  const nodesPerArray = dice.whole(3, 8);
  return {
    instances: dice.pick([1, 2, 2, 3]),
    stormSeconds: dice.whole(240, 720),
    arrays,
    nodesPerArray,
    quotaNodes: nodesPerArray * arrays.length + dice.pick([0, 0, 4]),
    sets: dice.whole(1, 3),
    crash: dice.pick([0, 0.002, 0.008, 0.02]),
    loss: dice.pick([0, 0.005, 0.02, 0.06]),
    slow: dice.pick([0, 0.05, 0.2]),
    freeze: dice.pick([0, 0, 0.004]),
    lagSeconds: dice.pick([0, 10, 30]),
    bootFailureShare: trouble * dice.pick([0, 0, 0.15]),
    neverBootShare: trouble * dice.pick([0, 0, 0.1]),
    terminationFailureShare: trouble * dice.pick([0, 0, 0.1]),
    unfit: dice.pick([0, 0.01, 0.03]),
    falseEmpty: dice.chance(0.4),
    scarce: dice.chance(0.3) && !crowd,
    reports: dice.chance(0.35),
    crowd,
  };
}

/**
 * An operator switches nodes off. One array: nodes that are off use quota, which would leave another array without nodes. No crowd, because it
 * does not wait long enough.
 */
export const SWITCHED_OFF: Partial<Weather> = { switchOff: true, crowd: false, arrays: ["alpha"] };
/**
 * Nodes are deallocated and not terminated, and one start in ten is refused. The quota is that of the nodes that may run, so that stopped ones
 * hold what others need. Two arrays of twelve, three instances.
 */
export const DEALLOCATING: Partial<Weather> = {
  deallocates: { refused: 0.1, timeoutSeconds: 1500 },
  crowd: false,
  instances: 3,
  arrays: ["alpha", "beta"],
  nodesPerArray: 12,
  quotaNodes: 24,
};
/** A sender puts its reports into separate messages. */
export const REPORTS_APART: Partial<Weather> = { reports: true, reportsApart: true };

/** The weather of the quiet time: calls take their ordinary time, and nothing is lost. */
export function calm(weather: Weather): Weather {
  const quiet = { ...weather, crash: 0, loss: 0, slow: 0, freeze: 0, falseEmpty: false, scarce: false };
  const { lasting } = weather;
  if (lasting === undefined) return quiet;
  const { late: _late, lost: _lost, races: _races, freezes: _freezes, cuts: _cuts, ...forEver } = lasting;
  return { ...quiet, lasting: forEver };
}
