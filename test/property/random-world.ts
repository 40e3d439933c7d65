import fc from "fast-check";
import type {
  BucketOffer,
  Cap,
  InFlightSupply,
  SharedLimit,
  SupplyNode,
  World,
} from "../../src/domain/world.ts";
import type { BucketKey, Purpose } from "../../src/domain/bucket.ts";
import { bucketText } from "../../src/domain/bucket.ts";
import type { Constraint } from "../../src/domain/constraint.ts";
import type { Pool, RankedDemand } from "../../src/domain/demand.ts";
import type { ArrayName, PlacementGroup } from "../../src/domain/ids.ts";
import { arrayName, machineType, nodeId, placementGroup } from "../../src/domain/ids.ts";
import type { NodeProperties } from "../../src/domain/node-view.ts";
import type { LimitKind } from "../../src/domain/limit.ts";
import type { Reason } from "../../src/domain/reason.ts";
import type { GroupFill } from "../../src/domain/group-fill.ts";
import type { Resources } from "../../src/domain/resources.ts";
import { instant, plusSeconds } from "../../src/domain/units.ts";
import { needing } from "../support/build-constraints.ts";
import type { Features } from "./features.ts";
import { anyPartOf, EVERYTHING } from "./features.ts";
import type { Vocabulary } from "./random-demands.ts";
import { anyDemands } from "./random-demands.ts";

export const NOW = instant(1_763_636_400_000);

/** Small worlds that hold everything: three arrays, five VM sizes of different shapes, some nodes of each state, limits of each kind. */
export interface Case {
  readonly world: World;
  readonly demands: readonly RankedDemand[];
}

interface Shape {
  readonly type: ReturnType<typeof machineType>;
  readonly cores: number;
  /** What one costs in quota: more than its cores for constrained sizes. */
  readonly quota: number;
  readonly family: string;
  readonly resources: Resources;
  /** Largest placement group; absent: the size has none. */
  readonly maxGroup?: number;
}

const gib = (amount: number) => ({ amount, unit: "g" as const });
const SHAPES: readonly Shape[] = [
  {
    type: machineType("S2"),
    cores: 2,
    quota: 2,
    family: "small",
    resources: { ncpus: 2, mem: gib(8), ngpus: 0, scratch: 0.5, tier: "silver-1" },
  },
  {
    type: machineType("Cpu8"),
    cores: 8,
    quota: 8,
    family: "cpu",
    resources: { ncpus: 8, mem: gib(8), ngpus: 0, scratch: 1, tier: "gold-1" },
    maxGroup: 4,
  },
  {
    type: machineType("Mem4"),
    cores: 4,
    quota: 8,
    family: "cpu",
    resources: { ncpus: 4, mem: gib(64), ngpus: 0, scratch: 0.3, local: true },
    maxGroup: 3,
  },
  {
    type: machineType("Gpu6"),
    cores: 6,
    quota: 6,
    family: "gpu",
    resources: { ncpus: 6, mem: gib(32), ngpus: 2, scratch: 2.5, tier: "gold-2", local: false },
    maxGroup: 5,
  },
];
const ARRAYS = ["alpha", "beta", "gamma"].map(arrayName);
const PLACES = ARRAYS.flatMap((array, a) => SHAPES.map((shape) => ({ array, a, shape })));
const GROUPS = ["rack", "pg-alpha-2n-1", "pg-alpha-2n-2", "pg-beta-3n-1", "pg-alpha-Cpu8-1"].map(
  placementGroup,
);
const CONFIGURED = ["rack", "row"].map(placementGroup);
const HOSTS = ["h0", "h1", "h2", "h3"];

const memory = (amount: number): Constraint => ({ kind: "amount", resource: "mem", amount: gib(amount) });
const is = (
  property: "vcpu_count" | "location" | "hostname" | "placement_group" | "gpu_count",
  ...choices: (string | number)[]
): Constraint => ({
  kind: "property-choice",
  property,
  choices,
});

