import type { BucketOffer, InFlightSupply, SharedLimit, SupplyNode } from "../../src/domain/world.ts";
import type { BucketKey } from "../../src/domain/bucket.ts";
import type { ArrayName, PlacementGroup } from "../../src/domain/ids.ts";
import { arrayName, placementGroup } from "../../src/domain/ids.ts";
import type { NodeProperties } from "../../src/domain/node-view.ts";
import type { LimitKind } from "../../src/domain/limit.ts";
import type { Reason } from "../../src/domain/reason.ts";
import { plusSeconds } from "../../src/domain/units.ts";
import type { DrawnPlace, DrawnWorld } from "./draw-world.ts";
import { ARRAYS, CONFIGURED, GROUPS, NOW, PLACES, SHAPES } from "./small-shapes.ts";
import type { Shape } from "./small-shapes.ts";

/*
 * Offers of a drawn world: properties, limits and refusals.
 */

export const placeAt = (index: number) =>
  PLACES[index] ?? { array: arrayName("none"), a: 0, shape: SHAPES[0] ?? never() };

function never(): never {
  throw new RangeError("there are shapes");
}

/** An array's own group is the group of all its nodes; a size without groups has none else. */
export function groupOf(
  drawn: DrawnWorld,
  index: number,
  group: PlacementGroup | undefined,
): PlacementGroup | undefined {
  const { a, array, shape } = placeAt(index);
  if (drawn.arrays[a]?.pinned === true) return pinnedGroupOf(array);
  return shape.maxGroup === undefined ? undefined : group;
}

const pinnedGroupOf = (array: ArrayName): PlacementGroup => placementGroup(`${array}-own`);

export function bucketOf(index: number, group?: PlacementGroup): BucketKey {
  const { array, shape } = placeAt(index);
  const bucket = { array, machineType: shape.type };
  return group === undefined ? bucket : { ...bucket, placementGroup: group };
}

export function propertiesOf(
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

/** The same node with a name of its own: what an observation shows of it once it is up. */
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

export function limitsOf({ limits, arrays, places, ample }: DrawnWorld): SharedLimit[] {
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

export function offerOf(
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
    ...(ofArray?.onlyNamed === true ? { onlyNamed: true as const } : {}),
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

/** Nodes in each group, with those in flight and perhaps one that is terminating. No job uses a deallocated node. */
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
