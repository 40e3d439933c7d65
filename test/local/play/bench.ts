import { AuditFeed } from "../../../src/local/play/audit-feed.ts";
import { SchedulerModel } from "../../../src/local/workload/scheduler-model.ts";
import type { WorkloadJob } from "../../../src/local/workload/workload-job.ts";
import type { SimulatorEvent } from "../../../src/simulator/events.ts";

export const seconds = (count: number): number => count * 1000;

/** A job in seconds. */
export function job(name: string, submit: number, processors: number, run: number): WorkloadJob {
  return { name, submitMs: seconds(submit), processors, runMs: seconds(run), walltimeMs: undefined };
}

const LIMITS = [{ name: "cluster nodes", unit: "nodes", most: 2, heldUntil: "terminate-accepted" }] as const;

/** A feed and a scheduler that know each other, as a run connects them: at most two nodes, of four cores. */
export function openFeed(): { readonly feed: AuditFeed; readonly scheduler: SchedulerModel } {
  const feed = new AuditFeed(LIMITS);
  const scheduler = new SchedulerModel({
    maxSlots: 8,
    observer: { hostBusy: (event) => feed.busy(event), hostIdle: (event) => feed.idle(event) },
  });
  return { feed, scheduler };
}

/** Events of one node, "n1" on host "h1" with instance "i1" and so on; `at` in seconds. */
export function eventsOf(number: number) {
  const of = (at: number) => ({
    at: seconds(at),
    cluster: "demo",
    array: "execute",
    nodeId: `n${number}`,
    name: `execute-${number}`,
  });
  const stopUrl = "http://autoscaler/api/autostop/demo/token";
  return {
    created: (at: number): SimulatorEvent => ({
      ...of(at),
      kind: "node-created",
      machineType: "four",
      cores: 4,
      spot: false,
      requestId: "r",
    }),
    ready: (at: number): SimulatorEvent => ({
      ...of(at),
      kind: "node-ready",
      hostname: `h${number}`,
      instanceId: `i${number}`,
      configuration: { cyclecloud: { cluster: { autoscale: { stop_callback: stopUrl } } } },
    }),
    failed: (at: number): SimulatorEvent => ({
      ...of(at),
      kind: "node-failed",
      phase: "running",
      message: "lost",
    }),
    stopped: (at: number): SimulatorEvent => ({ ...of(at), kind: "terminate-accepted", requestId: "t" }),
    gone: (at: number): SimulatorEvent => ({ ...of(at), kind: "node-gone", reason: "terminated" }),
  };
}
