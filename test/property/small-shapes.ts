import type { Constraint } from "../../src/domain/constraint.ts";
import { arrayName, machineType, placementGroup } from "../../src/domain/ids.ts";
import type { Resources } from "../../src/domain/resources.ts";
import { instant } from "../../src/domain/units.ts";
import { needing } from "../support/build-constraints.ts";
import type { Vocabulary } from "./random-demands.ts";

/*
 * What small worlds are made of: VM sizes, arrays, hosts, and the words that jobs know of them.
 */

export const NOW = instant(1_763_636_400_000);

export interface Shape {
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

export const SHAPES: readonly Shape[] = [
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

export const ARRAYS = ["alpha", "beta", "gamma"].map(arrayName);
export const PLACES = ARRAYS.flatMap((array, a) => SHAPES.map((shape) => ({ array, a, shape })));

export const GROUPS = ["rack", "pg-alpha-2n-1", "pg-alpha-2n-2", "pg-beta-3n-1", "pg-alpha-Cpu8-1"].map(
  placementGroup,
);

export const CONFIGURED = ["rack", "row"].map(placementGroup);
/** The names of the drawn nodes, of nodes in flight, and of nodes that are not there. */
export const NAMES = Array.from({ length: 14 }, (_, i) => `x${i}`);
const HOSTS = ["h0", "h1", "h2", "h3"];
const memory = (amount: number): Constraint => ({ kind: "amount", resource: "mem", amount: gib(amount) });

export const is = (
  property: "vcpu_count" | "location" | "hostname" | "placement_group" | "gpu_count",
  ...choices: (string | number)[]
): Constraint => ({
  kind: "property-choice",
  property,
  choices,
});

export const WORDS: Vocabulary = {
  arrays: ARRAYS,
  machineTypes: SHAPES.map(({ type }) => type),
  hosts: HOSTS,
  nodes: NAMES,
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
