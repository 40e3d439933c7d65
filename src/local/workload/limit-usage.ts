import type { AuditedLimit, NodeCreated } from "./audit-events.ts";

/** A node as limits see it. `stoppedAt` is undefined until its stop was accepted. */
interface LimitedNode {
  readonly created: NodeCreated;
  readonly stoppedAt: number | undefined;
}

/** A limit that more nodes use than it allows. */
interface Excess {
  readonly limit: AuditedLimit;
  readonly used: number;
}

/** The present use of each limit in force. It is kept up to date, because counting 6,000 nodes at each of 6,000 creations takes too long. */
export class LimitUsage {
  #limits: readonly AuditedLimit[];
  #used: number[];

  constructor(limits: readonly AuditedLimit[]) {
    this.#limits = limits;
    this.#used = limits.map(() => 0);
  }

  /** From now on these limits are in force. `nodes` are all nodes that are not gone. */
  replace(limits: readonly AuditedLimit[], nodes: Iterable<LimitedNode>): void {
    this.#limits = limits;
    this.#used = limits.map(() => 0);
    for (const node of nodes) this.#count(node, 1, (limit) => counts(limit, node));
  }

  add(node: LimitedNode): void {
    this.#count(node, 1, () => true);
  }

  /** The node's stop was accepted. */
  stop(node: LimitedNode): void {
    this.#count(node, -1, (limit) => heldUntil(limit) === "terminate-accepted");
  }

  /** The node is gone. */
  remove(node: LimitedNode): void {
    this.#count(node, -1, (limit) => counts(limit, node));
  }

  /** The limits of a new node that are exceeded now. */
  findExceeded(created: NodeCreated): readonly Excess[] {
    return this.#limits.flatMap((limit, index) => {
      const used = this.#used[index] ?? 0;
      return covers(limit, created) && used > limit.most ? [{ limit, used }] : [];
    });
  }

  #count(node: LimitedNode, sign: 1 | -1, applies: (limit: AuditedLimit) => boolean): void {
    this.#limits.forEach((limit, index) => {
      if (!covers(limit, node.created) || !applies(limit)) return;
      this.#used[index] = (this.#used[index] ?? 0) + sign * measureNode(limit, node.created);
    });
  }
}

/** Whether a node that is not gone still counts. */
function counts(limit: AuditedLimit, { stoppedAt }: LimitedNode): boolean {
  return stoppedAt === undefined || heldUntil(limit) === "gone";
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
