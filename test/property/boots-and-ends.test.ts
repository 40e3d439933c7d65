/**
 * A plan does not change its mind: while its nodes boot and tasks end, and nothing new is asked for, no more nodes are created. 20 worlds of
 * fixed seeds in `npm test`, 1,000 in `npm run test:deep`, 20 ticks each.
 */
import { expect, test } from "vitest";
import { allocate } from "../../src/decide/search/allocate.ts";
import type { Allocation } from "../../src/domain/allocation.ts";
import type { JobDemand, PlacedSlots, RankedDemand } from "../../src/domain/demand.ts";
import type { World } from "../../src/domain/world.ts";
import { Dice } from "../simulation/dice.ts";
import type { Stage } from "./apply-plan.ts";
import { apply } from "./apply-plan.ts";
import { IS_DEEP, TIMEOUT } from "./runs.ts";
import { NOW } from "./small-shapes.ts";
import { buildSmall, drawSmallWorld } from "./small-world.ts";

const WORLDS = IS_DEEP ? 1000 : 20;
const TICKS = 20;
/** Nodes boot at different speeds. */
const UP_AT = 4;

const stageAt = (tick: number): Stage => (tick < 2 ? "in-flight" : tick < UP_AT ? "visible" : "ready");

test.each(["priority", "cheapest"] as const)(
  "%s: nothing is created after the first plan's nodes",
  (among) => {
    const policy = {
      groupPrefix: "pg-",
      groupFillSeconds: 600,
      preference: "existing-first",
      among,
    } as const;
    const created: string[] = [];
    for (let seed = 1; seed <= WORLDS; seed += 1) {
      const dice = new Dice(seed);
      let { world, demands } = buildSmall(drawSmallWorld(dice));
      let before = allocate(world, demands, policy, NOW);
      for (let tick = 1; tick < TICKS; tick += 1) {
        world = apply(world, before, stageAt(tick));
        if (tick >= UP_AT) demands = endSome(dice, runWhatIsPlaced(world, demands, before));
        const answer = allocate(world, demands, policy, NOW);
        if (answer.creates.length + answer.starts.length > 0)
          created.push(`${seed} at ${tick}${servesMore(before, answer) ? ", for what was unmet" : ""}`);
        before = answer;
      }
    }
    expect(created).toEqual([]);
  },
  TIMEOUT,
);

/** Whether a demand has more than in the plan before. */
function servesMore(before: Allocation, { outcomes }: Allocation): boolean {
  const had = new Map(before.outcomes.map(({ id, placed }) => [id, placed]));
  return outcomes.some(({ id, placed }) => placed > (had.get(id) ?? 0));
}

/** The scheduler starts the tasks where the plan has them. */
function runWhatIsPlaced(
  { nodes }: World,
  demands: readonly RankedDemand[],
  { loads }: Allocation,
): readonly RankedDemand[] {
  const hosts = new Map(nodes.map(({ nodeId, hostname }) => [nodeId, hostname]));
  const placed = new Map<string, PlacedSlots[]>();
  for (const { nodeId, jobs } of loads) {
    const hostname = nodeId === undefined ? undefined : hosts.get(nodeId);
    if (hostname === undefined) continue;
    for (const { by, slots } of jobs)
      placed.set(by, [...(placed.get(by) ?? []), { hostname, iterations: slots }]);
  }
  return demands.map(({ set, demand }) => ({
    set,
    demand:
      demand.kind === "job"
        ? { ...demand, placed: placed.get(`${set}/${demand.id}`) ?? demand.placed }
        : demand,
  }));
}

/** Some tasks end: of a gang all at once, of another job one. */
function endSome(dice: Dice, demands: readonly RankedDemand[]): readonly RankedDemand[] {
  return demands.flatMap(({ set, demand }) => {
    if (demand.kind !== "job" || demand.placed.length === 0 || !dice.chance(0.2)) return [{ set, demand }];
    const left = endOne(demand);
    return left === undefined ? [] : [{ set, demand: left }];
  });
}

function endOne(job: JobDemand): JobDemand | undefined {
  const [first, ...others] = job.placed;
  if (first === undefined || job.nodeCount !== undefined || job.iterations <= 1) return undefined;
  const rest = first.iterations > 1 ? [{ ...first, iterations: first.iterations - 1 }, ...others] : others;
  return { ...job, iterations: job.iterations - 1, placed: rest };
}
