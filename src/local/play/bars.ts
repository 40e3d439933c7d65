import type { Milliseconds } from "../../domain/units.ts";
import type { Moment, Progress } from "./progress.ts";
import { hoursAndMinutes } from "./progress.ts";

/** The widest that a bar gets. */
const NODES_WIDTH = 32;
const JOBS_WIDTH = 20;

/** A moment of a run as bars: nodes (`#` ready, `-` on the way or leaving, `.` room) and jobs (`#` running, `-` waiting). */
function renderBars({ now, startedAt, scheduler, summary }: Moment, nodes: number): string {
  const { waiting, running, completed } = scheduler.statistics();
  const live = Object.values(summary.nodesByStatus).reduce((sum, count) => sum + count, 0);
  const ready = summary.nodesByStatus["Ready"] ?? 0;
  const perSign = Math.ceil(nodes / NODES_WIDTH);
  const nodeBar = bar(ready / perSign, live / perSign).padEnd(Math.ceil(nodes / perSign), ".");
  const jobBar = bar(running, running + waiting)
    .slice(0, JOBS_WIDTH)
    .padEnd(JOBS_WIDTH);
  return (
    `${hoursAndMinutes(now - startedAt).padStart(7)}  nodes ${nodeBar} ${String(live).padStart(2)}` +
    `  jobs ${jobBar} ${running} running, ${waiting} waiting, ${completed} done`
  );
}

/** `full` signs of one kind, and of the other up to `all`. What is above 0 has a sign. */
function bar(full: number, all: number): string {
  return "#".repeat(Math.ceil(full)).padEnd(Math.ceil(all), "-");
}

/** A progress that says a line of bars each time that so much simulated time has passed. */
export function createBars(nodes: number, everyMs: Milliseconds, say: (line: string) => unknown): Progress {
  let dueAt = Number.NEGATIVE_INFINITY;
  return {
    show(observe) {
      const moment = observe();
      if (moment.now < dueAt) return;
      dueAt = moment.startedAt + everyMs * (Math.floor((moment.now - moment.startedAt) / everyMs) + 1);
      say(renderBars(moment, nodes));
    },
    end: () => undefined,
  };
}
