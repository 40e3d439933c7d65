import type { AllocationPolicy } from "../../domain/allocation.ts";
import type { RankedDemand } from "../../domain/demand.ts";
import type { SetName } from "../../domain/ids.ts";
import type { SharedState } from "../../domain/node-view.ts";
import type { Instant } from "../../domain/units.ts";
import type { World } from "../../domain/world.ts";
import type { Bindings } from "../bins/bound-slots.ts";
import { bindingsOf } from "../bins/bound-slots.ts";
import { countedOf } from "../bins/counted.ts";
import type { Entry } from "../bins/entry.ts";
import { readEntry } from "../bins/entry.ts";
import type { Ask } from "../bins/job-ask.ts";
import { JobClasses } from "../bins/job-classes.ts";
import { Ground } from "../bins/node-kinds.ts";
import type { NodeOrder } from "../bins/node-order.ts";
import { orderNodes } from "../bins/node-order.ts";
import { Budget, PLAN_STEPS } from "../constraints/budget.ts";
import { sharedStateOf } from "../constraints/shared-pools.ts";
import type { Start } from "../draft/draft.ts";
import { startOf } from "../draft/draft.ts";
import { namedBy } from "./named-by.ts";
import { Scopes } from "./scopes.ts";

/** The input of every try, prepared once. */
export interface Problem {
  readonly ground: Ground;
  readonly order: NodeOrder;
  /** The demands to place, in the order of rank. */
  readonly entries: readonly Entry[];
  /** Demands that are too expensive to read. */
  readonly unread: readonly Unread[];
  /** Number of different entries: classes of jobs, and each target and demand for groups. */
  readonly kinds: number;
  readonly bindings: Bindings;
  readonly scopes: Scopes;
  readonly start: Start;
  /** The pools before anything is placed, and the shared values that constraints test. */
  readonly shared: SharedState;
  /** The smallest amount of each resource that any job takes. */
  readonly least: readonly number[];
  readonly policy: AllocationPolicy;
  readonly now: Instant;
}

/** A demand that the plan does not read, because that would cost too much. */
export interface Unread extends RankedDemand {
  readonly rank: number;
}

/** Prepares the input of every try. `ranked` is in the order of rank. */
export function readProblem(
  world: World,
  ranked: readonly RankedDemand[],
  policy: AllocationPolicy,
  now: Instant,
): Problem {
  const budget = new Budget(policy.steps ?? PLAN_STEPS, countSets(ranked), world.steps, world.resting);
  const { unread, resources, mayBePools } = namedBy(ranked, budget, world.isTooDear === true);
  const ground = new Ground(world, countedOf(world, resources), budget);
  const shared = sharedStateOf(world.pools ?? [], mayBePools);
  const classes = new JobClasses(ground, shared, policy.among === "cheapest" ? "never" : "allow");
  const running: Ask[] = [];
  const entries: Entry[] = [];
  ranked.forEach((one, rank) => {
    if (unread.size > 0 && unread.has(rank)) return;
    budget.turnTo(one.set);
    if (budget.isSpent) {
      unread.set(rank, one);
      return;
    }
    const entry = readEntry(one, rank, classes);
    if (entry.kind === "job" && entry.demand.placed.length > 0) running.push(entry);
    entries.push(entry);
  });
  return {
    scopes: new Scopes(ground),
    start: startOf(world),
    ground,
    order: orderNodes(ground),
    entries,
    unread: [...unread].map(([rank, one]) => ({ ...one, rank })),
    kinds: classes.count + entries.length - classes.jobs,
    bindings: bindingsOf(world, ground, running),
    shared,
    least: classes.least(),
    policy,
    now,
  };
}

/** The number of request sets that the demands are from. Most demands are of the same set as the one before. */
function countSets(demands: readonly RankedDemand[]): number {
  const sets = new Set<SetName>();
  let before: SetName | undefined;
  for (const { set } of demands) {
    if (set !== before) sets.add(set);
    before = set;
  }
  return sets.size;
}
