import type { AuditedLimit, AuditReport, NodeCreated, NodeEvent, Violation } from "./audit-events.ts";
import type { DemandHistory } from "./demand-history.ts";
import type { Milliseconds } from "../../domain/units.ts";

export type AuditEvent =
  | (NodeCreated & { readonly kind: "created" })
  | (NodeEvent & { readonly kind: "ready" | "terminate-accepted" | "failed" | "gone" | "busy" | "idle" })
  | { readonly kind: "limits"; readonly at: number; readonly limits: readonly AuditedLimit[] };

/** A job that ends at the same moment as another event has ended. Otherwise events of one moment keep their order. */
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

/** The books of the auditor during one replay of its events, which are applied in order. */
export class AuditReplay {
  #limits: readonly AuditedLimit[];
  readonly #demands: DemandHistory;
  readonly #present = new Map<string, AuditedNode>();
  readonly #violations: Violation[] = [];
  readonly #scaleUps = new Set<string>();
  readonly #scaleDowns = new Set<number>();
  /** The current use of each limit in force, kept up to date: counting 6,000 nodes at each of 6,000 creations takes too long. */
  #used: number[];
  #liveNodes = 0;
  #liveCores = 0;
  #mostLiveNodes = 0;
  #nodesCreated = 0;
  #nodesStopped = 0;
  #billedMs = 0;
  #bootMs = 0;
  #idleMs = 0;

  constructor(limits: readonly AuditedLimit[], demands: DemandHistory) {
    this.#limits = limits;
    this.#used = limits.map(() => 0);
    this.#demands = demands;
  }

  apply(event: AuditEvent): void {
    if (event.kind === "created") return this.#create(event);
    if (event.kind === "limits") return this.#changeLimits(event.limits);
    const node = this.#present.get(event.nodeId);
    if (node === undefined) return;
    if (event.kind === "ready") node.readyAt ??= event.at;
    if (event.kind === "busy") node.busySince ??= event.at;
    if (event.kind === "idle") endBusy(node, event.at);
    if (event.kind === "failed") this.#fail(node);
    if (event.kind === "terminate-accepted") this.#stop(node, event.at);
    if (event.kind === "gone") this.#remove(node, event.at);
  }

  close(until: number): AuditReport {
    for (const node of this.#present.values()) this.#bill(node, until);
    const count = (kind: Violation["kind"]): number =>
      this.#violations.filter((violation) => violation.kind === kind).length;
    return {
      busyNodesStopped: count("busy-node-stopped"),
      limitsExceeded: count("limit-exceeded"),
      nodesBeyondDemand: count("node-beyond-demand"),
      violations: this.#violations,
      nodesCreated: this.#nodesCreated,
      nodesStopped: this.#nodesStopped,
      nodeHours: this.#billedMs / 3_600_000,
      bootNodeHours: this.#bootMs / 3_600_000,
      idleNodeHours: this.#idleMs / 3_600_000,
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
    this.#count(node, 1, () => true);
    this.#changeLive(node, 1);
    this.#nodesCreated += 1;
    this.#scaleUps.add(created.requestId ?? `at ${created.at}`);
    this.#checkLimits(created);
  }

  /** Compared in cores, which for nodes of one size is the same as in nodes and for mixed sizes still makes sense. */
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
    this.#limits.forEach((limit, index) => {
      const used = this.#used[index] ?? 0;
      if (!covers(limit, created) || used <= limit.most) return;
      this.#violations.push({
        kind: "limit-exceeded",
        at: created.at,
        nodeId: created.nodeId,
        limit: limit.name,
        most: limit.most,
        used,
      });
    });
  }

  #changeLimits(limits: readonly AuditedLimit[]): void {
    this.#limits = limits;
    this.#used = limits.map(() => 0);
    for (const node of this.#present.values())
      this.#count(node, 1, (limit) => node.stoppedAt === undefined || heldUntil(limit) === "gone");
  }

  #fail(node: AuditedNode): void {
    if (isLive(node)) this.#changeLive(node, -1);
    node.failed = true;
  }

  #stop(node: AuditedNode, at: number): void {
    // Asking again for a node that is already being stopped changes nothing and is no mistake.
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
    this.#count(node, -1, (limit) => heldUntil(limit) === "terminate-accepted");
    this.#nodesStopped += 1;
    this.#scaleDowns.add(at);
  }

  #remove(node: AuditedNode, at: number): void {
    if (isLive(node)) this.#changeLive(node, -1);
    this.#count(node, -1, (limit) => node.stoppedAt === undefined || heldUntil(limit) === "gone");
    this.#bill(node, at);
    this.#present.delete(node.created.nodeId);
  }

  #bill(node: AuditedNode, until: number): void {
    endBusy(node, until);
    const billed = Math.max(0, until - node.created.at);
    const boot = (node.readyAt ?? until) - node.created.at;
    this.#billedMs += billed;
    this.#bootMs += Math.max(0, boot);
    this.#idleMs += Math.max(0, billed - boot - node.busyMs);
  }

  #changeLive(node: AuditedNode, sign: 1 | -1): void {
    this.#liveNodes += sign;
    this.#liveCores += sign * node.created.cores;
    this.#mostLiveNodes = Math.max(this.#mostLiveNodes, this.#liveNodes);
  }

  #count(node: AuditedNode, sign: 1 | -1, applies: (limit: AuditedLimit) => boolean): void {
    this.#limits.forEach((limit, index) => {
      if (!covers(limit, node.created) || !applies(limit)) return;
      this.#used[index] = (this.#used[index] ?? 0) + sign * measureNode(limit, node.created);
    });
  }
}

function isLive(node: AuditedNode): boolean {
  return !node.failed && node.stoppedAt === undefined;
}

function endBusy(node: AuditedNode, at: number): void {
  if (node.busySince === undefined) return;
  node.busyMs += Math.max(0, at - node.busySince);
  node.busySince = undefined;
}

function heldUntil(limit: AuditedLimit): "gone" | "terminate-accepted" {
  return limit.heldUntil ?? "gone";
}

function covers({ only }: AuditedLimit, node: NodeCreated): boolean {
  if (only === undefined) return true;
  if (only.array !== undefined && only.array !== node.array) return false;
  if (only.machineTypes !== undefined && !only.machineTypes.includes(node.machineType)) return false;
  return only.spot === undefined || only.spot === node.spot;
}

function measureNode({ unit }: AuditedLimit, node: NodeCreated): number {
  if (unit === "nodes") return 1;
  return unit === "cores" ? node.cores : (node.quotaCores ?? node.cores);
}
