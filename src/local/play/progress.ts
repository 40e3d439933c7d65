import type { Summary } from "../../simulator/accounts.ts";
import type { SchedulerModel } from "../workload/scheduler-model.ts";

/** What the progress line is made of. */
export interface Moment {
  readonly now: number;
  readonly startedAt: number;
  readonly scheduler: SchedulerModel;
  readonly summary: Summary;
}

/** Live progress: one line that is rewritten on a terminal, a plain line every few seconds elsewhere. */
export interface Progress {
  show(moment: Moment): void;
  end(): void;
}

const TERMINAL_EVERY_MS = 200;
const PLAIN_EVERY_MS = 10_000;

export function createProgress(out: NodeJS.WriteStream): Progress {
  const every = out.isTTY ? TERMINAL_EVERY_MS : PLAIN_EVERY_MS;
  let shownAt = Number.NEGATIVE_INFINITY;
  return {
    show(moment) {
      const real = performance.now();
      if (real - shownAt < every) return;
      shownAt = real;
      const line = renderMoment(moment);
      out.write(out.isTTY ? `\r\u001B[2K${line.slice(0, Math.max(20, out.columns - 1))}` : `${line}\n`);
    },
    end() {
      if (out.isTTY) out.write("\r\u001B[2K");
    },
  };
}

function renderMoment({ now, startedAt, scheduler, summary }: Moment): string {
  const { waiting, running, completed } = scheduler.statistics();
  const minutes = Math.floor((now - startedAt) / 60_000);
  const time = `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")} h`;
  const nodes = Object.entries(summary.nodesByStatus)
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${count} ${status}`)
    .join(", ");
  return `${time}  jobs: ${waiting} waiting, ${running} running, ${completed} done  nodes: ${nodes || "none"}  cost: ${summary.cost.toFixed(2)}`;
}
