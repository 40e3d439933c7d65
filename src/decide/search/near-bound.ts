import type { World } from "../../domain/world.ts";
import type { Problem } from "./problem.ts";
import type { Bins } from "../bins/bins.ts";
import { closedTo } from "../draft/closed.ts";
import type { Kind } from "../bins/node-kinds.ts";
import type { Attempt } from "./better.ts";

/**
 * With fewer demands or fewer kinds than this, all tries are made. They cost little, and with few sizes of jobs the order of packing may
 * matter on every node.
 */
const LEAST_DEMANDS = 1000;
const LEAST_KINDS = 32;

/** The part of all nodes in use that another try must be able to save. */
const WORTH_TRYING = 0.03;

/**
 * Whether a complete plan for many demands is so close to a lower bound of its cost that no other try is worth making (docs/decisions.md,
 * "A plan near its bound is not packed again"). The bound for one resource: the amount that is used on new nodes and exceeds what is left
 * on the other nodes, at the lowest price (or number of nodes) for that amount. The largest of these bounds counts. (It is the
 * linear-programming bound of vector bin packing, one resource at a time.) Nodes that one job has to itself cannot be saved.
 */
export function isNearBound({ draft, outcomes }: Attempt, problem: Problem): boolean {
  const { ground, policy, entries, kinds, now } = problem;
  if (entries.length < LEAST_DEMANDS || kinds < LEAST_KINDS) return false;
  if (outcomes.some(({ placed, asked }) => placed < asked)) return false;
  const { bins } = draft;
  const isPriced = policy.among === "cheapest";
  const open = ground.world.buckets.flatMap((offer, index) => {
    const kind = ground.offerKinds[index];
    return kind === undefined || closedTo({ world: ground.world, now }, offer) !== undefined ? [] : [kind];
  });
  const load = loadOf(bins, (kind) => weightOf(ground.world, kind, isPriced));
  let bound = 0;
  for (let r = 0; r < bins.width; r += 1) {
    const over = (load.used[r] ?? 0) - (load.left[r] ?? 0);
    const least = open.reduce(
      (ratio, kind) => Math.min(ratio, weightOf(ground.world, kind, isPriced) / (kind.capacity[r] ?? 0)),
      Number.POSITIVE_INFINITY,
    );
    if (over > 0 && Number.isFinite(least)) bound = Math.max(bound, over * least);
  }
  return load.shared - bound <= WORTH_TRYING * load.all;
}

/** The weight of one node: its price per hour, or 1. */
function weightOf({ buckets }: World, { place }: Kind, isPriced: boolean): number {
  return isPriced ? (buckets[place.offer]?.price ?? 0) : 1;
}

interface Load {
  /** Used on new nodes that jobs may share, by resource. */
  readonly used: number[];
  /** Left on nodes that exist or are in flight, by resource. */
  readonly left: number[];
  /** Weight of all needed nodes, and of the new nodes that jobs may share. */
  all: number;
  shared: number;
}

function loadOf(bins: Bins, weigh: (kind: Kind) => number): Load {
  const { width, free } = bins;
  const load: Load = { used: [], left: [], all: 0, shared: 0 };
  for (let r = 0; r < width; r += 1) {
    load.used.push(0);
    load.left.push(0);
  }
  for (let bin = 0; bin < bins.count.length; bin += 1) {
    const kind = bins.kindOf(bin);
    const nodes = bins.count[bin] ?? 0;
    const isPlanned = bins.origin[bin] === "planned";
    if (bins.isClaimed(bin)) load.all += nodes * weigh(kind);
    if (bins.isClosed(bin)) continue;
    if (isPlanned) load.shared += nodes * weigh(kind);
    for (let r = 0; r < width; r += 1) {
      const left = Math.max(0, free[bin * width + r] ?? 0);
      if (isPlanned) load.used[r] = (load.used[r] ?? 0) + nodes * ((kind.capacity[r] ?? 0) - left);
      else load.left[r] = (load.left[r] ?? 0) + nodes * left;
    }
  }
  return load;
}
