import type { NodeArrayOptions, SimulatorOptions } from "../../src/simulator/options.ts";
import { MACHINE_TYPES } from "./clusters.ts";
import { Stage } from "./stage.ts";

/*
 * An image that powers itself off some time after it is Ready, in one of two node arrays, and demand for ten nodes.
 */

export interface BadImage {
  readonly bootMinutes: number;
  readonly offMinutes: number;
  /** Whether there is a second node array, with a good image. */
  readonly hasOther: boolean;
  /** From this minute on nodes stay up. Absent: never. */
  readonly mendedAtMinute?: number;
}

const DAY = 86_400;

/** Plays this many hours. Returns the stage. Array "bad" has the higher priority. */
export async function playBadImage(
  { bootMinutes, offMinutes, hasOther, mendedAtMinute = Number.POSITIVE_INFINITY }: BadImage,
  hours: number,
): Promise<Stage> {
  const stage = new Stage({ simulator: clusterOf(bootMinutes * 60, hasOther) });
  const mendedAt = stage.clock.now() + mendedAtMinute * 60_000;
  const off: { readonly at: number; readonly nodeId: string }[] = [];
  stage.simulator.onEvent((event) => {
    if (event.kind !== "node-ready" || event.array !== "bad" || event.at >= mendedAt) return;
    off.push({ at: event.at + offMinutes * 60_000, nodeId: event.nodeId });
  });
  stage.join({
    nextEventAt: () => off[0]?.at ?? Number.POSITIVE_INFINITY,
    step: (now) => {
      while (off[0] !== undefined && off[0].at <= now)
        stage.simulator.faults.shutDown(off.shift()?.nodeId ?? "");
      return Promise.resolve();
    },
  });
  const jobs = [{ name: "j", iterations: 10, exclusive: true, constraints: { ncpus: 4 } }];
  await stage.during(stage.push({ version: 1, cluster: "demo", expirationInterval: DAY, jobs }));
  await stage.pass(hours * 3600);
  return stage;
}

function clusterOf(bootSeconds: number, hasOther: boolean): SimulatorOptions {
  const array = { region: "westeurope", machineTypes: ["Standard_F4s_v2"], maxCount: 1000 };
  const arrays: readonly NodeArrayOptions[] = [
    { ...array, name: "bad", priority: 2 },
    ...(hasOther ? [{ ...array, name: "good", priority: 1 }] : []),
  ];
  return {
    clusters: [{ name: "demo", maxCount: 1000, maxCoreCount: 4000, arrays }],
    machineTypes: MACHINE_TYPES,
    timings: {
      secondsToAllocate: 5,
      secondsToAcquire: 25,
      secondsToPrepare: bootSeconds - 30,
      secondsToTerminate: 30,
      jitter: 0,
    },
  };
}

/** How many nodes of an array were created. */
export const madeOf = (stage: Stage, array: string): number =>
  stage.eventsOf("node-created").filter((event) => event.array === array).length;
