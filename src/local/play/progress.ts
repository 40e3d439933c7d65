import type { Summary } from "../../simulator/accounts.ts";
import type { SchedulerModel } from "../workload/scheduler-model.ts";
import type { Milliseconds } from "../../domain/units.ts";

/** The data of the progress line. */
export interface Moment {
  readonly now: number;
  readonly startedAt: number;
  /** Of the whole workload, submitted or not. */
  readonly jobs: number;
  readonly scheduler: Pick<SchedulerModel, "statistics">;
  readonly summary: Pick<Summary, "nodesByStatus" | "cost">;
}

/** Live progress: one line that is rewritten on a terminal, a plain line every few seconds elsewhere. */
export interface Progress {
  /** Shows the state of the run if it is time to. Only then is `observe` called. */
  show(observe: () => Moment): void;
  /** Clears the terminal's line. */
  end(): void;
}

/** The output for progress: process.stderr, or a test's buffer. */
interface ProgressOutput {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Where a run writes: lines to standard output and standard error, and its progress. */
export interface JobOutput {
  readonly say: (line: string) => unknown;
  readonly complain: (line: string) => unknown;
  readonly progress: ProgressOutput;
}

const TERMINAL_EVERY_MS: Milliseconds = 200;
const PLAIN_EVERY_MS: Milliseconds = 10_000;
const CLEAR_LINE = "\r\u001B[2K";

/** `realNow` is in real milliseconds: people read in real time, at any speed of the run. */
export function createProgress(
  out: ProgressOutput,
  realNow: () => number = () => performance.now(),
): Progress {
  const terminal = out.isTTY === true;
  const every = terminal ? TERMINAL_EVERY_MS : PLAIN_EVERY_MS;
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    show(observe) {
      const real = realNow();
      if (real - shownAt < every) return;
      shownAt = real;
      const line = renderMoment(observe());
      out.write(
        terminal ? `${CLEAR_LINE}${line.slice(0, Math.max(20, (out.columns ?? 80) - 1))}` : `${line}\n`,
      );
    },
    end() {
      if (terminal) out.write(CLEAR_LINE);
    },
  };
}

function renderMoment({ now, startedAt, jobs, scheduler, summary }: Moment): string {
  const { waiting, running, completed } = scheduler.statistics();
  const nodes = Object.entries(summary.nodesByStatus)
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${count} ${status}`)
    .join(", ");
  return (
    `${hoursAndMinutes(now - startedAt)}  jobs: ${waiting} waiting, ${running} running, ${completed} of ${jobs} done` +
    `  nodes: ${nodes || "none"}  cost: ${summary.cost.toFixed(2)} USD`
  );
}

/** Simulated time as "1:05 h". */
export function hoursAndMinutes(milliseconds: Milliseconds): string {
  const minutes = Math.floor(milliseconds / 60_000);
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")} h`;
}