const WORDS: Vocabulary = {
  arrays: ARRAYS,
  machineTypes: SHAPES.map(({ type }) => type),
  hosts: HOSTS,
  pools: ["licence", "seats"],
  mark: "shift",
  needs: [
    // No amount: one slot on a node.
    [],
    [],
    needing({ ncpus: 0 }),
    needing({ ncpus: 1 }),
    needing({ ncpus: 1 }),
    needing({ ncpus: 3 }),
    [...needing({ ncpus: 1 }), memory(5)],
    [...needing({ ncpus: 0.5 }), memory(0.5)],
    needing({ mem: 3 }),
    needing({ scratch: 0.1 }),
    needing({ ncpus: 1, ngpus: 1 }),
    needing({ ncpus: 16 }),
    needing({ ncpus: 0 }),
  ],
  wishes: [
    { kind: "resource-choice", resource: "tier", choices: ["gold*"] },
    { kind: "resource-choice", resource: "tier", choices: ["silver-[12]", "gold-2"] },
    { kind: "resource-choice", resource: "local", choices: [true] },
    { kind: "property-choice", property: "nodearray", choices: ["[!g]*"] },
    is("vcpu_count", 8, 4),
    is("location", "westeurope"),
    is("gpu_count", 0),
    is("hostname", "h1"),
    { kind: "never", message: "drawn" },
  ],
};

interface DrawnArray {
  readonly spot: boolean;
  readonly pinned: boolean;
  readonly configured: boolean;
  readonly nodes: number;
  readonly cores: number;
}

interface DrawnPlace {
  readonly isOffered: boolean;
  readonly left: number;
  readonly price: number | undefined;
  readonly going: number;
  readonly refusal: "none" | "invalid" | "paused" | "was-paused";
  readonly groups: "none" | "paused" | "was-paused";
  readonly failedSecondsAgo: number | undefined;
}

interface DrawnNode {
  readonly place: number;
  readonly group: PlacementGroup | undefined;
  readonly order: number;
  readonly state: "ready" | "coming" | "deallocated";
}

