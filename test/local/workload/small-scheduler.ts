import { SchedulerModel } from "../../../src/local/workload/scheduler-model.ts";
import type { SchedulerOptions } from "../../../src/local/workload/scheduler-events.ts";
import type { WorkloadJob } from "../../../src/local/workload/workload-job.ts";

/** A job in seconds; `walltime` unknown unless given. */
export function job(name: string, processors: number, run: number, walltime?: number): WorkloadJob {
  const walltimeMs = walltime === undefined ? undefined : walltime * 1000;
  return { name, submitMs: 0, processors, runMs: run * 1000, walltimeMs };
}

/** A scheduler with hosts `h1`, `h2`, ... of these cores, up since 0. */
export function schedulerWith(
  cores: readonly number[],
  options: Partial<SchedulerOptions> = {},
): SchedulerModel {
  const model = new SchedulerModel({ maxSlots: cores.reduce((sum, one) => sum + one, 0), ...options });
  cores.forEach((count, index) =>
    model.hostUp({ hostname: `h${index + 1}`, instanceId: `i${index + 1}`, cores: count }, 0),
  );
  return model;
}

export function startedNames(model: SchedulerModel, now: number): readonly string[] {
  return model.advance(now).started.map(({ name }) => name);
}
