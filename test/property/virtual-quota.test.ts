import fc from "fast-check";
import { expect, test } from "vitest";
import type { Node, Snapshot } from "../../src/domain/cluster.ts";
import type { ArrayName } from "../../src/domain/ids.ts";
import { arrayName, machineType } from "../../src/domain/ids.ts";
import type { Policy } from "../../src/domain/policy.ts";
import { OBSERVE, TwoFleets } from "../decide/virtual/two-fleets.ts";
import { at, buildArray, buildBucket, buildNode, buildSnapshot } from "../support/build-node.ts";
import { buildTarget } from "../support/build-record.ts";
import { runsOf, TIMEOUT } from "./runs.ts";

/**
 * Two arrays are observed and one acts, and all share quotas with others outside the cluster. Whenever the virtual fleet plans a node, then
 * the virtual nodes, the real nodes of the array that acts and its creates, and what others use, are within each limit together: CycleCloud
 * would have granted them, had the observed arrays had these nodes instead of their real ones.
 */

const SIZES = [
  { size: machineType("Standard_D4s_v5"), cores: 4, family: "D" },
  { size: machineType("Standard_D8s_v5"), cores: 8, family: "D" },
  { size: machineType("Standard_F4s_v2"), cores: 4, family: "F" },
] as const;
type Family = "D" | "F";

const ARRAYS = [
  { name: arrayName("one"), sizes: [SIZES[0], SIZES[2]] },
  { name: arrayName("two"), sizes: [SIZES[0], SIZES[1]] },
  { name: arrayName("own"), sizes: [SIZES[1], SIZES[2]] },
] as const;
const ACTS: ArrayName = arrayName("own");
const POLICY: Policy = { ...OBSERVE, arrayModes: new Map([[ACTS, "act"]]) };

interface Limits {
  readonly D: number;
  readonly F: number;
  readonly region: number;
  /** Nodes of the cluster. */
  readonly nodes: number;
}

/** One minute or more: what others and the other autoscaler do, and what is asked for. */
interface Step {
  readonly seconds: number;
  readonly outside: Readonly<Record<Family, number>>;
  /** Nodes that the other autoscaler has in "one" and "two", where there is room for them. */
  readonly real: readonly [number, number];
  /** What the sets ask of each array, in nodes. */
  readonly targets: readonly [number, number, number];
}

const few = fc.nat({ max: 14 });
const anyLimits: fc.Arbitrary<Limits> = fc.record({
  D: fc.integer({ min: 8, max: 80 }),
  F: fc.integer({ min: 4, max: 60 }),
  region: fc.integer({ min: 12, max: 120 }),
  nodes: fc.integer({ min: 3, max: 25 }),
});
const anyStep: fc.Arbitrary<Step> = fc.record({
  seconds: fc.constantFrom(60, 60, 60, 400),
  outside: fc.record({ D: fc.nat({ max: 16 }), F: fc.nat({ max: 12 }) }),
  real: fc.tuple(few, few),
  targets: fc.tuple(few, few, few),
});

const sizeOf = (type: string) => SIZES.find(({ size }) => size === type) ?? SIZES[0];

interface Used {
  D: number;
  F: number;
  region: number;
  nodes: number;
}

function useOf(types: readonly string[], { D, F }: Step["outside"]): Used {
  const used: Used = { D, F, region: D + F, nodes: types.length };
  for (const { cores, family } of types.map(sizeOf)) {
    used[family] += cores;
    used.region += cores;
  }
  return used;
}

const fits = (used: Used, limits: Limits): boolean =>
  used.D <= limits.D && used.F <= limits.F && used.region <= limits.region && used.nodes <= limits.nodes;

/** CycleCloud and those who use it. It grants a node while all limits hold. */
class RealCluster {
  readonly #limits: Limits;
  #nodes: readonly Node[] = [];
  #made = 0;
  #outside: Step["outside"] = { D: 0, F: 0 };

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  get outside(): Step["outside"] {
    return this.#outside;
  }

  typesIn(array: ArrayName): readonly string[] {
    return this.#nodes.filter((node) => node.array === array).map((node) => node.machineType);
  }

