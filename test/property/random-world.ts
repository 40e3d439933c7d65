import fc from "fast-check";
import type {
  BucketOffer,
  InFlightSupply,
  SharedLimit,
  SupplyNode,
  World,
} from "../../src/domain/allocation.ts";
import type { Constraint } from "../../src/domain/constraint.ts";
import type { Demand, RankedDemand } from "../../src/domain/demand.ts";
import type { ArrayName } from "../../src/domain/ids.ts";
import { arrayName, machineType, nodeId, placementGroup, setName } from "../../src/domain/ids.ts";
import type { Reason } from "../../src/domain/reason.ts";
import type { BucketKey, Purpose } from "../../src/domain/bucket.ts";
import { instant } from "../../src/domain/units.ts";
import { EXCLUSIVE, inArrays, needing, ofSizes } from "../support/build-constraints.ts";

/** Small worlds: two arrays, three VM sizes, a few nodes, tight limits; demands of every kind that compete for them. */
const sizes = [
  { type: machineType("S2"), cores: 2, mem: 8 },
  { type: machineType("S4"), cores: 4, mem: 8 },
  { type: machineType("S8"), cores: 8, mem: 64 },
];
const arrays = [arrayName("alpha"), arrayName("beta")];
const anyArray = fc.constantFrom(...arrays);
const anySize = fc.constantFrom(...sizes);
const groupNames = ["pg-alpha-S4-1", "rack", "pg-alpha-2n-1", "pg-alpha-2n-2", "pg-beta-3n-1"].map(
  placementGroup,
);

interface Case {
  readonly world: World;
  readonly demands: readonly RankedDemand[];
}

const anyLimits = fc.tuple(
  fc.nat(12),
  fc.nat(8),
  fc.nat(8),
  fc.nat(60),
  fc.array(fc.nat(6), { minLength: 6, maxLength: 6 }),
);

/** Which of the six buckets take no new nodes, and which have a group that backs off. */
const anyRefusals = fc.record({
  buckets: fc.uniqueArray(fc.nat(5), { maxLength: 2 }),
  groups: fc.uniqueArray(fc.nat(5), { maxLength: 1 }),
});

const anyNode = fc.record({
  array: anyArray,
  size: anySize,
  group: fc.option(fc.constantFrom(...groupNames), { nil: undefined, freq: 2 }),
  order: fc.nat(3),
  ready: fc.boolean(),
});

const anyInFlight = fc.record({ array: anyArray, size: anySize, count: fc.integer({ min: 1, max: 3 }) });

const common = { priority: fc.nat(2) };
const someSizes = fc.option(
  fc.uniqueArray(fc.constantFrom(...sizes.map(({ type }) => type)), { minLength: 1, maxLength: 2 }),
  { nil: undefined, freq: 2 },
);

const anyTarget = fc.record({
  ...common,
  kind: fc.constant("target" as const),
  array: anyArray,
  amount: fc.record({ unit: fc.constantFrom("nodes" as const, "cores" as const), count: fc.nat(12) }),
  machineTypes: someSizes,
});

const anyGroups = fc.record({
  ...common,
  kind: fc.constant("groups" as const),
  array: anyArray,
  groups: fc.nat(3),
  size: fc.oneof(
    fc.record({ unit: fc.constant("nodes" as const), count: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ unit: fc.constant("cores" as const), count: fc.integer({ min: 1, max: 20 }) }),
  ),
  machineTypes: someSizes,
});

const anyNeeds = fc
  .constantFrom<Readonly<Record<string, number>>[]>(
    { ncpus: 1 },
    { ncpus: 3 },
    { ncpus: 1, mem: 5 },
    { ncpus: 16 },
    { mem: 2 },
  )
  .map(needing);

/** What a job may say about where it goes and with whom. */
const anyWishes = fc.record({
  arrays: fc.option(fc.uniqueArray(anyArray, { minLength: 1 }), { nil: undefined }),
  machineTypes: someSizes,
  exclusive: fc.boolean(),
});

const anyJob = fc
  .record({
    ...common,
    kind: fc.constant("job" as const),
    needs: anyNeeds,
    wishes: anyWishes,
    iterations: fc.nat(14),
    nodeCount: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined, freq: 2 }),
    colocated: fc.boolean(),
    placed: fc.array(
      fc.record({
        hostname: fc.constantFrom("h0", "h1", "h2", "gone"),
        iterations: fc.integer({ min: 1, max: 2 }),
      }),
      { maxLength: 2 },
    ),
  })
  .map(({ needs, wishes, ...job }) => ({ ...job, needs, constraints: [...needs, ...wishesOf(wishes)] }));

function wishesOf({
  arrays,
  machineTypes,
  exclusive,
}: typeof anyWishes extends fc.Arbitrary<infer T> ? T : never): readonly Constraint[] {
  return [
    ...(arrays === undefined ? [] : [inArrays(...arrays)]),
    ...(machineTypes === undefined ? [] : [ofSizes(...machineTypes)]),
    ...(exclusive ? [EXCLUSIVE] : []),
  ];
}

/** Where everything may go anywhere: one array, one size, so that no choice of place can be regretted later. */
export const plainDemands = fc.array(
  fc.oneof(
    anyTarget.map((demand) => ({ ...demand, array: arrays[0] ?? demand.array, machineTypes: undefined })),
    anyJob.map((demand) => ({ ...demand, constraints: demand.needs, placed: [] })),
  ),
  { minLength: 1, maxLength: 6 },
);

