import type { TinyJob, TinySize, TinyWorld } from "./tiny-world.ts";
import { holds } from "./tiny-world.ts";

/** One slot that is to go somewhere. */
interface Piece {
  readonly job: TinyJob;
  readonly of: number;
}

interface Box {
  readonly size: number;
  cores: number;
  memory: number;
  /** Positions of the jobs that have a slot here. */
  readonly jobs: number[];
  isClosed: boolean;
}

/**
 * The least that new nodes can cost so that every slot has its place, found by trying: choices of new nodes in order of cost, and for each
 * every way to put the slots. `atMost`: a cost at which it is known to be possible; only what is cheaper is tried.
 */
export function cheapestCost(world: TinyWorld, atMost: number): number {
  const { sizes, jobs } = world;
  // Larger slots first: what cannot be is seen sooner. All slots of a job stay together.
  const pieces = jobs
    .flatMap((job, of) => Array.from({ length: job.slots }, (): Piece => ({ job, of })))
    .toSorted((a, b) => weight(b.job) - weight(a.job) || a.of - b.of);
  const choices = choicesOf(sizes, pieces.length, atMost).toSorted((a, b) => a.cost - b.cost);
  const found = choices.find(({ counts }) => canPlace(sizes, pieces, boxesOf(world, counts)));
  return found?.cost ?? atMost;
}

const weight = ({ cores, memory, exclusive, gang }: TinyJob): number =>
  cores + memory / 100 + (exclusive ? 100 : 0) + (gang ? 50 : 0);

interface Choice {
  readonly counts: readonly number[];
  readonly cost: number;
}

/** Every number of new nodes of each size that costs less than is known to do, at most one for each slot. */
function choicesOf(sizes: readonly TinySize[], most: number, below: number): readonly Choice[] {
  let choices: readonly Choice[] = [{ counts: [], cost: 0 }];
  for (const { price } of sizes) {
    choices = choices.flatMap(({ counts, cost }) =>
      Array.from({ length: most + 1 }, (_, n): Choice => ({
        counts: [...counts, n],
        cost: cost + n * price,
      })),
    );
    choices = choices.filter(
      ({ counts, cost }) => cost < below && counts.reduce((sum, n) => sum + n, 0) <= most,
    );
  }
  return choices;
}

function boxesOf({ sizes, nodes }: TinyWorld, counts: readonly number[]): Box[] {
  const all = [...nodes, ...counts.flatMap((count, size) => Array.from({ length: count }, () => size))];
  return all.map((size) => ({
    size,
    cores: sizes[size]?.cores ?? 0,
    memory: sizes[size]?.memory ?? 0,
    jobs: [],
    isClosed: false,
  }));
}

/** Tries every box for the slot, and then for those after it. Identical boxes are tried once. */
function canPlace(
  sizes: readonly TinySize[],
  pieces: readonly Piece[],
  boxes: Box[],
  from = 0,
  gangSize?: number,
): boolean {
  const piece = pieces[from];
  if (piece === undefined) return true;
  const { job, of } = piece;
  const isSame = from > 0 && pieces[from - 1]?.of === of;
  const tried = new Set<string>();
  for (const box of boxes) {
    const size = sizes[box.size];
    if (size === undefined || !holds(size, job) || !hasRoom(box, piece)) continue;
    if (job.gang && isSame && gangSize !== box.size) continue;
    const state = `${box.size} ${box.cores} ${box.memory} ${box.jobs.join(",")}`;
    if (tried.has(state)) continue;
    tried.add(state);
    box.cores -= job.cores;
    box.memory -= job.memory;
    box.jobs.push(of);
    box.isClosed = job.exclusive;
    const done = canPlace(sizes, pieces, boxes, from + 1, box.size);
    box.isClosed = false;
    box.jobs.pop();
    box.memory += job.memory;
    box.cores += job.cores;
    if (done) return true;
  }
  return false;
}

function hasRoom(box: Box, { job, of }: Piece): boolean {
  if (box.isClosed || box.cores < job.cores || box.memory < job.memory) return false;
  if (job.exclusive && box.jobs.length > 0) return false;
  // A slot that takes nothing has a node for itself, as far as its own job goes.
  const isApart = job.gang || (job.cores === 0 && job.memory === 0);
  return !(isApart && box.jobs.includes(of));
}
