import fc from "fast-check";
import type { Constraint } from "../../src/domain/constraint.ts";
import type { Demand, GroupDemand, JobDemand, RankedDemand, TargetDemand } from "../../src/domain/demand.ts";
import type { ArrayName, MachineType } from "../../src/domain/ids.ts";
import { arrayName, placementGroup, setName } from "../../src/domain/ids.ts";
import { EXCLUSIVE, inArrays, ofSizes } from "../support/build-constraints.ts";
import type { Features } from "./features.ts";

/** The names that demands may use. */
export interface Vocabulary {
  readonly arrays: readonly ArrayName[];
  readonly machineTypes: readonly MachineType[];
  readonly hosts: readonly string[];
  /** Names of nodes. */
  readonly nodes: readonly string[];
  /** Pools to take from, and a mark. */
  readonly pools: readonly string[];
  readonly mark: string;
  /** What slots may take of nodes. */
  readonly needs: readonly (readonly Constraint[])[];
  /** Other things that a job may ask of a node. */
  readonly wishes: readonly Constraint[];
}

/** A demand before it has its rank and names. */
type Unranked =
  | Omit<TargetDemand, "id" | "priority" | "position">
  | Omit<GroupDemand, "id" | "priority" | "position">
  | Omit<JobDemand, "id" | "name" | "priority" | "position">;

interface Drawn {
  readonly unranked: Unranked;
  readonly copies: number;
  readonly priority: number;
  readonly position: number;
  readonly set: string;
}

/** Some demands of all kinds, of several sets and users; some jobs come in numbers. */
export function anyDemands(words: Vocabulary, features: Features): fc.Arbitrary<readonly RankedDemand[]> {
  const kinds = [
    { arbitrary: anyJob(words, features), weight: 4 },
    ...(features.targets ? [{ arbitrary: anyTarget(words), weight: 1 }] : []),
    ...(features.names ? [{ arbitrary: anyNames(words), weight: 1 }] : []),
    ...(features.groups ? [{ arbitrary: anyGroups(words), weight: 1 }] : []),
  ];
  const drawn = fc.record<Drawn>({
    unranked: fc.oneof(...kinds),
    copies: fc.oneof(
      { arbitrary: fc.constant(1), weight: 5 },
      { arbitrary: fc.integer({ min: 2, max: 5 }), weight: 1 },
    ),
    priority: fc.nat(2),
    position: fc.nat(5),
    set: fc.constantFrom("even", "odd", "third"),
  });
  return fc.array(drawn, { minLength: 1, maxLength: 6 }).map((all) =>
    all.flatMap(({ unranked, copies, priority, position, set }, i) =>
      Array.from({ length: unranked.kind === "job" ? copies : 1 }, (_, copy): RankedDemand => {
        const id = copy === 0 ? `d${i}` : `d${i}-${copy}`;
        return { set: setName(set), demand: nameIt(unranked, id, priority, position) };
      }),
    ),
  );
}

function nameIt(unranked: Unranked, id: string, priority: number, position: number): Demand {
  return unranked.kind === "job"
    ? { ...unranked, id, name: id, priority, position }
    : { ...unranked, id, priority, position };
}

/** Absent as often as present. */
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof(fc.constant(undefined), arbitrary);

const present = <K extends string, T>(key: K, value: T | undefined): Partial<Record<K, T>> => {
  const made: Partial<Record<K, T>> = {};
  if (value !== undefined) made[key] = value;
  return made;
};

const someOf = <T>(all: readonly T[], most: number): fc.Arbitrary<readonly T[]> =>
  fc.uniqueArray(fc.constantFrom(...all), { minLength: 1, maxLength: most });

function anyTarget(words: Vocabulary): fc.Arbitrary<Unranked> {
  return fc
    .record({
      array: fc.constantFrom(
        ...words.arrays,
        ...words.arrays,
        ...words.arrays,
        arrayName("foreign"),
        arrayName("unheard-of"),
      ),
      amount: fc.record({ unit: fc.constantFrom("nodes" as const, "cores" as const), count: fc.nat(12) }),
      machineTypes: maybe(someOf(words.machineTypes, 2)),
    })
    .map(({ machineTypes, ...rest }) => ({
      kind: "target",
      ...rest,
      ...present("machineTypes", machineTypes),
    }));
}

function anyNames(words: Vocabulary): fc.Arbitrary<Unranked> {
  return fc
    .record({
      array: fc.constantFrom(...words.arrays),
      names: fc.uniqueArray(fc.constantFrom(...words.nodes), { minLength: 1, maxLength: 6 }),
      machineTypes: maybe(someOf(words.machineTypes, 2)),
      group: maybe(fc.constant(placementGroup("rack"))),
      together: maybe(fc.constant(true as const)),
    })
    .map(({ array, names, machineTypes, group, together }) => ({
      kind: "target",
      array,
      amount: { unit: "nodes", count: names.length },
      named: { names, ...present("group", group), ...present("together", together) },
      ...present("machineTypes", machineTypes),
    }));
}

function anyGroups(words: Vocabulary): fc.Arbitrary<Unranked> {
  return fc
    .record({
      array: fc.constantFrom(...words.arrays),
      groups: fc.nat(3),
      size: fc.oneof(
        fc.record({ unit: fc.constant("nodes" as const), count: fc.integer({ min: 1, max: 3 }) }),
        fc.record({ unit: fc.constant("cores" as const), count: fc.integer({ min: 1, max: 20 }) }),
      ),
      machineTypes: maybe(someOf(words.machineTypes, 2)),
    })
    .map(({ machineTypes, ...rest }) => ({
      kind: "groups",
      ...rest,
      ...present("machineTypes", machineTypes),
    }));
}

