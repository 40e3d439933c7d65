import type { TinyJob, TinyLoad } from "./tiny-load.ts";

interface OpenNode {
  readonly type: number;
  readonly existing: boolean;
  ncpus: number;
  memory: number;
  /** The job of each slot on it. */
  readonly jobs: number[];
}

interface Search {
  readonly load: TinyLoad;
  readonly what: "nodes" | "cost";
  /** The job of each slot. */
  readonly slots: readonly number[];
  readonly nodes: OpenNode[];
  best: number;
}

/** The least that any plan takes: every way to put the slots onto existing and new nodes is tried. */
export function leastByTrying(load: TinyLoad, what: "nodes" | "cost"): number {
  const slots = load.jobs.flatMap((job, index) => Array.from({ length: job.slots }, () => index));
  const nodes = load.nodes.map((type) => openNode(load, type, true));
  const search: Search = { load, what, slots, nodes, best: Number.POSITIVE_INFINITY };
  place(search, 0, 0);
  return search.best;
}

function openNode({ types }: TinyLoad, type: number, existing: boolean): OpenNode {
  const { ncpus = 0, memory = 0 } = types[type] ?? {};
  return { type, existing, ncpus, memory, jobs: [] };
}

function place(search: Search, slot: number, spent: number): void {
  const index = search.slots[slot];
  const job = search.load.jobs[index ?? 0];
  if (spent >= search.best) return;
  if (index === undefined || job === undefined) {
    search.best = spent;
    return;
  }
  for (const node of search.nodes) {
    const price = search.what === "nodes" && node.existing && node.jobs.length === 0 ? 1 : 0;
    attempt(search, slot, spent + price, index, job, node);
  }
  search.load.types.forEach(({ price }, type) => {
    const node = openNode(search.load, type, false);
    search.nodes.push(node);
    attempt(search, slot, spent + (search.what === "nodes" ? 1 : price), index, job, node);
    search.nodes.pop();
  });
}

function attempt(
  search: Search,
  slot: number,
  spent: number,
  index: number,
  job: TinyJob,
  node: OpenNode,
): void {
  if (job.ncpus > node.ncpus || job.memory > node.memory) return;
  if (!mayShare(search, index, job, node) || !isTogether(search, index, job, node)) return;
  node.ncpus -= job.ncpus;
  node.memory -= job.memory;
  node.jobs.push(index);
  place(search, slot + 1, spent);
  node.jobs.pop();
  node.ncpus += job.ncpus;
  node.memory += job.memory;
}

/** Slots that want a node alone have it alone; slots that are spread do not meet. */
function mayShare({ load }: Search, index: number, job: TinyJob, { jobs }: OpenNode): boolean {
  if (job.kind === "alone") return jobs.length === 0;
  if (job.kind === "spread" && jobs.includes(index)) return false;
  return jobs.every((other) => load.jobs[other]?.kind !== "alone");
}

/** Spread and colocated jobs keep to one type; a colocated one needs a placement group, and existing nodes are in none. */
function isTogether(
  { nodes }: Search,
  index: number,
  { kind }: TinyJob,
  { type, existing }: OpenNode,
): boolean {
  if (kind === "colocated" && existing) return false;
  if (kind !== "spread" && kind !== "colocated") return true;
  return nodes.every((node) => node.type === type || !node.jobs.includes(index));
}
