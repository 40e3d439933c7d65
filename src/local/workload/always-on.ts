import type { Seconds } from "../../domain/units.ts";
import { SchedulerModel } from "./scheduler-model.ts";
import type { WorkloadJob } from "./workload-job.ts";

/** What the same workload takes on a cluster of which no node ever stops. */
interface AlwaysOn {
  /** All nodes, from the beginning until the last job has ended. */
  readonly nodeHours: number;
  readonly meanWaitSeconds: Seconds;
}

/** Plays the jobs, in the order of their arrivals, on nodes that are all ready at time 0 and stay. Jobs that are too wide are left out. */
export function playAlwaysOn(
  jobs: readonly WorkloadJob[],
  { nodes, coresPerNode }: { readonly nodes: number; readonly coresPerNode: number },
): AlwaysOn {
  const model = new SchedulerModel({ maxSlots: nodes * coresPerNode });
  for (let node = 1; node <= nodes; node += 1)
    model.hostUp({ hostname: `node-${node}`, instanceId: `node-${node}`, cores: coresPerNode }, 0);
  let now = 0;
  for (let next = 0; ;) {
    const at = Math.min(jobs[next]?.submitMs ?? Infinity, model.nextEventAt() ?? Infinity);
    if (at === Infinity) break;
    now = at;
    for (let job = jobs[next]; job !== undefined && job.submitMs <= now; job = jobs[next]) {
      model.submit(job, now);
      next += 1;
    }
    model.advance(now);
  }
  return {
    nodeHours: (nodes * now) / 3_600_000,
    meanWaitSeconds: model.statistics().meanWaitSeconds,
  };
}
