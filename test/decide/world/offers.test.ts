import { describe, expect, test } from "vitest";
import { buildWorld } from "../../../src/decide/world/build-world.ts";
import { clusterName, machineType, placementGroup } from "../../../src/domain/ids.ts";
import { DEFAULT_POLICY } from "../../../src/domain/policy.ts";
import type { PriceTable } from "../../../src/domain/price.ts";
import { renderReason } from "../../../src/domain/reason-text.ts";
import { bucketText } from "../../../src/domain/bucket.ts";
import { plusSeconds } from "../../../src/domain/units.ts";
import { D4, array, at, bucket, build, now } from "./small-snapshot.ts";

describe("offers", () => {
  const size = (name: string, prices: { readonly onDemand?: number; readonly spot?: number }) =>
    [name.toLowerCase(), { machineType: machineType(name), ...prices }] as const;
  const prices: PriceTable = {
    currency: "USD",
    locations: new Map([
      [
        "westeurope",
        new Map([size("standard_d4S_v5", { onDemand: 0.2, spot: 0.03 }), size("B", { onDemand: 9 })]),
      ],
      ["eastus", new Map([size("B", { onDemand: 3 })])],
    ]),
    proxies: new Map([
      ["usgov", "westeurope"],
      ["eastus", "westeurope"],
    ]),
  };

  test.each([
    { name: "the location's, however the size is spelled", region: "westeurope", price: 0.2 },
    {
      name: "that of evicted nodes where nodes may be evicted",
      region: "westeurope",
      spot: true,
      price: 0.03,
    },
    { name: "of the location that stands in", region: "usgov", price: 0.2 },
    { name: "none where the location has prices of other sizes", region: "eastus", price: undefined },
    { name: "none in an unknown location", region: "mars", price: undefined },
    {
      name: "none of evictable nodes where only the other is known",
      type: "B",
      region: "westeurope",
      spot: true,
    },
  ])("price: $name", ({ region, spot = false, type = D4, price }) => {
    const { buckets } = build(
      { arrays: [array("execute", [bucket(type)], { region, spot })] },
      { policy: { ...DEFAULT_POLICY, prices } },
    );
    expect(buckets.map((offer) => [offer.price, offer.spot])).toEqual([[price, spot ? true : undefined]]);
  });

  test("placement groups: those of every array, then the array's own, each once", () => {
    const placementGroups = new Map([
      ["default", [placementGroup("pg0"), placementGroup("pg1")]],
      ["hpc", [placementGroup("pg2"), placementGroup("pg0")]],
    ]);
    const { buckets } = build(
      { arrays: [array("hpc", [bucket("A"), bucket("B")]), array("htc", [bucket("A")])] },
      { policy: { ...DEFAULT_POLICY, placementGroups } },
    );
    expect(buckets.map(({ configuredGroups }) => configuredGroups)).toEqual([
      ["pg0", "pg1", "pg2"],
      ["pg0", "pg1", "pg2"],
      ["pg0", "pg1"],
    ]);
    const { buckets: own } = build(
      { arrays: [array("htc", [bucket("A")])] },
      { policy: { ...DEFAULT_POLICY, placementGroups: new Map([["hpc", [placementGroup("pg2")]]]) } },
    );
    expect(own.map(({ configuredGroups }) => configuredGroups)).toEqual([undefined]);
  });

  test("arrays by priority, then in the order of the status; sizes in theirs", () => {
    const world = build({
      arrays: [
        array("low", [bucket("B"), bucket("A")]),
        array("high", [bucket("C")], { priority: 5 }),
        array("also", [bucket("D")]),
      ],
    });
    expect(world.buckets.map(({ bucket }) => bucketText(bucket))).toEqual([
      "high/C",
      "low/B",
      "low/A",
      "also/D",
    ]);
  });

  test("backoff is for one array and size, or one placement group of it, and ends", () => {
    const backoff = { seconds: 60, cause: "refused", message: "no", until: plusSeconds(now, 30) } as const;
    const world = build(
      { arrays: [array("execute", [bucket("A"), bucket("B"), bucket("C")]), array("other", [bucket("A")])] },
      {
        backoffs: [
          { ...backoff, bucket: at("execute", "a") },
          { ...backoff, bucket: at("execute", "B", "pg-1") },
          { ...backoff, bucket: at("execute", "C"), until: now },
        ],
      },
    );
    expect(
      world.buckets.map(({ refusal, groupRefusals }) => [refusal?.code, [...(groupRefusals?.keys() ?? [])]]),
    ).toEqual([
      ["backing-off", []],
      [undefined, ["pg-1"]],
      [undefined, []],
      [undefined, []],
    ]);
  });

  test.each([
    { name: "never started", state: {}, text: "the cluster is not started (state none, target state none)" },
    {
      name: "terminating",
      state: { state: "Started", targetState: "Terminated" },
      text: "the cluster is not started (state Started, target state Terminated)",
    },
  ])("closed while the cluster is $name", ({ state, text }) => {
    const { closed } = buildWorld({
      snapshot: { cluster: clusterName("c"), at: now, limit: {}, arrays: [], nodes: [], ...state },
      ledger: new Map(),
      inFlight: [],
      pendingCreates: [],
      backoffs: [],
      policy: DEFAULT_POLICY,
      standings: new Map(),
      excluded: new Set(),
      order: () => 0,
      now,
    });
    expect(closed && renderReason(closed)).toBe(text);
  });
});
