import type { AuditedLimit, AuditReport, NodeCreated, NodeEvent, Violation } from "./audit-events.ts";
import type { DemandHistory } from "./demand-history.ts";
import { LimitUsage } from "./limit-usage.ts";
import type { Milliseconds } from "../../domain/units.ts";

export type AuditEvent =
  | (NodeCreated & { readonly kind: "created" })
  | (NodeEvent & { readonly kind: "ready" | "terminate-accepted" | "failed" | "gone" | "busy" | "idle" })
  | { readonly kind: "limits"; readonly at: number; readonly limits: readonly AuditedLimit[] };

/** Orders events by time. At one moment the end of a job comes first; other events keep their order. */
export function compareAuditEvents(a: AuditEvent, b: AuditEvent): number {
  return a.at - b.at || Number(b.kind === "idle") - Number(a.kind === "idle");
}

interface AuditedNode {
  readonly created: NodeCreated;
  readyAt: number | undefined;
  stoppedAt: number | undefined;
  failed: boolean;
  busySince: number | undefined;
  busyMs: Milliseconds;
}

/** One replay of a run's events, which must be applied in order of time. Counts violations, node hours and scalings. */
export class AuditReplay {
  readonly #limits: LimitUsage;
  readonly #demands: DemandHistory;
  readonly #present = new Map<string, AuditedNode>();
  readonly #violations: Violation[] = [];
  readonly #scaleUps = new Set<string>();
  readonly #scaleDowns = new Set<number>();
  #liveNodes = 0;
  #liveCores = 0;
  #mostLiveNodes = 0;
  #nodesCreated = 0;
  #nodesStopped = 0;
  #billedMs = 0;
  #bootMs = 0;
  #idleMs = 0;

  constructor(limits: readonly AuditedLimit[], demands: DemandHistory) {
    this.#limits = new LimitUsage(limits);
    this.#demands = demands;
  }

  /** Events of nodes that do not exist, or no longer, count for nothing. */
  apply(event: AuditEvent): void {
    if (event.kind === "created") return this.#create(event);
    if (event.kind === "limits") return this.#limits.replace(event.limits, this.#present.values());
    const node = this.#present.get(event.nodeId);
    if (node === undefined) return;
    if (event.kind === "ready") node.readyAt ??= event.at;
    if (event.kind === "busy") node.busySince ??= event.at;
    if (event.kind === "idle") endBusy(node, event.at);
    if (event.kind === "failed") this.#fail(node);
    if (event.kind === "terminate-accepted") this.#stop(node, event.at);
    if (event.kind === "gone") this.#remove(node, event.at);
  }

  /** The report up to `until` (ms). Nodes that are still there are billed until then. */
  report(until: number): AuditReport {
    const hours = { billed: this.#billedMs, boot: this.#bootMs, idle: this.#idleMs };
    for (const node of this.#present.values()) {
      const { billed, boot, idle } = billOf(node, until);
      hours.billed += billed;
      hours.boot += boot;
      hours.idle += idle;
    }
    const count = (kind: Violation["kind"]): number =>
      this.#violations.filter((violation) => violation.kind === kind).length;
    return {
      busyNodesStopped: count("busy-node-stopped"),
      limitsExceeded: count("limit-exceeded"),
      nodesBeyondDemand: count("node-beyond-demand"),
      violations: this.#violations,
      nodesCreated: this.#nodesCreated,
      nodesStopped: this.#nodesStopped,
      nodeHours: hours.billed / 3_600_000,
      bootNodeHours: hours.boot / 3_600_000,
      idleNodeHours: hours.idle / 3_600_000,
      scaleUps: this.#scaleUps.size,
      scaleDowns: this.#scaleDowns.size,
      mostLiveNodes: this.#mostLiveNodes,
    };
  }

  #create(created: NodeCreated): void {
    if (this.#present.has(created.nodeId)) return;
    this.#checkDemand(created);
    const node: AuditedNode = {
      created,
      readyAt: undefined,
      stoppedAt: undefined,
      failed: false,
      busySince: undefined,
      busyMs: 0,
    };
    this.#present.set(created.nodeId, node);
    this.#limits.add(node);
    this.#changeLive(node, 1);
    this.#nodesCreated += 1;
    this.#scaleUps.add(created.requestId ?? `at ${created.at}`);
    this.#checkLimits(created);
  }

  /** Compared in cores: for nodes of one size that is the same as in nodes, and it also fits mixed sizes. */
  #checkDemand({ at, nodeId, cores }: NodeCreated): void {
    const slotsAsked = this.#demands.findLargest(at);
    if (this.#liveCores < slotsAsked) return;
    this.#violations.push({
      kind: "node-beyond-demand",
      at,
      nodeId,
      slotsAsked,
      nodesNeeded: Math.ceil(slotsAsked / cores),
      liveNodes: this.#liveNodes,
      liveCores: this.#liveCores,
    });
  }

  #checkLimits(created: NodeCreated): void {
    const { at, nodeId } = created;
    for (const { limit, used } of this.#limits.findExceeded(created))
      this.#violations.push({
        kind: "limit-exceeded",
        at,
        nodeId,
        limit: limit.name,
        most: limit.most,
        used,
      });
  }

  #fail(node: AuditedNode): void {
    if (isLive(node)) this.#changeLive(node, -1);
    node.failed = true;
  }

  #stop(node: AuditedNode, at: number): void {
    // A second request for a node that is already being stopped has no effect, and is no violation.
    if (node.stoppedAt !== undefined) return;
    if (node.busySince !== undefined)
      this.#violations.push({
        kind: "busy-node-stopped",
        at,
        nodeId: node.created.nodeId,
        busySince: node.busySince,
      });
    if (isLive(node)) this.#changeLive(node, -1);
    node.stoppedAt = at;
    this.#limits.stop(node);
    this.#nodesStopped += 1;
    this.#scaleDowns.add(at);
  }

  #remove(node: AuditedNode, at: number): void {
    if (isLive(node)) this.#changeLive(node, -1);
    this.#limits.remove(node);
    const { billed, boot, idle } = billOf(node, at);
    this.#billedMs += billed;
    this.#bootMs += boot;
    this.#idleMs += idle;
    this.#present.delete(node.created.nodeId);
  }

  #changeLive(node: AuditedNode, sign: 1 | -1): void {
    this.#liveNodes += sign;
    this.#liveCores += sign * node.created.cores;
    this.#mostLiveNodes = Math.max(this.#mostLiveNodes, this.#liveNodes);
  }
}

function isLive(node: AuditedNode): boolean {
  return !node.failed && node.stoppedAt === undefined;
}

/** The time of a node until then. */
function billOf({ created, readyAt, busySince, busyMs }: AuditedNode, until: number) {
  const billed = Math.max(0, until - created.at);
  const boot = (readyAt ?? until) - created.at;
  const busy = busyMs + (busySince === undefined ? 0 : Math.max(0, until - busySince));
  return { billed, boot: Math.max(0, boot), idle: Math.max(0, billed - boot - busy) };
}

function endBusy(node: AuditedNode, at: number): void {
  if (node.busySince === undefined) return;
  node.busyMs += Math.max(0, at - node.busySince);
  node.busySince = undefined;
}
