import { Dice } from "../simulation/dice.ts";
import type { BucketText, JobText, Load, NodeText } from "./load.ts";
import { CHEAPEST } from "./load.ts";

const ARRAYS = 10;
const CORES = [8, 16, 24, 32, 40, 48, 64, 80, 96, 128] as const;
/** GiB for each core, by the letter of the series. */
const SERIES = { D: 4, E: 8, M: 16, X: 32 } as const;
const GIB_IN_KIB = 1024 ** 2;

/** 400 buckets: ten arrays, each with forty sizes. An array costs a little more than the one before it. */
const BUCKETS: readonly BucketText[] = Array.from({ length: ARRAYS }, (_, array) =>
  Object.entries(SERIES).flatMap(([series, gibibytes]) =>
    CORES.map((cores) => ({
      array: `array-${array}`,
      machineType: `${series}${cores}`,
      family: series,
      cores,
      resources: {
        ncpus: cores,
        mem: `memory::${cores * gibibytes}g`,
        site: array % 2 === 0 ? "north" : "south",
      },
      price: cores * (0.04 + 0.004 * gibibytes) * (1 + 0.002 * array),
    })),
  ),
).flat();

/** Nodes that are up are of the three smallest sizes of the series D and E. */
const UP = BUCKETS.flatMap(({ machineType }, bucket) =>
  /^[DE](8|16|24)$/.test(machineType) ? [bucket] : [],
);

/**
 * Jobs of which no two are alike: no two have the same amounts, and one in five says where it may run, one in twenty by a list of VM
 * sizes. Three in a hundred take much memory, one in a hundred a whole node. There is a node for every ten jobs; it holds about a
 * quarter of what is asked.
 */
export const distinctJobs: Load = {
  name: "distinct-jobs",
  unit: "jobs",
  sizes: [10_000, 100_000],
  policy: CHEAPEST,
  input: (size) => {
    const dice = new Dice(100_000);
    const known = new Set<string>();
    return {
      jobs: Array.from({ length: size }, (_, i) => ({
        name: `job-${i}`,
        user: `user-${dice.whole(1, 200)}`,
        ...distinctJob(dice, known),
      })),
      cluster: { buckets: BUCKETS, nodes: Array.from({ length: Math.ceil(size / 10) }, (_, i) => node(i)) },
    };
  },
};

function node(i: number): NodeText {
  return {
    id: `node-${i}`,
    hostname: `ip-${i.toString(16).padStart(8, "0")}`,
    bucket: UP[i % UP.length] ?? 0,
  };
}

function distinctJob(dice: Dice, known: Set<string>): Omit<JobText, "name" | "user"> {
  const amounts = distinctAmounts(dice, known);
  const die = dice.whole(0, 99);
  if (die < 1) return { constraints: [{ ...amounts, exclusive: true }] };
  return { iterations: dice.whole(1, 5), constraints: [amounts, ...placeOf(dice, die)] };
}

/** Memory is drawn in KiB, again and again until no other job has the same. */
function distinctAmounts(dice: Dice, known: Set<string>): { readonly ncpus: number; readonly mem: string } {
  for (;;) {
    const ncpus = dice.pick([1, 1, 2, 2, 3, 4]);
    const [least, most] = dice.chance(0.03) ? [6, 14] : [0.5, 4];
    const mem = `memory::${dice.whole(ncpus * least * GIB_IN_KIB, ncpus * most * GIB_IN_KIB)}k`;
    const key = `${ncpus} ${mem}`;
    if (known.has(key)) continue;
    known.add(key);
    return { ncpus, mem };
  }
}

function placeOf(dice: Dice, die: number): JobText["constraints"] {
  if (die < 9) return [{ "node.nodearray": `array-${dice.whole(0, ARRAYS - 1)}` }];
  if (die < 14)
    return [
      {
        "node.vm_size": CORES.filter(() => dice.chance(0.5))
          .concat(48)
          .map((cores) => `D${cores}`),
      },
    ];
  if (die < 17) return [{ site: dice.pick(["north", "south"]) }];
  if (die < 20) return [{ or: [{ "node.vm_size": `D${dice.pick(CORES)}` }, { site: "north" }] }];
  return [];
}
