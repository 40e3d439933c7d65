import { Worker } from "node:worker_threads";
import type { Fault, Inputs } from "./input.ts";
import type { Order, Report } from "./worker.ts";

/** Processor time without an end, over all calls that one play makes: then it hangs. */
const HANG_MS = 60_000;
const LOOK_EVERY_MS = 2000;
/** What the app may need above idle, for any body up to its limit, and the app itself. */
const MEMORY_MB = 600;
/** Larger inputs come through no door. A thread would need more memory to read them from its order than the app may have. */
const MOST_CHARACTERS = 40 * 2 ** 20;
/** As deep as the thread of a function; that of a worker is deeper. */
const STACK_MB = 1;
/** Inputs that one process sees: what it remembers of their clusters goes with it. */
const PLAYS_OF_ONE = 400;

/** Plays inputs in a thread that can be ended: one that hangs or needs too much memory is a fault like others. */
export class Crew {
  #worker: Worker | undefined;
  #plays = 0;

  async play(inputs: Inputs, stores: Order["stores"]): Promise<readonly Fault[]> {
    const order: Order = { inputs: JSON.stringify(inputs), stores };
    if (order.inputs.length > MOST_CHARACTERS) return [];
    if (this.#plays >= PLAYS_OF_ONE) await this.end();
    this.#plays += 1;
    this.#worker ??= new Worker(new URL("./worker.ts", import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB, stackSizeMb: STACK_MB },
      execArgv: [],
    });
    const worker = this.#worker;
    const ended = Promise.withResolvers<readonly Fault[]>();
    const onReport = ({ faults }: Report) => ended.resolve(faults);
    const onError = (error: Error) =>
      ended.resolve([{ kind: `dies (${error.name}: ${codeOf(error)})`, what: String(error.stack) }]);
    worker.on("message", onReport).on("error", onError);
    let begun: number | undefined;
    const look = async () => {
      const used = await usedBy(worker);
      begun ??= used;
      const what = `no end after ${HANG_MS / 1000} s of processor time`;
      if ((used ?? 0) - (begun ?? 0) > HANG_MS) ended.resolve([{ kind: "hangs", what }]);
    };
    const watch = setInterval(() => void look(), LOOK_EVERY_MS);
    worker.postMessage(order, []);
    const faults = await ended.promise;
    clearInterval(watch);
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

/** Milliseconds of processor time; undefined: the thread has not begun, or is over. */
async function usedBy(worker: Worker): Promise<number | undefined> {
  try {
    const { user, system } = await worker.cpuUsage();
    return (user + system) / 1000;
  } catch {
    return undefined;
  }
}
