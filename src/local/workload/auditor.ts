import { compareAuditEvents, AuditReplay } from "./audit-replay.ts";
import type { AuditEvent } from "./audit-replay.ts";
import type { AuditedLimit, AuditReport, DemandEvent, NodeCreated, NodeEvent } from "./audit-events.ts";
import { DemandHistory } from "./demand-history.ts";
import type { Milliseconds, Seconds } from "../../domain/units.ts";

/** An event comes at most this long after a later one. */
const LATE_MS: Milliseconds = 3_600_000;
/** Events are replayed when this many more have come. */
const MOST_EVENTS = 10_000;

interface AuditOptions {
  /** The limits in force from the beginning. */
  readonly limits: readonly AuditedLimit[];
  /** A creation may follow a demand for this long after the demand has ended, because a committed plan takes time. Default 300. */
  readonly graceSeconds?: Seconds;
}

/**
 * Watches a run from outside and counts what must never happen. It shares no code with the autoscaler, the simulator and the scheduler
 * model. It collects what CycleCloud accepted and what the scheduler observed, and replays it by time. Times are milliseconds on one axis.
 * Events may come in any order, but at most an hour late, because what is older than that is replayed and forgotten from time to time.
 */
export class Auditor {
  readonly #replay: AuditReplay;
  readonly #demands: DemandHistory;
  /** Those that are not replayed yet. */
  #events: AuditEvent[] = [];
  #foldAt = MOST_EVENTS;

  constructor({ limits, graceSeconds = 300 }: AuditOptions) {
    this.#demands = new DemandHistory(graceSeconds * 1000);
    this.#replay = new AuditReplay(limits, this.#demands);
  }

  nodeCreated(event: NodeCreated): void {
    this.#keep({ ...event, kind: "created" });
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
    this.#demands.add(event);
  }

  /** From now on these limits replace the earlier ones. */
  limitsChanged(at: number, limits: readonly AuditedLimit[]): void {
    this.#keep({ kind: "limits", at, limits });
  }

  /** Replays all events so far. Nodes that still exist are billed until `until`. */
  report(until: number): AuditReport {
    this.#replayBefore(Infinity);
    return this.#replay.report(until);
  }

  #add(kind: Exclude<AuditEvent["kind"], "created" | "limits">, { at, nodeId }: NodeEvent): void {
    this.#keep({ kind, at, nodeId });
  }

  #keep(event: AuditEvent): void {
    this.#events.push(event);
    if (this.#events.length < this.#foldAt) return;
    const latest = this.#events.reduce((last, { at }) => Math.max(last, at), event.at);
    this.#replayBefore(latest - LATE_MS);
    this.#demands.forgetBefore(latest - LATE_MS);
    this.#foldAt = this.#events.length + MOST_EVENTS;
  }

  #replayBefore(end: number): void {
    const inOrder = this.#events.toSorted(compareAuditEvents);
    const isLater = ({ at }: AuditEvent): boolean => at >= end;
    const later = inOrder.findIndex(isLater);
    this.#events = later < 0 ? [] : inOrder.slice(later);
    for (const event of later < 0 ? inOrder : inOrder.slice(0, later)) this.#replay.apply(event);
  }
}