const anyDemands = fc.array(fc.oneof(anyTarget, anyGroups, anyJob), { minLength: 1, maxLength: 6 });

function withoutAbsent<T extends object>(value: T): T {
  // fast-check makes members that are undefined; exactOptionalPropertyTypes wants them absent.
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}

function key(array: ArrayName, type: (typeof sizes)[number], group?: BucketKey["placementGroup"]): BucketKey {
  const bucket = { array, machineType: type.type };
  return group === undefined ? bucket : { ...bucket, placementGroup: group };
}

const paused = (bucket: BucketKey): Reason => ({
  code: "backing-off",
  bucket,
  until: instant(1e15),
  message: "drawn",
});
const plain: Purpose = { kind: "array" };
const offered = (size: (typeof sizes)[number]) => ({
  resources: { ncpus: size.cores, mem: size.mem },
  cores: size.cores,
});

function limitsOf([cluster, alpha, beta, cores, buckets]: typeof anyLimits extends fc.Arbitrary<infer T>
  ? T
  : never): SharedLimit[] {
  const limit = (
    kind: SharedLimit["id"]["kind"],
    name: string,
    unit: "nodes" | "cores",
    left: number,
  ): SharedLimit => ({
    id: { kind, name, unit },
    used: 3,
    max: left + 3,
    left,
  });
  return [
    limit("cluster", "", "nodes", cluster),
    limit("nodearray", "alpha", "nodes", alpha),
    limit("nodearray", "beta", "nodes", beta),
    limit("regional-quota", "here", "cores", cores),
    ...buckets.map((left, i) => limit("bucket", `b${i}`, "nodes", left)),
  ];
}

/** Nodes in a group's placement group were made for that group, unless the array is another one. */
function purposeOf(array: ArrayName, group: BucketKey["placementGroup"]): Purpose {
  const size = /^pg-(alpha|beta)-(\dn)-\d$/.exec(group ?? "");
  if (group === undefined || size?.[1] !== array) return plain;
  return { kind: "group", key: `${array}:${size[2]}`, group };
}

interface Refusals {
  readonly buckets: readonly number[];
  readonly groups: readonly number[];
}

function offersOf(nodes: readonly SupplyNode[], refusals: Refusals): BucketOffer[] {
  return arrays.flatMap((array, a) =>
    sizes.map((size, s): BucketOffer => {
      const groupSizes = new Map<NonNullable<BucketKey["placementGroup"]>, number>();
      for (const { bucket } of nodes) {
        if (bucket.array !== array || bucket.machineType !== size.type || bucket.placementGroup === undefined)
          continue;
        groupSizes.set(bucket.placementGroup, (groupSizes.get(bucket.placementGroup) ?? 0) + 1);
      }
      return {
        bucket: key(array, size),
        ...offered(size),
        charges: [
          { limit: 3, amount: size.cores },
          { limit: 1 + a, amount: 1 },
          { limit: 0, amount: 1 },
          { limit: 4 + a * 3 + s, amount: 1 },
        ],
        groupSizes,
        // The smallest size has no placement groups.
        ...(s === 0 ? {} : { maxPlacementGroupSize: 4 }),
        ...(refusals.buckets.includes(a * 3 + s)
          ? { refusal: { code: "bucket-invalid", bucket: key(array, size), why: "drawn" } }
          : {}),
        ...(refusals.groups.includes(a * 3 + s)
          ? { groupRefusals: new Map(groupNames.map((name) => [name, paused(key(array, size, name))])) }
          : {}),
      };
    }),
  );
}

/** A case from drawn parts; `demands` decides how mixed it is. */
export function anyCase(demands: typeof anyDemands | typeof plainDemands = anyDemands): fc.Arbitrary<Case> {
  return fc
    .tuple(
      anyLimits,
      fc.array(anyNode, { maxLength: 8 }),
      fc.array(anyInFlight, { maxLength: 2 }),
      anyRefusals,
      demands,
    )
    .map(([limits, drawn, flying, refusals, wanted]) => {
      const nodes = drawn.map(({ array, size, group, order, ready }, i): SupplyNode => ({
        nodeId: nodeId(`n${(i * 7) % 11}-${i}`),
        hostname: `h${i}`,
        bucket: key(array, size, group),
        purpose: purposeOf(array, group),
        ...offered(size),
        order: ready ? order : 10,
        ready,
      }));
      const inFlight = flying.map(({ array, size, count }): InFlightSupply => ({
        bucket: key(array, size),
        purpose: plain,
        ...offered(size),
        count,
      }));
      const world: World = {
        nodes,
        inFlight,
        buckets: offersOf(nodes, refusals),
        limits: limitsOf(limits),
        arrays: new Map(arrays.map((array) => [array, "managed"])),
      };
      return { world, demands: wanted.map((demand, i) => rank(demand, i)) };
    });
}

function rank(drawn: object, position: number): RankedDemand {
  const id = `d${position}`;
  // The parts were drawn to make a demand; only its identity is added here.
  const demand = withoutAbsent({ ...drawn, id, name: id, position }) as unknown as Demand;
  return { set: setName(position % 2 === 0 ? "even" : "odd"), demand };
}
