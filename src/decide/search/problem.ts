import type { AllocationPolicy } from "../../domain/allocation.ts";
import type { RankedDemand, Demand } from "../../domain/demand.ts";
import type { MachineType, SetName } from "../../domain/ids.ts";
import type { SharedState } from "../../domain/node-view.ts";
import { SizeNames } from "../../domain/size-names.ts";
import type { Instant } from "../../domain/units.ts";
import type { World, SupplyNode } from "../../domain/world.ts";
import type { Entry } from "../bins/entry.ts";
import { readEntry } from "../bins/entry.ts";
import type { Ask } from "../bins/job-ask.ts";
import { JobClasses } from "../bins/job-classes.ts";
import { Ground, comparePlaces } from "../bins/node-kinds.ts";
import type { NodeOrder } from "../bins/node-order.ts";
import { orderNodes } from "../bins/node-order.ts";
import { Budget, PLAN_STEPS } from "../constraints/budget.ts";
import { sharedStateOf } from "../constraints/shared-pools.ts";
import type { Start } from "../draft/draft.ts";
import { startOf } from "../draft/draft.ts";
import type { Constraint } from "../../domain/constraint.ts";
import { sizeOfText, countedResources } from "../constraints/constraint-facts.ts";
import { inMarketOf } from "../world/counterparts.ts";
import type { Shape } from "../bins/shape.ts";
import type { BucketIndex, Scope, Wanted } from "../bins/scope.ts";
import { indexBuckets, scopeOf } from "../bins/scope.ts";
import type { Resources } from "../../domain/resources.ts";
import { compareText } from "../../domain/text.ts";
import type { Place } from "../bins/node-kinds.ts";
import { hostFinder } from "../../domain/hosts.ts";
import type { Bin } from "../bins/bin-columns.ts";

/** The input of every try, prepared once. */
export interface Problem {
  readonly ground: Ground;
  readonly order: NodeOrder;
  /** The demands to place, in the order of rank. */
  readonly entries: readonly Entry[];
  /** Those of them that name their nodes. */
  readonly named: readonly Entry[];
  /** Demands that are too expensive to read. */
  readonly unread: readonly Unread[];
  /** Number of different entries: classes of jobs, and each target and demand for groups. */
  readonly kinds: number;
  readonly bindings: Bindings;
  readonly scopes: Scopes;
  readonly start: Start;
  /** The pools before anything is placed, and the shared values that constraints test. */
  readonly shared: SharedState;
  /** The least of each resource that every job takes. */
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
  const sizes = new SizeNames(sizesOf(world));
  const running: Ask[] = [];
  const entries: Entry[] = [];
  const named: Entry[] = [];
  ranked.forEach((one, rank) => {
    if (unread.size > 0 && unread.has(rank)) return;
    budget.turnTo(one.set);
    if (budget.isSpent) {
      unread.set(rank, one);
      return;
    }
    const entry = readEntry({ set: one.set, demand: sizes.inDemand(one.demand) }, rank, classes);
    if (entry.kind === "job" && entry.demand.placed.length > 0) running.push(entry);
    if (entry.kind === "target" && entry.demand.named !== undefined) named.push(entry);
    entries.push(entry);
  });
  return {
    scopes: new Scopes(ground),
    start: startOf(world),
    ground,
    order: orderNodes(ground),
    entries,
    named,
    unread: [...unread].map(([rank, one]) => ({ ...one, rank })),
    kinds: classes.count + entries.length - classes.jobs,
    bindings: bindingsOf(world, ground, running),
    shared,
    least: classes.least(),
    policy,
    now,
  };
}

