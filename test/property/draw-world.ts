import fc from "fast-check";
import type { Cap } from "../../src/domain/world.ts";
import type { PlacementGroup } from "../../src/domain/ids.ts";
import type { Features } from "./features.ts";
import { ARRAYS, GROUPS, NAMES, PLACES } from "./small-shapes.ts";

/*
 * The dice: what is drawn of a world, before a world is made of it.
 */

interface DrawnArray {
  readonly spot: boolean;
  readonly pinned: boolean;
  readonly configured: boolean;
  readonly onlyNamed: boolean;
  readonly nodes: number;
  readonly cores: number;
}

export interface DrawnPlace {
  readonly isOffered: boolean;
  readonly left: number;
  readonly price: number | undefined;
  readonly going: number;
  readonly refusal: "none" | "invalid" | "paused" | "was-paused";
  readonly groups: "none" | "paused" | "was-paused";
  readonly failedSecondsAgo: number | undefined;
}

export interface DrawnNode {
  readonly place: number;
  readonly group: PlacementGroup | undefined;
  readonly order: number;
  readonly state: "ready" | "coming" | "deallocated";
}

export interface DrawnWorld {
  readonly arrays: readonly DrawnArray[];
  readonly places: readonly DrawnPlace[];
  readonly nodes: readonly DrawnNode[];
  readonly inFlight: readonly {
    readonly place: number;
    readonly group: PlacementGroup | undefined;
    readonly count: number;
    readonly isNamed: boolean;
  }[];
  /** Names that earlier plans decided about. */
  readonly blocked: readonly { readonly name: string; readonly why: "over" | "waits" | "earlier" }[];
  readonly limits: readonly number[];
  readonly caps: readonly Cap[];
  readonly pools: readonly number[];
  readonly closed: boolean;
  /** All limits are far away. */
  readonly ample: boolean;
}

/** Mostly the first, sometimes one of the others. */
function mostly<T>(usual: T, others: readonly T[], often: number, isOn: boolean): fc.Arbitrary<T> {
  if (!isOn) return fc.constant(usual);
  return fc.oneof(
    { arbitrary: fc.constant(usual), weight: often },
    { arbitrary: fc.constantFrom(...others), weight: 1 },
  );
}

const upTo = (most: number, isScarce: boolean): fc.Arbitrary<number> =>
  isScarce ? fc.nat(most) : fc.integer({ min: 1000, max: 1000 + most });

export const exactly = <T>(count: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<readonly T[]> =>
  fc.array(arbitrary, { minLength: count, maxLength: count });

export function anyWorldParts(on: Features): fc.Arbitrary<DrawnWorld> {
  const place = on.variety ? fc.nat(PLACES.length - 1) : fc.constant(1);
  const group = on.variety
    ? mostly<PlacementGroup | undefined>(undefined, GROUPS, 2, true)
    : fc.constant(undefined);
  return fc.record<DrawnWorld>({
    arrays: exactly(
      ARRAYS.length,
      fc.record<DrawnArray>({
        spot: mostly(false, [true], 3, on.spot),
        pinned: mostly(false, [true], 6, on.fixedGroups),
        configured: mostly(false, [true], 3, on.fixedGroups),
        onlyNamed: mostly(false, [true], 6, on.names),
        nodes: upTo(10, on.scarce),
        cores: upTo(60, on.scarce),
      }),
    ),
    places: exactly(
      PLACES.length,
      fc.record<DrawnPlace>({
        isOffered: mostly(true, [false], 2, true),
        left: upTo(8, on.scarce),
        price: mostly<number | undefined>(1, [undefined, 0.2, 2.5], 1, true),
        going: mostly(0, [1], 6, on.refusals),
        refusal: mostly<DrawnPlace["refusal"]>("none", ["invalid", "paused", "was-paused"], 6, on.refusals),
        groups: mostly<DrawnPlace["groups"]>("none", ["paused", "was-paused"], 6, on.refusals),
        failedSecondsAgo: mostly<number | undefined>(undefined, [100, 900], 6, on.refusals),
      }),
    ),
    nodes: fc.array(
      fc.record<DrawnNode>({
        place,
        group,
        order: fc.nat(3),
        state: fc.constantFrom("ready", "ready", "coming", on.deallocated ? "deallocated" : "coming"),
      }),
      { maxLength: 8 },
    ),
    inFlight: fc.array(
      fc.record({
        place,
        group,
        count: fc.integer({ min: 1, max: 3 }),
        isNamed: on.names ? fc.boolean() : fc.constant(false),
      }),
      { maxLength: 2 },
    ),
    blocked: on.names
      ? fc.uniqueArray(
          fc.record({ name: fc.constantFrom(...NAMES), why: fc.constantFrom("over", "waits", "earlier") }),
          { maxLength: 3, selector: ({ name }) => name },
        )
      : fc.constant([]),
    limits: fc.tuple(...[14, 120, 40, 60, 40, 80, 30].map((most) => upTo(most, on.scarce))),
    caps: on.caps ? anyCaps : fc.constant([]),
    pools: fc.tuple(...[20, 8].map((most) => upTo(most, on.scarce))),
    closed: mostly(false, [true], 30, on.refusals),
    ample: fc.boolean(),
  });
}

const cap = (kind: Cap["kind"], names: readonly string[]): fc.Arbitrary<Cap> =>
  fc.oneof(
    fc.record({
      kind: fc.constant(kind),
      name: fc.constantFrom(...names),
      unit: fc.constant("nodes" as const),
      max: fc.nat(6),
    }),
    fc.record({
      kind: fc.constant(kind),
      name: fc.constantFrom(...names),
      unit: fc.constant("cores" as const),
      max: fc.nat(30),
    }),
  );

const anyCaps: fc.Arbitrary<readonly Cap[]> = fc.oneof(
  { arbitrary: fc.constant([]), weight: 2 },
  {
    arbitrary: fc.uniqueArray(fc.oneof(cap("request-set", ["even", "odd"]), cap("user", ["ann", "bob"])), {
      maxLength: 2,
      selector: ({ kind, name, unit }) => `${kind}/${name}/${unit}`,
    }),
    weight: 1,
  },
);
