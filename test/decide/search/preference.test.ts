import { describe, expect, test } from "vitest";
import { allocate } from "../../../src/decide/search/allocate.ts";
import { propertiesOf } from "../../../src/decide/bins/empty-node-fit.ts";
import type { AllocationPolicy } from "../../../src/domain/allocation.ts";
import type { BucketOffer, World } from "../../../src/domain/world.ts";
import type { JobDemand, RankedDemand } from "../../../src/domain/demand.ts";
import { arrayName } from "../../../src/domain/ids.ts";
import { readConstraints } from "../../../src/wire/constraint/constraint.ts";
import {
  bucket,
  job,
  limit,
  namedModes,
  node,
  now,
  offer,
  policy,
  world,
} from "../../support/build-world.ts";
import { shown } from "./scenario.ts";
import { newNotes } from "../../../src/wire/json/problems.ts";

/** `or` and lists of values are in order of preference for new nodes. They count before node array priority and before price. */

const usual = namedModes.filter(({ mode }) => mode.preference === "existing-first");

interface Size {
  readonly at: string;
  readonly cores: number;
  readonly gpus?: number;
  readonly spot?: boolean;
  readonly price?: number;
  readonly left?: number;
}

/** Each bucket has a limit of its own. */
function cluster(sizes: readonly Size[], more: Partial<World> = {}): World {
  const buckets = sizes.map(({ at, cores, gpus = 0, spot = false, price }, i): BucketOffer => ({
    ...offer(at, cores, { [i]: 1 }, { maxPlacementGroupSize: 20 }),
    resources: { ncpus: cores, ngpus: gpus },
    properties: () => ({ ...propertiesOf(bucket(at)), gpu_count: gpus, spot }),
    ...(spot ? { spot: true as const } : {}),
    ...(price === undefined ? {} : { price }),
  }));
  return world({
    buckets,
    limits: sizes.map(({ at, left = 9 }) => limit("bucket", at, "nodes", 0, left)),
    arrays: new Map(buckets.map((one) => [arrayName(one.bucket.array), "managed"] as const)),
    ...more,
  });
}

const ask = (id: string, asks: unknown, more: Partial<JobDemand> = {}): RankedDemand =>
  job(id, { constraints: readConstraints(asks, "constraints", newNotes()), ...more });

/** The CPU bucket is the cheapest and first in priority. GPU buckets follow, spot last. */
const SIZES: readonly Size[] = [
  { at: "cpu/F16", cores: 16, price: 0.1 },
  { at: "gpu/NC6", cores: 6, gpus: 1, price: 1 },
  { at: "spot/NC6", cores: 6, gpus: 1, spot: true, price: 0.5, left: 2 },
];

describe.each(namedModes)("$name", ({ mode }) => {
  const creates = (world: World, ...demands: readonly RankedDemand[]): readonly string[] =>
    shown(allocate(world, demands, mode, now)).creates;

  test("a GPU instance if we can get a spot instance, otherwise a non-spot CPU instance", () => {
    const spotGpu = {
      or: [
        { "node.spot": true, "node.gpu_count": 1 },
        { "node.spot": false, "node.gpu_count": 0 },
      ],
    };
    expect(creates(cluster(SIZES), ask("j", spotGpu, { iterations: 2 }))).toEqual(["2 x spot/NC6"]);
    expect(creates(cluster(SIZES), ask("j", spotGpu, { iterations: 5 }))).toEqual([
      "2 x spot/NC6",
      "3 x cpu/F16",
    ]);
  });

  test("alternatives that take amounts: the first that a new node has room for", () => {
    expect(
      creates(cluster(SIZES), ask("j", { or: [{ ngpus: 1 }, { ncpus: 2 }], "node.spot": false })),
    ).toEqual(["1 x gpu/NC6"]);
  });

  test("of a node that has room for another alternative only, that alternative counts", () => {
    // 6 cores and 4 more do not fit on NC6, so there the second alternative would count.
    const asks = { or: [{ ncpus: 6 }, { ncpus: 1 }], ncpus: 4, "node.spot": false };
    const sizes = SIZES.toReversed();
    const answer = allocate(
      cluster(sizes),
      [ask("j", [{ or: asks.or }, { ncpus: 4, "node.spot": false }])],
      mode,
      now,
    );
    const expected = mode.preference === "bucket-order" ? ["1 x gpu/NC6"] : ["1 x cpu/F16"];
    expect(shown(answer).creates).toEqual(expected);
  });

  test("existing nodes come first", () => {
    const there = cluster(SIZES, {
      nodes: [{ ...node({ id: "n1", at: "cpu/F16", cores: 16 }), resources: { ncpus: 16, ngpus: 0 } }],
    });
    const answer = allocate(there, [ask("j", { or: [{ ngpus: 1 }, { ncpus: 2 }] })], mode, now);
    const expected = mode.preference === "bucket-order" ? ["1 x gpu/NC6"] : [];
    expect(shown(answer).creates).toEqual(expected);
  });

  test("a gang goes to the first alternative, too", () => {
    const asks = { or: [{ "node.vm_size": "NC6" }, { "node.vm_size": "F16" }], ncpus: 1, "node.spot": false };
    expect(creates(cluster(SIZES), ask("j", asks, { nodeCount: 3 }))).toEqual(["3 x gpu/NC6"]);
  });

  test("xor and not are no preference", () => {
    const asks = { xor: [{ "node.gpu_count": 1 }, { "node.gpu_count": 0 }], ncpus: 1, "node.spot": false };
    expect(creates(cluster(SIZES), ask("j", asks))).toEqual(["1 x cpu/F16"]);
  });

  test("a list and alternatives add up", () => {
    // F16: 1 + 2; NC6 on demand: 2 + 1; spot: 2 + 1. Of equals the first by priority, or the cheapest.
    const asks = [
      { or: [{ "node.gpu_count": 1 }, { "node.gpu_count": 0 }] },
      { "node.nodearray": ["cpu", "gpu", "spot"] },
      { ncpus: 1 },
    ];
    // or: gpu 2, cpu 1; list: cpu 3, gpu 2, spot 1. cpu 4, gpu 4, spot 3.
    expect(creates(cluster(SIZES), ask("j", asks))).toEqual(["1 x cpu/F16"]);
  });
});