  /** Others take what there is room for. */
  take(wanted: Step["outside"]): void {
    for (const family of ["D", "F"] as const)
      while (this.#outside[family] !== wanted[family]) {
        const next = {
          ...this.#outside,
          [family]: this.#outside[family] + Math.sign(wanted[family] - this.#outside[family]),
        };
        if (next[family] > this.#outside[family] && !fits(useOf(this.#types(), next), this.#limits)) break;
        this.#outside = next;
      }
  }

  /** Sets the number of nodes of an array, within the room that there is. */
  setCount(array: ArrayName, type: string, count: number): void {
    const own = this.#nodes.filter((node) => node.array === array);
    const less = new Set(own.slice(count));
    this.#nodes = this.#nodes.filter((node) => !less.has(node));
    this.create(array, type, count - own.length);
  }

  create(array: ArrayName, type: string, count: number): void {
    for (let i = 0; i < count && fits(useOf([...this.#types(), type], this.#outside), this.#limits); i += 1) {
      const id = `${array}-${(this.#made += 1)}`;
      this.#nodes = [...this.#nodes, buildNode(id, { name: id, array, machineType: machineType(type) })];
    }
  }

  show(): Snapshot {
    const used = useOf(this.#types(), this.#outside);
    const { D, F, region, nodes } = this.#limits;
    const arrays = ARRAYS.map(({ name, sizes }) =>
      buildArray(name, {
        region: "westeurope",
        buckets: sizes.map(({ size, cores, family }) => {
          const left = Math.min(this.#limits[family] - used[family], region - used.region);
          return buildBucket(size, cores, {
            familyQuota: { quotaCores: family === "D" ? D : F, consumedCores: used[family] },
            regionalQuota: { quotaCores: region, consumedCores: used.region },
            availableCount: Math.max(0, Math.min(Math.floor(left / cores), nodes - used.nodes)),
            activeCount: this.#nodes.filter((node) => node.array === name && node.machineType === size)
              .length,
          });
        }),
      }),
    );
    return buildSnapshot(this.#nodes, { arrays, limit: { count: nodes } });
  }

  #types(): readonly string[] {
    return this.#nodes.map((node) => node.machineType);
  }
}

/** Returns how many virtual nodes were planned. */
function play(limits: Limits, steps: readonly Step[]): number {
  const cluster = new RealCluster(limits);
  const fleets = new TwoFleets({});
  let now = 0;
  for (const { seconds, outside, real, targets } of steps) {
    now += seconds;
    cluster.take(outside);
    cluster.setCount(ARRAYS[0].name, SIZES[0].size, real[0]);
    cluster.setCount(ARRAYS[1].name, SIZES[1].size, real[1]);
    const demands = ARRAYS.map(({ name }, i) =>
      buildTarget(0, { id: name, array: name, amount: { unit: "nodes", count: targets[i] ?? 0 } }),
    );
    fleets.push({ all: { demands, digest: `d${now}`, sentAt: at(now), expiresAt: at(now + 900) } });
    const { creates, virtual } = fleets.plan(now, cluster.show(), POLICY);
    const planned = creates.flatMap(({ bucket, count }) =>
      Array.from({ length: count }, () => bucket.machineType),
    );
    for (const { bucket } of creates) expect(bucket.array).toBe(ACTS);
    if ((virtual?.creates.length ?? 0) > 0) {
      const virtualTypes = fleets.fleet.nodes
        .filter(({ stoppedAt }) => stoppedAt === undefined)
        .map(({ node }) => node.machineType);
      const together = useOf([...virtualTypes, ...cluster.typesIn(ACTS), ...planned], cluster.outside);
      const grown = new Set((virtual?.creates ?? []).map(({ bucket }) => sizeOf(bucket.machineType).family));
      for (const family of grown)
        expect(together[family], `cores of ${family}`).toBeLessThanOrEqual(limits[family]);
      expect(together.region, "cores of the region").toBeLessThanOrEqual(limits.region);
      expect(together.nodes, "nodes of the cluster").toBeLessThanOrEqual(limits.nodes);
    }
    // CycleCloud grants what there is room for; the rest is asked for again.
    for (const { bucket, count } of creates) cluster.create(bucket.array, bucket.machineType, count);
    fleets.record = { ...fleets.record, intents: [] };
  }
  return fleets.fleet.made;
}

test(
  "with shared quotas the virtual fleet never plans more than the real cluster would have granted",
  () => {
    let made = 0;
    fc.assert(
      fc.property(anyLimits, fc.array(anyStep, { minLength: 2, maxLength: 12 }), (limits, steps) => {
        made += play(limits, steps);
      }),
      runsOf(1919, { usual: 30, deep: 2000 }),
    );
    expect(made).toBeGreaterThan(60);
  },
  TIMEOUT,
);
