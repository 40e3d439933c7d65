import { parentPort, workerData } from "node:worker_threads";
import { play } from "./play.ts";
import type { Played } from "./score.ts";
import { sequenceOf } from "./search.ts";
import type { OpenStore } from "./rig.ts";
import { inMemory, inTable } from "./stores.ts";

/** The work of one worker: each `stride`-th seed from `first` on. */
export interface Work {
  readonly first: number;
  readonly last: number;
  readonly stride: number;
  readonly steps: number;
  /** Undefined: in memory. */
  readonly connectionString?: string;
}

export interface Told {
  readonly seed: number;
  readonly played: Played;
}

async function work({ first, last, stride, steps, connectionString }: Work): Promise<void> {
  for (let seed = first; seed <= last; seed += stride) {
    const openStore = await storeFor(connectionString, seed);
    const told: Told = { seed, played: await play(sequenceOf(seed, steps), openStore) };
    parentPort?.postMessage(told, []);
  }
}

async function storeFor(connectionString: string | undefined, seed: number): Promise<OpenStore> {
  if (connectionString === undefined) return inMemory;
  return inTable({ kind: "connection-string", connectionString }, `model${seed}`);
}

const given: Work = workerData;
await work(given);