function anyJob(words: Vocabulary, features: Features): fc.Arbitrary<Unranked> {
  const never = fc.constant(undefined);
  return fc
    .record({
      user: maybe(fc.constantFrom("ann", "bob")),
      constraints: anyConstraints(words, features),
      iterations: fc.nat(12),
      nodeCount: features.gangs ? maybe(fc.integer({ min: 1, max: 3 })) : never,
      colocated: features.colocated ? fc.boolean() : fc.constant(false),
      placed: features.bound ? anyPlaced(words) : fc.constant([]),
      partial: features.gangs ? fc.boolean() : fc.constant(false),
      span: features.span ? fc.boolean() : fc.constant(false),
      spot: features.spot
        ? maybe(fc.constantFrom("never" as const, "allow" as const, "only" as const))
        : never,
    })
    .map(({ user, constraints, iterations, nodeCount, partial, span, spot, placed, colocated }) => {
      const isGang = nodeCount !== undefined;
      return {
        kind: "job",
        // Gangs of a few slots a node: more would rarely fit anywhere.
        iterations: isGang ? 1 + (iterations % 3) : iterations,
        colocated,
        constraints,
        placed: (isGang || colocated) && !features.boundGangs ? [] : placed.slice(0, nodeCount),
        ...present("nodeCount", nodeCount),
        ...present("user", user),
        ...present("spot", spot),
        ...(partial && isGang && !colocated ? { partial: true as const } : {}),
        ...(span && isGang && !colocated ? { span: true as const } : {}),
      };
    });
}

/** Each host is named once, though not always as CycleCloud spells it. */
function anyPlaced({ hosts }: Vocabulary): fc.Arbitrary<JobDemand["placed"]> {
  const one = fc.record({
    hostname: fc.constantFrom(...hosts, "gone"),
    spelling: fc.constantFrom("", "", ".cluster.internal"),
    iterations: fc.integer({ min: 1, max: 2 }),
  });
  const some = fc
    .uniqueArray(one, { maxLength: 2, selector: ({ hostname }) => hostname })
    .map((all) =>
      all.map(({ hostname, spelling, iterations }) => ({ hostname: `${hostname}${spelling}`, iterations })),
    );
  return fc.oneof(fc.constant([]), some);
}

/** What a job asks of nodes: one kind of thing alone, or nothing, as often as several; of several each as often absent as present. */
function anyConstraints(words: Vocabulary, features: Features): fc.Arbitrary<readonly Constraint[]> {
  const needs = fc.constantFrom(...words.needs);
  const wishes = anyWishes(words, features).map((wish) => wish.map((one): readonly Constraint[] => [one]));
  const alone = fc.oneof(needs, ...wishes, fc.constant([]));
  const several = fc.tuple(maybe(needs), ...wishes.map((wish) => maybe(wish)));
  return fc.oneof(
    alone,
    several.map((parts) => parts.flatMap((part) => part ?? [])),
  );
}

/** What a job may say about where it goes and with whom, one kind of constraint each. */
function anyWishes(words: Vocabulary, features: Features): readonly fc.Arbitrary<Constraint>[] {
  const places = fc.oneof(
    someOf(words.arrays, 2).map((names) => inArrays(...names)),
    someOf(words.machineTypes, 3).map((names) => ofSizes(...names)),
    fc.constantFrom(...words.wishes),
  );
  const take = fc.integer({ min: 1, max: 3 });
  const pool = fc
    .record({ pool: fc.constantFrom(...words.pools), amount: take })
    .map(({ pool, amount }): Constraint => ({ kind: "pool", pool, amount }));
  const shared = take.map((amount): Constraint => ({
    kind: "shared-consumable",
    resource: "seat",
    pools: [{ source: "here", initial: 9, current: 7 }],
    amount,
  }));
  const mark = fc
    .constantFrom("night", "day")
    .map((value): Constraint => ({ kind: "pool-value", pool: words.mark, value }));
  const amount = fc
    .constantFrom(...words.needs.filter((needs) => needs.length > 0))
    .map((needs): Constraint => (needs.length === 1 ? (needs[0] ?? EXCLUSIVE) : { kind: "and", of: needs }));
  const leaf = features.poolChoices ? fc.oneof(places, amount, pool, mark) : fc.oneof(places, amount);
  const tree = fc.oneof(
    fc.record({
      kind: fc.constantFrom("or" as const, "xor" as const, "and" as const),
      of: fc.array(leaf, { minLength: 2, maxLength: 3 }),
    }),
    places.map((of): Constraint => ({ kind: "not", of })),
  );
  const closing = fc.constantFrom<Constraint>(
    EXCLUSIVE,
    { kind: "exclusive", scope: "task", wanted: true },
    { kind: "exclusive", scope: "job", wanted: false },
  );
  const group = fc.boolean().map((wanted): Constraint => ({ kind: "in-a-placement-group", wanted }));
  const backoff = fc.constant<Constraint>({
    kind: "capacity-failure-backoff",
    seconds: 300,
    written: 300,
  });
  return [
    ...(features.places ? [places] : []),
    ...(features.alternatives ? [tree] : []),
    ...(features.exclusive ? [closing] : []),
    ...(features.grouped ? [group] : []),
    ...(features.pools ? [fc.oneof(pool, shared, mark)] : []),
    ...(features.refusals ? [backoff] : []),
  ];
}
