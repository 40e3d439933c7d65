import type { SimulatorEvent } from "../../simulator/events.ts";
import { Auditor } from "../workload/auditor.ts";
import type { AuditedLimit } from "../workload/audit-events.ts";
import type { HostEvent } from "../workload/scheduler-events.ts";
import type { SchedulerModel } from "../workload/scheduler-model.ts";
import { readStopUrl } from "./stop-url.ts";

/** Passes the events of the simulator and the scheduler model to the auditor, and the hosts to the scheduler. */
export class AuditFeed {
  readonly auditor: Auditor;
  readonly #nodeOfInstance = new Map<string, string>();
  readonly #instanceOfNode = new Map<string, string>();
  readonly #coresOfNode = new Map<string, number>();
  readonly #hostOfNode = new Map<string, string>();
  readonly #creates: { readonly at: number; readonly added: number }[] = [];

  constructor(limits: readonly AuditedLimit[]) {
    this.auditor = new Auditor({ limits });
  }

  /** Creates that CycleCloud accepted, for measuring our own latency. */
  get creates(): readonly { readonly at: number; readonly added: number }[] {
    return this.#creates;
  }

  busy(event: HostEvent): void {
    const nodeId = this.#nodeOfInstance.get(event.instanceId);
    if (nodeId !== undefined) this.auditor.hostBusy({ at: event.at, nodeId });
  }

  idle(event: HostEvent): void {
    const nodeId = this.#nodeOfInstance.get(event.instanceId);
    if (nodeId !== undefined) this.auditor.hostIdle({ at: event.at, nodeId });
  }

  /**
   * Handles one event of the simulator. A node joins the scheduler when it is Ready, and leaves it when it fails, goes down or is removed.
   * Returns whether the scheduler's hosts changed.
   */
  handle(event: SimulatorEvent, scheduler: SchedulerModel): boolean {
    switch (event.kind) {
      case "node-created":
        this.#coresOfNode.set(event.nodeId, event.cores);
        this.auditor.nodeCreated(event);
        return false;
      case "node-ready": {
        this.#nodeOfInstance.set(event.instanceId, event.nodeId);
        this.#instanceOfNode.set(event.nodeId, event.instanceId);
        this.#hostOfNode.set(event.nodeId, event.hostname);
        this.auditor.nodeReady(event);
        const stopUrl = readStopUrl(event.configuration);
        scheduler.hostUp(
          {
            hostname: event.hostname,
            instanceId: event.instanceId,
            cores: this.#coresOfNode.get(event.nodeId) ?? 1,
            ...(stopUrl === undefined ? {} : { stopUrl }),
          },
          event.at,
        );
        return true;
      }
      case "node-failed":
        this.auditor.nodeFailed(event);
        return this.#leave(event, scheduler);
      case "terminate-accepted":
        this.auditor.terminateAccepted(event);
        return this.#leave(event, scheduler);
      case "node-gone":
        return this.#go(event, scheduler);
      case "node-down":
      case "deallocate-accepted":
      case "node-deallocated":
        return this.#leave(event, scheduler);
      case "create-accepted":
        this.#creates.push({ at: event.at, added: event.added });
        return false;
      case "start-accepted":
      case "node-up":
      case "status-read":
      case "request-refused":
        return false;
    }
  }

  /** The node is gone, and nothing of it is needed any more. */
  #go(event: { readonly nodeId: string; readonly at: number }, scheduler: SchedulerModel): boolean {
    const { nodeId } = event;
    this.auditor.nodeGone(event);
    const hasLeft = this.#leave(event, scheduler);
    const instance = this.#instanceOfNode.get(nodeId);
    if (instance !== undefined) this.#nodeOfInstance.delete(instance);
    for (const known of [this.#coresOfNode, this.#instanceOfNode]) known.delete(nodeId);
    return hasLeft;
  }

  #leave(event: { readonly nodeId: string; readonly at: number }, scheduler: SchedulerModel): boolean {
    const hostname = this.#hostOfNode.get(event.nodeId);
    if (hostname === undefined) return false;
    this.#hostOfNode.delete(event.nodeId);
    scheduler.hostGone(hostname, event.at);
    return true;
  }
}
