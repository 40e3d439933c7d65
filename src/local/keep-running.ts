import { setTimeout as sleep } from "node:timers/promises";
import { untilAborted } from "./interruption.ts";
import type { Milliseconds, Seconds } from "../domain/units.ts";

/** A running process. */
interface Process {
  readonly pid: number;
  /** Resolves to the exit code, or to the signal's name, when it has ended. */
  readonly exited: Promise<number | string>;
  /** Ends it. Resolves like `exited`. */
  stop(): Promise<number | string>;
}

export interface KeepOptions {
  /** The name of the process in sentences: "the function app". */
  readonly name: string;
  /** Starts it, and rejects if it cannot be started. */
  readonly start: () => Promise<Process>;
  /** Called with a line whenever it has ended, could not be started, or runs. */
  readonly say: (line: string) => void;
  /** The process if it runs already. Absent: it must be started. */
  readonly first?: Process;
  /** Waits this many milliseconds, or until `signal` aborts. Absent: in real time. */
  readonly pause?: (milliseconds: Milliseconds, signal: AbortSignal) => Promise<void>;
}

interface Kept {
  /** Ends the process and does not start it again. */
  stop(): Promise<void>;
}

/** The first pause. Each later one is twice as long. */
const SHORTEST_SECONDS: Seconds = 1;
const LONGEST_SECONDS: Seconds = 60;
/** After this long the pauses begin again with the shortest. */
const STEADY_MS: Milliseconds = 60_000;

/** Starts a process again whenever it ends by itself, or is killed, until `stop`. */
export function keepRunning(options: KeepOptions): Kept {
  const stopping = new AbortController();
  const ended = run(options, stopping.signal);
  return {
    stop: () => {
      stopping.abort();
      return ended;
    },
  };
}

async function run(options: KeepOptions, signal: AbortSignal): Promise<void> {
  const { name, say, pause = pauseReally } = options;
  let current = options.first;
  let starts = current === undefined ? 0 : 1;
  let seconds = SHORTEST_SECONDS;
  const tryAgain = async (what: string): Promise<void> => {
    say(`${name} ${what} in ${seconds} s`);
    await pause(seconds * 1000, signal);
    seconds = Math.min(LONGEST_SECONDS, 2 * seconds);
  };
  while (!signal.aborted) {
    if (current === undefined) {
      const started = await attempt(options.start);
      current = started.process;
      if (current === undefined) {
        await tryAgain(`could not be started (${started.why}); the next try is`);
        continue;
      }
      say(`${name} ${runsText(current, (starts += 1))}`);
    }
    const began = performance.now();
    const how = await Promise.race([current.exited, untilAborted(signal)]);
    if (how === undefined) break;
    current = undefined;
    if (performance.now() - began >= STEADY_MS) seconds = SHORTEST_SECONDS;
    await tryAgain(`has ended (${how}); it is started again`);
  }
  await current?.stop();
}

function runsText({ pid }: Process, starts: number): string {
  if (starts === 1) return `runs (process ${pid})`;
  return `runs again (process ${pid}, started again ${starts - 1} time${starts === 2 ? "" : "s"})`;
}

type Attempt =
  | { readonly process: Process; readonly why?: undefined }
  | { readonly process?: undefined; readonly why: string };

async function attempt(start: KeepOptions["start"]): Promise<Attempt> {
  try {
    return { process: await start() };
  } catch (error) {
    return { why: reasonOf(error instanceof Error ? error.message : String(error)) };
  }
}

/** From the output of a process: the line with its error ("RestError: connect ECONNREFUSED"), or else the first line. */
function reasonOf(text: string): string {
  const lines = text.split("\n");
  return lines.find((line) => /^\w*Error( \[\w+\])?: /.test(line)) ?? lines[0] ?? text;
}

async function pauseReally(milliseconds: Milliseconds, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch(() => undefined);
}
