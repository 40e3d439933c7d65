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
  return { ...weather, crash: 0, loss: 0, slow: 0, freeze: 0, falseEmpty: false, scarce: false };
}