interface DrawnWorld {
  readonly arrays: readonly DrawnArray[];
  readonly places: readonly DrawnPlace[];
  readonly nodes: readonly DrawnNode[];
  readonly inFlight: readonly {
    readonly place: number;
    readonly group: PlacementGroup | undefined;
    readonly count: number;
  }[];
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

const exactly = <T>(count: number, arbitrary: fc.Arbitrary<T>): fc.Arbitrary<readonly T[]> =>
  fc.array(arbitrary, { minLength: count, maxLength: count });

function anyWorldParts(on: Features): fc.Arbitrary<DrawnWorld> {
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
    inFlight: fc.array(fc.record({ place, group, count: fc.integer({ min: 1, max: 3 }) }), { maxLength: 2 }),
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

/**
 * A case from drawn parts, one half of them with all that the features allow, the other with some of it: there every feature is as often
 * absent as present.
 */
export function anyCase(features: Features = EVERYTHING): fc.Arbitrary<Case> {
  return fc.oneof(caseOf(features), anyPartOf(features).chain(caseOf));
}

function caseOf(features: Features): fc.Arbitrary<Case> {
  const words = wordsOf(features);
  return fc
    .tuple(anyWorldParts(features), anyDemands(words, features), exactly(GROUPS.length, anyFill))
    .map(([drawn, demands, fills]) => ({ world: withFills(worldOf(drawn, features), fills), demands }));
}

/** How far the filling of a group is that lacks nodes. */
type DrawnFill = "new" | "begun" | "over" | "given-up";

const anyFill = fc.constantFrom<DrawnFill>("new", "new", "begun", "over", "given-up");

const FILL_SECONDS = { begun: 300, over: 600, "given-up": 700 };

/** What earlier plans knew of the groups that were made for targets. */
function withFills(world: World, fills: readonly DrawnFill[]): World {
  const found = new Map<string, GroupFill>();
  for (const { bucket, purpose } of [...world.nodes, ...world.inFlight]) {
    const stage = fills[GROUPS.findIndex((group) => group === bucket.placementGroup)] ?? "new";
    if (purpose.kind !== "group" || stage === "new") continue;
    const since = instant(NOW - FILL_SECONDS[stage] * 1000);
    const givenUp = stage === "given-up" ? { givenUpAt: instant(NOW - 90_000) } : {};
    found.set(bucketText(bucket), { bucket, key: purpose.key, since, ...givenUp });
  }
  return found.size === 0 ? world : { ...world, groupFills: [...found.values()] };
}

function wordsOf({ variety, grouped }: Features): Vocabulary {
  if (!variety) {
    const { machineTypes, wishes } = WORDS;
    return {
      ...WORDS,
      arrays: ARRAYS.slice(0, 1),
      machineTypes: machineTypes.slice(1, 2),
      wishes: wishes.slice(4, 5),
    };
  }
  return grouped ? { ...WORDS, wishes: [...WORDS.wishes, is("placement_group", "rack")] } : WORDS;
}

function worldOf(drawn: DrawnWorld, features: Features): World {
  const nodes = drawn.nodes.map((node, i) => supplyOf(drawn, node, i));
  const inFlight = drawn.inFlight.map(({ place, group, count }) => flightOf(drawn, place, group, count));
  const offered = PLACES.flatMap((_, index) => {
    const isOffered = features.variety ? drawn.places[index]?.isOffered === true : index === 1;
    return isOffered ? [index] : [];
  });
  const [licence = 0, seats = 0] = drawn.pools;
  const pools: readonly Pool[] = [
    { name: "licence", total: licence + 2, used: 2 },
    { name: "seats", total: seats, used: 0 },
    { name: "shift", total: 0, used: 0, value: "night" },
  ];
  return {
    nodes,
    inFlight,
    buckets: offered.map((index) => offerOf(drawn, index, nodes, inFlight)),
    limits: limitsOf(drawn),
    arrays: new Map([
      ...ARRAYS.map((array) => [array, "managed"] as const),
      [arrayName("foreign"), "not-managed"],
    ]),
    pools,
    ...(drawn.caps.length === 0 ? {} : { caps: drawn.caps }),
    ...(drawn.closed ? { closed: { code: "cluster-not-started", state: "Off", targetState: "Off" } } : {}),
  };
}

const placeAt = (index: number) =>
  PLACES[index] ?? { array: arrayName("none"), a: 0, shape: SHAPES[0] ?? never() };

function never(): never {
  throw new RangeError("there are shapes");
}

/** An array's own group is the group of all its nodes; a size without groups has none else. */
function groupOf(
  drawn: DrawnWorld,
  index: number,
  group: PlacementGroup | undefined,
): PlacementGroup | undefined {
  const { a, array, shape } = placeAt(index);
  if (drawn.arrays[a]?.pinned === true) return pinnedGroupOf(array);
  return shape.maxGroup === undefined ? undefined : group;
}

const pinnedGroupOf = (array: ArrayName): PlacementGroup => placementGroup(`${array}-own`);

function bucketOf(index: number, group?: PlacementGroup): BucketKey {
  const { array, shape } = placeAt(index);
  const bucket = { array, machineType: shape.type };
  return group === undefined ? bucket : { ...bucket, placementGroup: group };
}

/** Nodes in a group's placement group were made for that group, unless the array is another one. */
function purposeOf({ array, placementGroup: group }: BucketKey): Purpose {
  const size = /^pg-(alpha|beta)-(\dn)-\d$/.exec(group ?? "");
  if (group === undefined || size?.[1] !== array) return { kind: "array" };
  return { kind: "group", key: `${array}:${size[2]}`, group };
}

function supplyOf(drawn: DrawnWorld, node: DrawnNode, i: number): SupplyNode {
  const { shape, a } = placeAt(node.place);
  const bucket = bucketOf(node.place, groupOf(drawn, node.place, node.group));
  const order = { ready: node.order, coming: 10, deallocated: 12 }[node.state];
  const host = node.state === "deallocated" ? undefined : `h${i}`;
  return {
    nodeId: nodeId(`n${(i * 7) % 11}-${i}`),
    ...(host === undefined ? {} : { hostname: host }),
    bucket,
    purpose: purposeOf(bucket),
    resources: shape.resources,
    properties: propertiesOf(bucket, shape, drawn.arrays[a]?.spot === true, host),
    cores: shape.cores,
    order,
    ready: node.state === "ready",
    ...(node.state === "deallocated" ? { deallocated: true as const } : {}),
  };
}

function flightOf(
  drawn: DrawnWorld,
  place: number,
  group: PlacementGroup | undefined,
  count: number,
): InFlightSupply {
  const { shape, a } = placeAt(place);
  const bucket = bucketOf(place, groupOf(drawn, place, group));
  return {
    bucket,
    purpose: purposeOf(bucket),
    resources: shape.resources,
    properties: propertiesOf(bucket, shape, drawn.arrays[a]?.spot === true, undefined),
    cores: shape.cores,
    count,
  };
}

function propertiesOf(
  bucket: BucketKey,
  shape: Shape,
  spot: boolean,
  host: string | undefined,
): () => NodeProperties {
  const group = bucket.placementGroup ?? null;
  const properties: NodeProperties = {
    name: host ?? null,
    nodearray: bucket.array,
    bucket_id: null,
    vm_size: bucket.machineType,
    vm_family: shape.family,
    hostname: host ?? null,
    fqdn: host ?? null,
    hostname_or_uuid: host ?? null,
    private_ip: null,
    instance_id: null,
    location: bucket.array === "beta" ? "northeurope" : "westeurope",
    spot,
    vcpu_count: shape.cores,
    pcpu_count: shape.cores,
    gpu_count: shape.resources["ngpus"] ?? 0,
    memory: shape.resources["mem"] ?? null,
    infiniband: false,
    state: host === undefined ? null : "Ready",
    exists: host !== undefined,
    colocated: group !== null,
    placement_group: group,
    keep_alive: false,
    create_time_unix: 0,
    last_match_time_unix: 0,
    delete_time_unix: null,
    create_time: null,
    last_match_time: null,
    delete_time: null,
    create_time_remaining: null,
    cores_per_socket: null,
    version: "7.9",
  };
  return () => properties;
}

/** The same node with a name of its own: what a look shows of it once it is up. */
export function namedProperties(
  properties: (() => NodeProperties) | undefined,
  group: PlacementGroup | undefined,
  host: string | undefined,
) {
  if (properties === undefined) return {};
  const known = properties();
  const name = host ?? known.name;
  const named = {
    ...known,
    name,
    hostname: name,
    fqdn: name,
    hostname_or_uuid: name,
    placement_group: group ?? null,
    colocated: group !== undefined,
  };
  return { properties: () => named };
}

const LIMITS: readonly (readonly [LimitKind, string, "nodes" | "cores"])[] = [
  ["cluster", "", "nodes"],
  ["cluster", "", "cores"],
  ["family-quota", "small", "cores"],
  ["family-quota", "cpu", "cores"],
  ["family-quota", "gpu", "cores"],
  ["regional-quota", "westeurope", "cores"],
  ["regional-spot-quota", "westeurope", "cores"],
];
const FAMILIES = ["small", "cpu", "gpu"];

function limitsOf({ limits, arrays, places, ample }: DrawnWorld): SharedLimit[] {
  const limit = (kind: LimitKind, name: string, unit: "nodes" | "cores", drawn: number): SharedLimit => {
    const left = ample ? drawn + 1000 : drawn;
    // CycleCloud may say that less is left than the figures would allow.
    return { id: { kind, name, unit }, used: 3, max: left + (left % 3 === 0 ? 5 : 3), left };
  };
  return [
    ...LIMITS.map(([kind, name, unit], i) => limit(kind, name, unit, limits[i] ?? 0)),
    ...arrays.flatMap(({ nodes, cores }, a) => [
      limit("nodearray", ARRAYS[a] ?? "", "nodes", nodes),
      limit("nodearray", ARRAYS[a] ?? "", "cores", cores),
    ]),
    ...places.map(({ left }, i) =>
      limit("bucket", `${placeAt(i).array}/${placeAt(i).shape.type}`, "nodes", left),
    ),
  ];
}

/** The narrow limits first; families and the region count quota, spot has a regional quota of its own and no family's. */
function chargesOf(index: number, isSpot: boolean): BucketOffer["charges"] {
  const { shape, a } = placeAt(index);
  return [
    { limit: 13 + index, amount: 1 },
    { limit: 7 + a * 2, amount: 1 },
    { limit: 8 + a * 2, amount: shape.cores },
    { limit: 0, amount: 1 },
    { limit: 1, amount: shape.cores },
    ...(isSpot
      ? [{ limit: 6, amount: shape.quota }]
      : [
          { limit: 2 + FAMILIES.indexOf(shape.family), amount: shape.quota },
          { limit: 5, amount: shape.quota },
        ]),
  ];
}

const pauseOf = (bucket: BucketKey, pause: string): Reason => ({
  code: "backing-off",
  bucket,
  until: plusSeconds(NOW, pause === "paused" ? 60 : -1),
  message: "drawn",
});

function refusalOf(bucket: BucketKey, refusal: DrawnPlace["refusal"]): Reason | undefined {
  if (refusal === "none") return undefined;
  return refusal === "invalid" ? { code: "bucket-invalid", bucket, why: "drawn" } : pauseOf(bucket, refusal);
}

function offerOf(
  drawn: DrawnWorld,
  index: number,
  nodes: readonly SupplyNode[],
  inFlight: readonly InFlightSupply[],
): BucketOffer {
  const { array, shape, a } = placeAt(index);
  const bucket = bucketOf(index);
  const ofArray = drawn.arrays[a];
  const here = drawn.places[index];
  const isSpot = ofArray?.spot === true;
  const refusal = refusalOf(bucket, here?.refusal ?? "none");
  const groupSizes = countGroups(bucket, nodes, inFlight, here?.going ?? 0);
  const pause = here?.groups ?? "none";
  const paused = ofArray?.pinned === true ? [pinnedGroupOf(array)] : GROUPS.slice(0, 1 + (index % 2));
  return {
    bucket,
    resources: shape.resources,
    properties: propertiesOf(bucket, shape, isSpot, undefined),
    cores: shape.cores,
    charges: chargesOf(index, isSpot),
    groupSizes,
    ...(here?.failedSecondsAgo === undefined ? {} : { capacityFailureSeconds: here.failedSecondsAgo }),
    ...(here?.price === undefined ? {} : { price: here.price * shape.cores * (isSpot ? 0.3 : 1) }),
    ...(isSpot ? { spot: true as const } : {}),
    ...(refusal === undefined ? {} : { refusal }),
    ...(shape.maxGroup === undefined ? {} : { maxPlacementGroupSize: shape.maxGroup }),
    ...(ofArray?.configured === true && shape.maxGroup !== undefined ? { configuredGroups: CONFIGURED } : {}),
    ...(ofArray?.pinned === true ? { pinnedGroup: pinnedGroupOf(array) } : {}),
    ...(pause === "none"
      ? {}
      : {
          groupRefusals: new Map(
            paused.map((name) => [name, pauseOf({ ...bucket, placementGroup: name }, pause)]),
          ),
        }),
  };
}

/** Nodes in each group, with those in flight and maybe one that is on its way down; a deallocated node is in use by nobody. */
function countGroups(
  bucket: BucketKey,
  nodes: readonly SupplyNode[],
  inFlight: readonly InFlightSupply[],
  going: number,
): ReadonlyMap<PlacementGroup, number> {
  const sizes = new Map<PlacementGroup, number>();
  const isHere = (other: BucketKey): boolean =>
    other.array === bucket.array && other.machineType === bucket.machineType;
  const counted = [
    ...nodes.filter(({ deallocated }) => deallocated !== true).map((node) => ({ ...node, count: 1 })),
    ...inFlight,
  ];
  for (const { bucket: where, count } of counted) {
    const group = where.placementGroup;
    if (group === undefined || !isHere(where)) continue;
    sizes.set(group, (sizes.get(group) ?? going) + count);
  }
  return sizes;
}
