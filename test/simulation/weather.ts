import type { Dice } from "./dice.ts";

/** What a seed makes of a run: how big the cluster is, and what goes wrong how often. Probabilities are per call unless said otherwise. */
export interface Weather {
  readonly instances: number;
  /** How long things go wrong; then comes the quiet time. */
  readonly stormSeconds: number;
  readonly arrays: readonly string[];
  readonly nodesPerArray: number;
  /** The cluster's quota in nodes; also counts nodes that are going. */
  readonly quotaNodes: number;
  readonly sets: number;
  /** A process ends, before or after the effect, and another starts later. */
  readonly crash: number;
  /** The request or its answer is lost, or the request arrives after the caller has given up. */
  readonly loss: number;
  /** An answer takes seconds. */
  readonly slow: number;
  /** A process stands still for up to one and a half minutes, then goes on as if nothing had happened. */
  readonly freeze: number;
  readonly lagSeconds: number;
  readonly bootFailureShare: number;
  readonly neverBootShare: number;
  readonly terminationFailureShare: number;
  /** Share of questions in which a node calls itself unfit for work: it may always go. */
  readonly unfit: number;
  /** One status shows no node at all. */
  readonly falseEmpty: boolean;
  /** Azure runs out of VMs now and then, so that creates fall short. */
  readonly scarce: boolean;
  /** Schedulers report what runs on their hosts, so that idle nodes are reaped; otherwise nodes go by their own callback only. */
  readonly reports: boolean;
  /** Many sets that do nothing but renew, a few times a second, also in the quiet time. */
  readonly crowd: boolean;
  /** Somebody switches idle nodes off now and then, so that they keep their disks and can be started again. No seed draws it. */
  readonly switchOff?: true;
  /** Schedulers send every other report without demand. No seed draws it. */
  readonly reportsApart?: true;
  /** What lasts; see kinds.ts. No seed draws it, but the seed of a kind does. */
  readonly lasting?: Lasting;
}

/** What a call to CycleCloud asks for. */
export type Endpoint = "status" | "nodes" | "operations" | "create" | "start" | "terminate";

/** The calls that change something. */
export const EFFECTS: readonly Endpoint[] = ["create", "start", "terminate"];

/** Weather that lasts. Each part is switched on by itself; absent: it does not happen. Times are in seconds from the beginning of the run. */
export interface Lasting {
  /** Each call of the endpoint takes so long, in the quiet time too. */
  readonly slow?: { readonly endpoint: Endpoint | "all"; readonly seconds: number };
  /** Each call of the endpoint fails like this, in the quiet time too. */
  readonly broken?: { readonly endpoint: Endpoint; readonly how: 429 | 500 | 403 | "login" };
  /** Share of effects that arrive up to the time limit of a call after they were sent. */
  readonly late?: number;
  /** Share of effects whose request is lost, and as often their answer. */
  readonly lost?: number;
  /** Records of this share of the nodes lack a field, or have a value that nobody knows. */
  readonly unclear?: Spell & { readonly share: number; readonly how: Unclear };
  /** Statuses leave this share of the nodes out; `named`: their buckets still name them in activeNodes. */
  readonly half?: readonly (Spell & { readonly share: number; readonly named: boolean })[];
  /** Share of nodes that vanish before they are Ready, and how often a Ready one does. */
  readonly vanish?: { readonly beforeReady: number; readonly everySeconds: number };
  /** So many times half of the nodes vanish at once, first at that moment, and then one after the other every few seconds. */
  readonly waves?: {
    readonly count: number;
    readonly firstAt: number;
    readonly trickleSeconds: number;
  };
  /** Another tool stops nodes: an administrator any, an old autoscaler those that look idle to it. */
  readonly deleters?: { readonly everySeconds: number; readonly onlyIdle: boolean };
  /** Chance that something comes at another instance while a save or a call to CycleCloud is under way, which then takes long. */
  readonly races?: number;
  /** So many sets that only renew, at random times. */
  readonly renewals?: number;
  /** Idle nodes of a large array ask one after the other, so far apart, while another array's demand changes. */
  readonly stops?: { readonly nodes: number; readonly everySeconds: number };
  /** Storage loses or sets back rows at such a moment; `restart`: all processes end then, and what they remember with them. */
  readonly storage?: {
    readonly at: number;
    readonly how: "body-lost" | "record-lost" | "set-back";
    readonly restart: boolean;
  };
  /** Demand is steady but for steps so far apart; otherwise it moves as in the storms. */
  readonly stepSeconds?: number;
  /** Demand is high and then low for so many seconds, before it is steady: nodes go that have hardly come. */
  readonly pulse?: readonly [number, number];
  /** Demand drops for a time between these two, in seconds, so that nodes begin to ask or to be idle, and returns. */
  readonly dips?: readonly [number, number];
  /** Nodes run the script of docs/pbs.md. */
  readonly scripts?: Scripts;
  /** What the run is judged by, beside what always holds. */
  readonly bounds?: Bounds;
}

export interface Spell {
  readonly from: number;
  readonly until: number;
}

export type Unclear = "no-target-state" | "no-status" | "no-state-at-all" | "new-word";

export interface Scripts {
  /** Share of questions that wait for up to a minute in front of a host. */
  readonly delayed: number;
  /** Share of nodes whose questions wait for minutes in front of a host, or are lost. */
  readonly unreached: number;
  /** Share of nodes without a script: only reports speak of them. */
  readonly silent: number;
  /** Reports say of each host whether it is open. */
  readonly states: boolean;
}

/** Demand that has been in force for so many seconds is met by then. */
export interface Bounds {
  /** By nodes that are there, Ready or not. */
  readonly createdSeconds?: number;
  /** By Ready nodes. */
  readonly readySeconds?: number;
  /** A node that went by itself needs no substitute for so long. */
  readonly forgiveSeconds?: number;
  /** So many nodes more than needed may come, from this moment on: substitutes for nodes that stay unclear. */
  readonly spareNodes?: { readonly count: number; readonly from: number };
}

export function drawWeather(dice: Dice): Weather {
  const crowd = dice.chance(0.06);
  // A crowd is about being served at all: pauses of buckets would hide it.
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

/** The quiet time: calls take their ordinary time, and nothing is lost. */
export function calm(weather: Weather): Weather {
  const quiet = { ...weather, crash: 0, loss: 0, slow: 0, freeze: 0, falseEmpty: false, scarce: false };
  const { lasting } = weather;
  if (lasting === undefined) return quiet;
  const { late: _late, lost: _lost, races: _races, ...forEver } = lasting;
  return { ...quiet, lasting: forEver };
}
