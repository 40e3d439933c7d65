import fc from "fast-check";
import type { InFlightSupply, SupplyNode, World } from "../../src/domain/world.ts";
import type { BucketKey, Purpose } from "../../src/domain/bucket.ts";
import { bucketText } from "../../src/domain/bucket.ts";
import type { Pool, RankedDemand } from "../../src/domain/demand.ts";
import { arrayName, nodeId } from "../../src/domain/ids.ts";
import type { Reason } from "../../src/domain/reason.ts";
import type { GroupFill } from "../../src/domain/record.ts";
import { instant } from "../../src/domain/units.ts";
import type { Features } from "./features.ts";
import { anyPartOf, EVERYTHING } from "./features.ts";
import type { Vocabulary } from "./random-demands.ts";
import { anyDemands } from "./random-demands.ts";
import { anyWorldParts, exactly } from "./draw-world.ts";
import type { DrawnNode, DrawnWorld } from "./draw-world.ts";
import { bucketOf, groupOf, limitsOf, offerOf, placeAt, propertiesOf } from "./drawn-offers.ts";
import { ARRAYS, GROUPS, NAMES, NOW, PLACES, WORDS, is } from "./small-shapes.ts";

/** Small worlds that hold everything: three arrays, five VM sizes of different shapes, some nodes of each state, limits of each kind. */
export interface Case {
  readonly world: World;
  readonly demands: readonly RankedDemand[];
}

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
  const inFlight = drawn.inFlight.map((flight, i) => flightOf(drawn, flight, i));
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
    ...(drawn.blocked.length === 0 ? {} : { blockedNames: new Map(drawn.blocked.map(blockedName)) }),
    ...(drawn.closed ? { closed: { code: "cluster-not-started", state: "Off", targetState: "Off" } } : {}),
  };
}

function blockedName({ name, why }: DrawnWorld["blocked"][number]): [string, Reason] {
  if (why === "earlier") return [name, { code: "name-earlier", name }];
  if (why === "waits") return [name, { code: "name-waits", name, status: "Terminating" }];
  return [name, { code: "name-over", name, state: "refused", at: NOW, why: "drawn" }];
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
    name: NAMES[i] ?? "",
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
  { place, group, count, isNamed }: DrawnWorld["inFlight"][number],
  i: number,
): InFlightSupply {
  const { shape, a } = placeAt(place);
  const bucket = bucketOf(place, groupOf(drawn, place, group));
  return {
    bucket,
    purpose: isNamed ? { kind: "named", name: NAMES[10 + i] ?? "" } : purposeOf(bucket),
    resources: shape.resources,
    properties: propertiesOf(bucket, shape, drawn.arrays[a]?.spot === true, undefined),
    cores: shape.cores,
    count: isNamed ? 1 : count,
  };
}