/** The sizes of a world: those that are offered, and those of nodes, because some worlds have only nodes. */
function* sizesOf({ buckets, nodes, inFlight }: World): Iterable<MachineType> {
  for (const list of [buckets, nodes, inFlight]) for (const { bucket } of list) yield bucket.machineType;
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

/** What must be known about all jobs before the first one is read. */
interface Named {
  /** Demands that are too expensive to read, by rank. */
  readonly unread: Map<number, RankedDemand>;
  /** The resources that some job takes, and how often they are named. Only these are counted on nodes. */
  readonly resources: ReadonlyMap<string, number>;
  /** Constraints that may name a pool. */
  readonly mayBePools: readonly Constraint[];
}

/** Reads the constraints of all jobs once. Demands that the budget does not cover stay unread. `isTooDear`: all demands do. */
function namedBy(demands: readonly RankedDemand[], budget: Budget, isTooDear: boolean): Named {
  // Equal jobs of a set share the list of their constraints (shared-constraints.ts).
  const lists = new Map<readonly Constraint[], { readonly size: number; times: number }>();
  const unread = new Map<number, RankedDemand>();
  const read = (demand: Demand): void => {
    if (demand.kind !== "job") {
      budget.spend(1);
      return;
    }
    const { constraints, placed } = demand;
    const list = lists.get(constraints) ?? { size: sizeOfText(constraints), times: 0 };
    budget.spend(list.size + placed.length);
    if (budget.isSpent) return;
    list.times += 1;
    lists.set(constraints, list);
  };
  demands.forEach((one, rank) => {
    budget.turnTo(one.set);
    if (!isTooDear && !budget.isSpent) read(one.demand);
    if (isTooDear || budget.isSpent) unread.set(rank, one);
  });
  return { unread, ...namedIn(lists) };
}

/** What these lists of constraints name. `times`: the number of jobs with the list. */
function namedIn(
  lists: ReadonlyMap<readonly Constraint[], { readonly times: number }>,
): Pick<Named, "resources" | "mayBePools"> {
  const resources = new Map<string, number>();
  const mayBePools: Constraint[] = [];
  for (const [constraints, { times }] of lists) {
    for (const constraint of constraints) {
      for (const name of countedResources(constraint))
        resources.set(name, (resources.get(name) ?? 0) + times);
      if (constraint.kind !== "amount" && constraint.kind !== "property-choice") mayBePools.push(constraint);
    }
  }
  return { resources, mayBePools };
}

/** Maximum number of counted resources that no node offers. Jobs that take one of the others fit on no node anyway. */
const MOST_UNKNOWN = 64;

/**
 * The resources that are counted on each node, of those that jobs name. One demand message may name a hundred thousand resources that do not
 * exist. Only names that no node, no node in flight and no bucket of this world has are left out.
 */
function countedOf(world: World, named: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  if (named.size <= MOST_UNKNOWN) return named;
  const offered = new Set<string>();
  const seen = new Set<Resources>();
  for (const list of [world.nodes, world.inFlight, world.buckets])
    for (const { resources } of list) {
      if (seen.has(resources)) continue;
      seen.add(resources);
      for (const name of Object.keys(resources)) offered.add(name);
    }
  const unknown = [...named.keys()].filter((name) => !offered.has(name)).sort(compareText);
  if (unknown.length <= MOST_UNKNOWN) return named;
  const kept = new Set([...offered, ...unknown.slice(0, MOST_UNKNOWN)]);
  return new Map([...named].filter(([name]) => kept.has(name)));
}

/** Cost in steps of finding one name. */
const STEPS_PER_NAME = 5;

/** The scopes of demands. Demands that name the same arrays and VM sizes share one. */
export class Scopes {
  readonly #world: World;
  readonly #budget: Budget;
  readonly #index: BucketIndex;
  readonly #ofShape = new Map<Shape, Scope>();
  readonly #byText = new Map<string, Scope>();

  constructor({ world, budget }: Ground) {
    this.#world = world;
    this.#budget = budget;
    this.#index = indexBuckets(world);
  }

  of(entry: Entry): Scope {
    if (entry.kind !== "job") {
      const { array, machineTypes, attributes } = entry.demand;
      const scope = this.#find(
        machineTypes === undefined ? { arrays: [array] } : { arrays: [array], machineTypes },
        "listed",
      );
      if (this.#world.counterparts === undefined) return scope;
      return { ...scope, offers: scope.offers.map((offer) => inMarketOf(this.#world, offer, attributes)) };
    }
    const { shape } = entry.jobClass;
    let scope = this.#ofShape.get(shape);
    if (scope === undefined) {
      scope = this.#find(shape.requirements, "cluster");
      this.#ofShape.set(shape, scope);
    }
    return scope;
  }

  #find(wanted: Wanted, preference: "listed" | "cluster"): Scope {
    const { arrays = [], machineTypes = [] } = wanted;
    this.#budget.spend(STEPS_PER_NAME * (arrays.length + machineTypes.length));
    const key = `${preference}\n${wanted.arrays?.join("\t") ?? "*"}\n${wanted.machineTypes?.join("\t") ?? "*"}`;
    let scope = this.#byText.get(key);
    if (scope === undefined) {
      scope = scopeOf(this.#world, this.#index, wanted, preference);
      // The reason for an unknown array lists all known arrays.
      const unknown = arrays.filter((array) => !this.#world.arrays.has(array)).length;
      this.#budget.spend(scope.offers.length + (1 + unknown) * this.#world.arrays.size);
      this.#byText.set(key, scope);
    }
    return scope;
  }
}

/** The slots that run already, and where. */
interface Bindings {
  readonly slots: readonly { readonly bin: Bin; readonly ask: Ask; readonly slots: number }[];
  /** For each job that needs one placement group: the group in which tasks of it run. */
  readonly homes: ReadonlyMap<Ask, Place>;
}

/** Finds the bins on which tasks of these jobs run. Tasks on hosts that are not in the world's supply are left out. */
function bindingsOf(world: World, ground: Ground, running: readonly Ask[]): Bindings {
  const slots: Bindings["slots"][number][] = [];
  const homes = new Map<Ask, Place>();
  const findHost = finderBySet(world);
  for (const ask of running) {
    for (const { hostname, iterations } of ask.demand.placed) {
      const bin = findHost(ask.set, hostname);
      // Nothing runs on a node without a VM, even if a scheduler still reports it.
      if (bin === undefined || world.nodes[bin]?.deallocated === true) continue;
      slots.push({
        bin,
        ask,
        slots: ask.demand.nodeCount === undefined ? iterations : ask.slotsPerUnit,
      });
      const place = ground.nodeKinds[bin]?.place;
      if (place?.bucket.placementGroup === undefined || ask.together !== "one-group") continue;
      const home = homes.get(ask);
      if (home === undefined || comparePlaces(place, home) < 0) homes.set(ask, place);
    }
  }
  return { slots, homes };
}

/**
 * Finds a bin by request set and host name. A host that only a scheduler reports belongs to the sets that report it. A job of another set that
 * names it runs on a node of the same name, if there is one, else on no node.
 */
function finderBySet({ nodes }: World): (set: SetName, hostname: string) => Bin | undefined {
  const finders = new Map<SetName | undefined, ReturnType<typeof hostFinder>>();
  const finderOf = (set: SetName | undefined): ReturnType<typeof hostFinder> => {
    const known = finders.get(set);
    if (known !== undefined) return known;
    const finder = hostFinder(
      nodes.map((node) => (set === undefined || isFor(node, set) ? node : withoutName(node))),
    );
    finders.set(set, finder);
    return finder;
  };
  return (set, hostname) => {
    const bin = finderOf(undefined)(hostname);
    const node = bin === undefined ? undefined : nodes[bin];
    return node === undefined || isFor(node, set) ? bin : finderOf(set)(hostname);
  };
}

const isFor = ({ onlyFor }: SupplyNode, set: SetName): boolean => onlyFor?.includes(set) ?? true;

function withoutName({ hostname: _others, ...node }: SupplyNode): SupplyNode {
  return node;
}
