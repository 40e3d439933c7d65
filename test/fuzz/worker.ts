import { parentPort } from "node:worker_threads";
import type { Fault, Inputs } from "./input.ts";
import { play } from "./play.ts";

/** Inputs to play, as JSON: `__proto__` and lone surrogates come through. */
export interface Order {
  readonly inputs: string;
  readonly stores: "memory" | "tables";
}

export interface Report {
  readonly faults: readonly Fault[];
}

async function answer({ inputs, stores }: Order): Promise<void> {
  const given: Inputs = JSON.parse(inputs);
  const report: Report = { faults: await play(given, stores) };
  parentPort?.postMessage(report, []);
}

parentPort?.on("message", (order: Order) => void answer(order));
