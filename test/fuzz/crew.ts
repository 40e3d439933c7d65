import { Worker } from "node:worker_threads";
import type { Fault, Inputs } from "./input.ts";
import type { Order, Report } from "./worker.ts";

/** Real time without an answer, on a busy machine: then it hangs. */
const HANG_MS = 90_000;
/** What the app may need above idle, for any body up to its limit, and the app itself. */
const MEMORY_MB = 600;
/** Inputs that one process sees: what it remembers of their clusters goes with it. */
const PLAYS_OF_ONE = 400;

/** Plays inputs in a thread that can be ended: one that hangs or needs too much memory is a fault like others. */
export class Crew {
  #worker: Worker | undefined;
  #plays = 0;

  async play(inputs: Inputs, stores: Order["stores"]): Promise<readonly Fault[]> {
    if (this.#plays >= PLAYS_OF_ONE) await this.end();
    this.#plays += 1;
    this.#worker ??= new Worker(new URL("./worker.ts", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
      execArgv: [],
    });
    const worker = this.#worker;
    const ended = Promise.withResolvers<readonly Fault[]>();
    const onReport = ({ faults }: Report) => ended.resolve(faults);
    const onError = (error: Error) =>
      ended.resolve([{ kind: `dies (${error.name}: ${codeOf(error)})`, what: String(error.stack) }]);
    const hang = setTimeout(
      () => ended.resolve([{ kind: "hangs", what: `no end after ${HANG_MS / 1000} s` }]),
      HANG_MS,
    );
    worker.on("message", onReport).on("error", onError);
    const order: Order = { inputs: JSON.stringify(inputs), stores };
    worker.postMessage(order);
    const faults = await ended.promise;
    clearTimeout(hang);
    worker.off("message", onReport).off("error", onError);
    if (faults.some(({ kind }) => kind === "hangs" || kind.startsWith("dies"))) await this.end();
    return faults;
  }

  async end(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#plays = 0;
    await worker?.terminate();
  }
}

function codeOf(error: Error): string {
  return "code" in error ? String(error.code) : "";
}
