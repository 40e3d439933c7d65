import * as fc from "fast-check";
import type { ClusterShape } from "./shape.ts";
import { clusterShapes, TYPES } from "./shape.ts";

/**
 * An entry of a message. Array and types are positions in the cluster's shape, so that any list of steps makes sense. wants.ts says what an
 * entry means, messages.ts what it is on the wire, and floors.ts what it gets. A new form of demand, such as a dynamic array, is a new kind
 * of entry.
 */
export type Entry =
  /** At least this many nodes or cores. */
  | {
      readonly kind: "target";
      readonly array: number;
      readonly unit: "nodes" | "cores";
      readonly count: number;
      readonly types: readonly number[];
    }
  | {
      readonly kind: "groups";
      readonly array: number;
      readonly groups: number;
      readonly unit: "nodes" | "cores";
      readonly size: number;
      readonly types: readonly number[];
    }
  /** This many slots of one core each, on the array's first VM size. */
  | { readonly kind: "job"; readonly array: number; readonly slots: number }
  /** Nodes with these names, which are positions in {@link NAMES}. A later resume has a higher number. */
  | {
      readonly kind: "names";
      readonly array: number;
      readonly names: readonly number[];
      readonly types: readonly number[];
      readonly resume?: number;
      readonly together: boolean;
    };

/** Few, so that sets name the same nodes. CycleCloud gives the first three to numbered nodes, too. */
export const NAMES = "array0-1 array0-2 array1-1 n-1 n-2 n-3 n-4 n-5 n-6 n-7 n-8 n-9".split(" ");

/** The revision of a message: none, so that its time counts; or this many milliseconds after now, or after the revision that is held. */
export type RevisionChoice =
  | { readonly kind: "none" }
  | { readonly kind: "from-now"; readonly milliseconds: number }
  | { readonly kind: "from-held"; readonly milliseconds: number };

export type PartName = "report" | "pools";

/** One thing that happens, and the seconds that pass afterwards. In these the timer ticks and wake messages arrive. */
export type Step = { readonly pause: number } & Deed;

export type Deed =
  | {
      readonly kind: "push";
      readonly set: number;
      readonly door: "queue" | "http";
      readonly revision: RevisionChoice;
      readonly interval: number;
      readonly entries: readonly Entry[];
    }
  /** A report without hosts, pools that no job takes from, or both: all parts that a message without demand may have. */
  | {
      readonly kind: "aside";
      readonly set: number;
      readonly door: "queue" | "http";
      readonly revision: RevisionChoice;
      readonly interval: number;
      readonly parts: readonly PartName[];
    }
  /** The set's last demand once more, with a new revision. */
  | { readonly kind: "renew"; readonly set: number }
  /** The set's last demand is delivered once more, as the same message. */
  | { readonly kind: "redeliver"; readonly set: number }
  | { readonly kind: "remove"; readonly set: number }
  | { readonly kind: "wait" }
  /** The app does not run for this many seconds: no timer, no messages. */
  | { readonly kind: "jump"; readonly seconds: number }
  /** This many Ready nodes of an array ask at once whether they may stop. */
  | {
      readonly kind: "ask";
      readonly array: number;
      readonly count: number;
      readonly from: number;
      readonly unhealthy: boolean;
    }
  /** VMs disappear. */
  | { readonly kind: "vanish"; readonly array: number; readonly count: number }
  /** A health event sets a node that is up to Failed. */
  | { readonly kind: "health"; readonly array: number; readonly from: number }
  /** Azure has only this many VMs left of a size. Undefined: enough again. */
  | { readonly kind: "capacity"; readonly array: number; readonly type: number; readonly left?: number }
  | { readonly kind: "validity"; readonly array: number; readonly type: number; readonly valid: boolean }
  /** The next requests of a kind go wrong. */
  | {
      readonly kind: "fault";
      readonly on: "status" | "create" | "terminate" | "operations" | "nodes";
      readonly how: "drop-request" | "drop-answer" | "500" | "500-after" | "409";
      readonly times: number;
    }
  /** The next status shows no node at all. */
  | { readonly kind: "false-empty" };

/** A sequence: everything that determines a run. */
export interface Sequence {
  readonly shape: ClusterShape;
  readonly steps: readonly Step[];
}

const SETS = 6;
/** Mostly the first array, because every cluster has it. No cluster has a fourth. */
const array = fc.constantFrom(0, 0, 0, 0, 1, 1, 2, 3);
const set = fc.integer({ min: 0, max: SETS - 1 });
const types = fc.oneof(fc.constant<number[]>([]), fc.shuffledSubarray([0, 1, 2], { minLength: 1 }));
const unit = fc.constantFrom<"nodes" | "cores">("nodes", "cores");

const entry: fc.Arbitrary<Entry> = fc.oneof(
  {
    arbitrary: fc.record({
      kind: fc.constant("target" as const),
      array,
      unit,
      count: fc.integer({ min: 0, max: 14 }),
      types,
    }),
    weight: 5,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant("groups" as const),
      array,
      groups: fc.integer({ min: 0, max: 3 }),
      unit,
      size: fc.integer({ min: 1, max: 9 }),
      types,
    }),
    weight: 2,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant("job" as const),
      array,
      slots: fc.integer({ min: 1, max: 20 }),
    }),
    weight: 2,
  },
);

const names: fc.Arbitrary<Entry> = fc.record(
  {
    kind: fc.constant("names" as const),
    array,
    names: fc.shuffledSubarray([...NAMES.keys()], { minLength: 1, maxLength: 9 }),
    types,
    resume: fc.integer({ min: 1, max: 12 }),
    together: fc.boolean(),
  },
  { requiredKeys: ["kind", "array", "names", "types", "together"] },
);