describe.each(usual)("$name", ({ mode }) => {
  const creates = (world: World, ...demands: readonly RankedDemand[]): readonly string[] =>
    shown(allocate(world, demands, mode, now)).creates;

  test("a list inside of an alternative orders the nodes of that alternative", () => {
    const asks = {
      or: [{ "node.gpu_count": 1, "node.nodearray": ["spot", "gpu"] }, { "node.gpu_count": 0 }],
      ncpus: 6,
    };
    expect(creates(cluster(SIZES), ask("j", asks, { iterations: 4, spot: "allow" }))).toEqual([
      "2 x spot/NC6",
      "2 x gpu/NC6",
    ]);
  });

  test.each([
    ["alternatives", { or: [{ "node.vm_size": "NC6" }, { "node.vm_size": "F16" }] }],
    ["a list", { "node.vm_size": ["NC6", "F16"] }],
  ])("fewer or cheaper nodes are no reason to give up a preference: %s", (_, likes) => {
    // In the order of rank, "likes" gets a GPU node of its own. "large" would share its node.
    const likes1 = ask("likes", [likes, { ncpus: 1, "node.spot": false }]);
    const large = ask("large", { ncpus: 14, "node.spot": false });
    expect(creates(cluster(SIZES), likes1, large)).toEqual(["1 x gpu/NC6", "1 x cpu/F16"]);
  });

  test("another demand that gets more is one", () => {
    const scarce = cluster(SIZES);
    const shared = {
      ...scarce,
      limits: [limit("cluster", "", "nodes", 0, 1)],
      buckets: scarce.buckets.map((one) => ({ ...one, charges: [{ limit: 0, amount: 1 }] })),
    };
    const likes = ask("likes", [{ "node.vm_size": ["NC6", "F16"] }, { ncpus: 1, "node.spot": false }]);
    const large = ask("large", { ncpus: 14, "node.spot": false });
    const answer = allocate(shared, [likes, large], mode, now);
    expect(shown(answer).placed).toEqual(["likes 1/1 (1 pending)", "large 1/1 (1 pending)"]);
  });
});

describe("with cheapest, a job that says nothing of spot gets none", () => {
  const cheapest: AllocationPolicy = { ...policy, among: "cheapest" };
  const sizes: readonly Size[] = [
    { at: "cpu/F16", cores: 16, price: 1 },
    { at: "spot/F16", cores: 16, spot: true, price: 0.1 },
  ];
  test.each([
    ["it says nothing", {}, "1 x cpu/F16"],
    ["it asks for spot", { "node.spot": true }, "1 x spot/F16"],
    ["it would rather have spot", { or: [{ "node.spot": true }, { "node.spot": false }] }, "1 x spot/F16"],
    ["it takes either", { "node.spot": [true, false] }, "1 x spot/F16"],
    ["it takes none", { not: { "node.spot": true } }, "1 x cpu/F16"],
    ["it names its node arrays", { "node.nodearray": ["cpu", "spot"] }, "1 x cpu/F16"],
    ["it names the array of spot nodes", { "node.nodearray": "spot" }, "1 x spot/F16"],
    [
      "each of its alternatives names an array",
      { or: [{ "node.nodearray": "spot" }, { "node.nodearray": "cpu" }] },
      "1 x spot/F16",
    ],
    [
      "one of its alternatives names none",
      { or: [{ "node.nodearray": "spot" }, { ncpus: 1 }] },
      "1 x cpu/F16",
    ],
  ])("%s", (_, asks, expected) => {
    const answer = allocate(cluster(sizes), [ask("j", [asks, { ncpus: 1 }])], cheapest, now);
    expect(shown(answer).creates).toEqual([expected]);
  });
});
