import { compareAuditEvents, AuditReplay } from "./audit-replay.ts";
import type { AuditEvent } from "./audit-replay.ts";
import type { AuditedLimit, AuditReport, DemandEvent, NodeCreated, NodeEvent } from "./audit-events.ts";
import { DemandHistory } from "./demand-history.ts";
import type { Seconds } from "../../domain/units.ts";

interface AuditOptions {
  /** The limits in force from the beginning. */
  readonly limits: readonly AuditedLimit[];
  /** A creation may follow a demand for this long after the demand has ended, because a committed plan takes time. Default 300. */
  readonly graceSeconds?: Seconds;
}

/**
 * Watches a run from outside and counts what must never happen. It shares no code with the autoscaler, the simulator and the scheduler
 * model. It collects what CycleCloud accepted and what the scheduler observed, in any order, and replays it by time for a report. Times are
 * milliseconds on one axis.
 */
export class Auditor {
  readonly #options: AuditOptions;
  readonly #events: AuditEvent[] = [];
  readonly #demands: DemandEvent[] = [];

  constructor(options: AuditOptions) {
    this.#options = options;
  }

  nodeCreated(event: NodeCreated): void {
    this.#events.push({ ...event, kind: "created" });
  }

  nodeReady(event: NodeEvent): void {
    this.#add("ready", event);
  }

  /** CycleCloud accepted a request to stop the node. */
  terminateAccepted(event: NodeEvent): void {
    this.#add("terminate-accepted", event);
  }

  nodeFailed(event: NodeEvent): void {
    this.#add("failed", event);
  }

  nodeGone(event: NodeEvent): void {
    this.#add("gone", event);
  }

  /** A node without jobs got one. */
  hostBusy(event: NodeEvent): void {
    this.#add("busy", event);
  }

  /** The last job of a node ended, or was lost with another of its nodes. Not called for a node that is stopped with its jobs. */
  hostIdle(event: NodeEvent): void {
    this.#add("idle", event);
  }

  demand(event: DemandEvent): void {
    this.#demands.push(event);
  }

  /** From now on these limits replace the earlier ones. */
  limitsChanged(at: number, limits: readonly AuditedLimit[]): void {
    this.#events.push({ kind: "limits", at, limits });
  }

  /** Replays all events so far. Nodes that still exist are billed until `until`. */
  report(until: number): AuditReport {
    const replay = new AuditReplay(
      this.#options.limits,
      new DemandHistory(this.#demands, (this.#options.graceSeconds ?? 300) * 1000),
    );
    for (const event of this.#events.toSorted(compareAuditEvents)) replay.apply(event);
    return replay.close(until);
  }

  #add(kind: Exclude<AuditEvent["kind"], "created" | "limits">, { at, nodeId }: NodeEvent): void {
    this.#events.push({ kind, at, nodeId });
  }
}