const revision: fc.Arbitrary<RevisionChoice> = fc.oneof(
  { arbitrary: fc.constant<RevisionChoice>({ kind: "none" }), weight: 4 },
  fc.record({
    kind: fc.constant("from-now" as const),
    milliseconds: fc.integer({ min: -400_000, max: 200_000 }),
  }),
  fc.record({ kind: fc.constant("from-held" as const), milliseconds: fc.integer({ min: -2, max: 2 }) }),
);

/** Often all entries are for one array, so that they compete. */
const entriesOf = (one: fc.Arbitrary<Entry>): fc.Arbitrary<readonly Entry[]> =>
  fc
    .tuple(fc.array(one, { maxLength: 3 }), fc.boolean(), array)
    .map(([all, together, same]) => (together ? all.map((each) => ({ ...each, array: same })) : all));

const pushesOf = (one: fc.Arbitrary<Entry>): fc.Arbitrary<Deed> =>
  fc.record({
    kind: fc.constant("push" as const),
    set,
    door: fc.constantFrom<"queue" | "http">("queue", "http"),
    revision,
    interval: fc.constantFrom(20, 60, 120, 300, 900, 4000),
    entries: entriesOf(one),
  });

const asides = fc.record({
  kind: fc.constant("aside" as const),
  set,
  door: fc.constantFrom<"queue" | "http">("queue", "http"),
  revision,
  interval: fc.constantFrom(20, 60, 120, 300, 900, 4000),
  parts: fc.shuffledSubarray<PartName>(["report", "pools"], { minLength: 1 }),
});

const type = fc.integer({ min: 0, max: TYPES.length - 1 });

const deedOf = (pushes: fc.Arbitrary<Deed>): fc.Arbitrary<Deed> =>
  fc.oneof(
    { arbitrary: fc.constant<Deed>({ kind: "wait" }), weight: 2 },
    { arbitrary: pushes, weight: 8 },
    { arbitrary: asides, weight: 3 },
    { arbitrary: fc.record({ kind: fc.constant("renew" as const), set }), weight: 4 },
    { arbitrary: fc.record({ kind: fc.constant("redeliver" as const), set }), weight: 1 },
    { arbitrary: fc.record({ kind: fc.constant("remove" as const), set }), weight: 2 },
    {
      arbitrary: fc.record({
        kind: fc.constant("ask" as const),
        array,
        count: fc.integer({ min: 1, max: 12 }),
        from: fc.integer({ min: 0, max: 20 }),
        unhealthy: fc.integer({ min: 0, max: 9 }).map((n) => n === 9),
      }),
      weight: 6,
    },
    {
      arbitrary: fc.record({
        kind: fc.constant("jump" as const),
        seconds: fc.constantFrom(70, 130, 700, 5000),
      }),
      weight: 1,
    },
    {
      arbitrary: fc.record({
        kind: fc.constant("vanish" as const),
        array,
        count: fc.integer({ min: 1, max: 3 }),
      }),
      weight: 1,
    },
    {
      arbitrary: fc.record({
        kind: fc.constant("health" as const),
        array,
        from: fc.integer({ min: 0, max: 20 }),
      }),
      weight: 1,
    },
    {
      arbitrary: fc.record(
        { kind: fc.constant("capacity" as const), array, type, left: fc.integer({ min: 0, max: 3 }) },
        { requiredKeys: ["kind", "array", "type"] },
      ),
      weight: 1,
    },
    {
      arbitrary: fc.record({
        kind: fc.constant("validity" as const),
        array,
        type,
        valid: fc.integer({ min: 0, max: 3 }).map((n) => n > 0),
      }),
      weight: 1,
    },
    {
      arbitrary: fc.record({
        kind: fc.constant("fault" as const),
        on: fc.constantFrom<"status" | "create" | "terminate" | "operations" | "nodes">(
          "status",
          "create",
          "terminate",
          "operations",
          "nodes",
        ),
        how: fc.constantFrom<"drop-request" | "drop-answer" | "500" | "500-after" | "409">(
          "drop-request",
          "drop-answer",
          "500",
          "500-after",
          "409",
        ),
        times: fc.integer({ min: 1, max: 3 }),
      }),
      weight: 1,
    },
    { arbitrary: fc.constant<Deed>({ kind: "false-empty" }), weight: 1 },
  );

/** Mostly a few seconds, so that messages arrive in all stages of the observations, which are 5 s apart. */
const pause = fc.oneof(
  { arbitrary: fc.integer({ min: 0, max: 12 }), weight: 3 },
  { arbitrary: fc.integer({ min: 13, max: 90 }), weight: 2 },
  { arbitrary: fc.integer({ min: 91, max: 400 }), weight: 1 },
);

const stepOf = (one: fc.Arbitrary<Entry>): fc.Arbitrary<Step> =>
  fc.tuple(deedOf(pushesOf(one)), pause).map(([deed, seconds]): Step => ({ ...deed, pause: seconds }));

const plainStep = stepOf(entry);
const namingStep = stepOf(fc.oneof({ arbitrary: names, weight: 5 }, { arbitrary: entry, weight: 4 }));

/** Draws sequences of this many steps, with or without targets that name their nodes. */
export function sequences(count: number, withNames: boolean): fc.Arbitrary<Sequence> {
  const step = withNames ? namingStep : plainStep;
  return fc.record({
    shape: clusterShapes,
    steps: fc.array(step, { minLength: count, maxLength: count }),
  });
}
