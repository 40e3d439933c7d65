/**
 * A plan does not change its mind: while its nodes boot and tasks end, and nothing new is asked for, no node is created for demand that had
 * its place. Demand that no plan could serve gets what ended tasks make possible, such as a gang the last free node that it lacked. 20 worlds
 * of fixed seeds in `npm test`, 1,000 in `npm run test:deep`, 20 ticks each.
 */
import { expect, test } from "vitest";
import { allocate } from "../../src/decide/search/allocate.ts";
import type { Allocation } from "../../src/domain/allocation.ts";
import type { JobDemand, PlacedSlots, RankedDemand } from "../../src/domain/demand.ts";
import type { World } from "../../src/domain/world.ts";
import { Dice } from "../simulation/dice.ts";
import type { Stage } from "./apply-plan.ts";
import { apply } from "./apply-plan.ts";
import { optimumByRank } from "./exact.ts";
import { IS_DEEP, TIMEOUT } from "./runs.ts";
import { NOW } from "./small-shapes.ts";
import type { Amounts, SmallWorld } from "./small-world.ts";
import { buildSmall, drawSmallWorld, minus, unitsOf } from "./small-world.ts";

const WORLDS = IS_DEEP ? 1000 : 20;
/** Of the 20 worlds from here on, one creates a node later. */
const FIRST_SEED = IS_DEEP ? 1 : 401;
const TICKS = 20;
/** Nodes boot at different speeds. */
const UP_AT = 4;

const stageAt = (tick: number): Stage => (tick < 2 ? "in-flight" : tick < UP_AT ? "visible" : "ready");

test.each(["priority", "cheapest"] as const)(
  "%s: nothing is created after the first plan's nodes for demand that had its place, or that could have had one",
  (among) => {
    const policy = {
      groupPrefix: "pg-",
      groupFillSeconds: 600,
      preference: "existing-first",
      among,
      // What is unmet is not looked into.
      remedySteps: 0,
    } as const;
    let later = 0;
    const faults: string[] = [];
    for (let seed = FIRST_SEED; seed < FIRST_SEED + WORLDS; seed += 1) {
      const dice = new Dice(seed);
      const small = drawSmallWorld(dice);
      let { world, demands } = buildSmall(small);
      const first = allocate(world, demands, policy, NOW);
      let before = first;
      for (let tick = 1; tick < TICKS; tick += 1) {
        world = apply(world, before, stageAt(tick));
        const running = tick < UP_AT ? demands : runWhatIsPlaced(world, demands, before);
        demands = tick < UP_AT ? running : endSome(dice, running);
        const answer = allocate(world, demands, policy, NOW);
        if (answer.creates.length + answer.starts.length > 0) {
          later += 1;
          const found = faultsOf(before, answer);
          if (isBeaten(small, first)) found.push("the first plan could have served more");
          if (optimumByRank(whatIsLeft(small, world, running)).some((units) => units > 0))
            found.push("it could have been served before the tasks ended");
          faults.push(...found.map((fault) => `${seed} at ${tick}: ${fault}`));
        }
        before = answer;
      }
    }
    process.stdout.write(`${among}: ${later} later plans create nodes\n`);
    expect(faults).toEqual([]);
    expect(later).toBeGreaterThan(0);
    expect(later).toBeLessThan(0.1 * WORLDS);
  },
  TIMEOUT,
);

/** New nodes for demand that had its place, and demand that has less than before. */
function faultsOf(before: Allocation, { outcomes, loads }: Allocation): string[] {
  const lacked = new Map(
    before.outcomes.map(({ set, id, asked, placed }) => [`${set}/${id}`, asked - placed]),
  );
  const onNew = loads.filter(({ origin }) => origin === "planned").flatMap(({ jobs }) => jobs);
  return [
    ...onNew
      .filter(({ by }) => lacked.get(by) === 0)
      .map(({ by }) => `a node for ${by}, which had its place`),
    ...outcomes
      .filter(({ set, id, asked, placed }) => asked - placed > (lacked.get(`${set}/${id}`) ?? 0))
      .map(({ id }) => `${id} has less`),
  ];
}

/** Whether some plan is better by rank than the one that was made. */
function isBeaten(small: SmallWorld, made: Allocation): boolean {
  const units = unitsOf(small, made);
  return optimumByRank(small).some((most, i) => most !== units[i]);
}

/** The world with the tasks that run on its nodes, and the demand that has no place. */
function whatIsLeft(small: SmallWorld, world: World, running: readonly RankedDemand[]): SmallWorld {
  const tasks = running.flatMap(({ demand }) => (demand.kind === "job" ? [demand] : []));
  const jobs = small.jobs.flatMap((job, i) => {
    const task = tasks.find(({ id }) => id === `j${i}`);
    if (task === undefined) return [];
    if (job.slotsPerNode !== undefined) return task.placed.length > 0 ? [] : [job];
    const units = task.iterations - task.placed.reduce((sum, { iterations }) => sum + iterations, 0);
    return units > 0 ? [{ ...job, units }] : [];
  });
  const nodes = world.nodes.map(({ bucket, hostname }) => {
    const size = Number(bucket.machineType.slice(1));
    const none: Amounts = [0, 0, 0];
    const used = tasks.reduce((sum, { id, placed }) => {
      const of = Number(id.slice(1));
      const { exclusive, takes } = id.startsWith("j")
        ? (small.jobs[of] ?? { exclusive: false, takes: none })
        : { exclusive: false, takes: small.nodes[of]?.used ?? none };
      const slots = placed.reduce((all, one) => (one.hostname === hostname ? all + one.iterations : all), 0);
      if (slots > 0 && exclusive) return small.sizes[size]?.has ?? none;
      return minus(sum, takes, -slots);
    }, none);
    return { size, used };
  });
  const limits = small.limits.map((limit, i) => ({ ...limit, left: world.limits[i]?.left ?? 0 }));
  return { ...small, nodes, limits, jobs };
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
