import { Dice } from "../simulation/dice.ts";
import type { BucketText, JobText, Load, NodeText } from "./load.ts";
import { BY_PRIORITY } from "./load.ts";

/** One array as a site would have it: the preferred size is the largest of three. */
const EXECUTE: readonly BucketText[] = [32, 16, 8].map((cores) => ({
  array: "execute",
  machineType: `D${cores}`,
  family: "D",
  cores,
  resources: { ncpus: cores, mem: `memory::${cores * 4}g` },
  price: cores / 20,
  maxPlacementGroupSize: 100,
}));

/** Jobs of one slot, which differ only by their names. */
export const oneSlotJobs: Load = {
  name: "one-slot-jobs",
  unit: "jobs",
  sizes: [1000, 10_000, 100_000],
  policy: BY_PRIORITY,
  input: (size) => ({
    jobs: Array.from({ length: size }, (_, i) => ({ name: `job-${i}`, constraints: [{ ncpus: 1 }] })),
    cluster: { buckets: EXECUTE, nodes: [] },
  }),
};

/** One job of many tasks. */
export const taskArray: Load = {
  name: "task-array",
  unit: "tasks",
  sizes: [10_000, 100_000, 1_000_000],
  policy: BY_PRIORITY,
  input: (size) => ({
    jobs: [{ name: "array", iterations: size, constraints: [{ ncpus: 1, mem: "memory::2g" }] }],
    cluster: { buckets: EXECUTE, nodes: [] },
  }),
};

/** Colocated jobs of sixteen whole nodes each, on a size made for them; a placement group holds six of them. */
export const mpiJobs: Load = {
  name: "mpi-jobs",
  unit: "jobs",
  sizes: [400],
  policy: BY_PRIORITY,
  input: (size) => ({
    jobs: Array.from({ length: size }, (_, i) => ({
      name: `mpi-${i}`,
      "node-count": 16,
      colocated: true,
      constraints: [{ ncpus: 44, exclusive: true }],
    })),
    cluster: {
      buckets: [
        {
          array: "hpc",
          machineType: "HC44",
          family: "HC",
          cores: 44,
          resources: { ncpus: 44, mem: "memory::352g" },
          price: 3.2,
          maxPlacementGroupSize: 100,
        },
        ...EXECUTE,
      ],
      nodes: [],
    },
  }),
};

/** Two arrays of one number of cores, so that the fewest nodes do not hang on which size is preferred. */
const MIXED: readonly BucketText[] = [
  { array: "batch", machineType: "D32", memory: 128, price: 1.6 },
  { array: "memory", machineType: "E32", memory: 256, price: 2.2 },
].map(({ array, machineType, memory, price }) => ({
  array,
  machineType,
  family: machineType.slice(0, 1),
  cores: 32,
  resources: { ncpus: 32, mem: `memory::${memory}g`, site: array === "batch" ? "north" : "south" },
  price,
}));

const MIXED_NODES: Readonly<Record<number, number>> = { 5000: 2000, 10_000: 4000, 100_000: 10_000 };

/**
 * Jobs of many kinds on a cluster that is up: two in three nodes are of the array `batch`. All jobs together take more cores than there
 * are, so that every node is needed and some new ones are, too.
 */
export const mixedJobs: Load = {
  name: "mixed-jobs",
  unit: "jobs",
  sizes: [5000, 10_000, 100_000],
  policy: BY_PRIORITY,
  input: (size) => {
    const nodes = MIXED_NODES[size] ?? Math.ceil(size / 10);
    const dice = new Dice(5000);
    // Slots of a job so that the demand is about 1.1 times what the nodes have: the mean of the kinds is 2.1 cores a slot.
    const mean = (1.1 * 32 * nodes) / size / 2.1;
    return {
      jobs: Array.from({ length: size }, (_, i) => mixedJob(`job-${i}`, mean, dice)),
      cluster: { buckets: MIXED, nodes: Array.from({ length: nodes }, (_, i) => mixedNode(i)) },
    };
  },
};

function mixedNode(i: number): NodeText {
  return { id: `node-${i}`, hostname: `ip-${i.toString(16).padStart(8, "0")}`, bucket: i % 3 === 2 ? 1 : 0 };
}

/** Seven in ten are arrays of tasks that run anywhere; one names a site (or takes a whole node), one is spread, one is bound to an array. */
function mixedJob(name: string, mean: number, dice: Dice): JobText {
  const ncpus = dice.pick([1, 1, 2, 4]);
  const mem = `memory::${ncpus * dice.pick([1, 2, 3])}g`;
  const user = `user-${dice.whole(1, 50)}`;
  const iterations = dice.whole(1, Math.max(1, Math.round(2 * mean - 1)));
  switch (dice.whole(0, 9)) {
    case 0:
      return dice.chance(0.1)
        ? { name, user, iterations: 1, constraints: [{ ncpus, mem, exclusive: true }] }
        : { name, user, iterations, constraints: [{ ncpus, mem, site: dice.pick(["north", "south"]) }] };
    case 1:
      return { name, user, "node-count": Math.min(iterations, 8), constraints: [{ ncpus, mem }] };
    case 2:
      return {
        name,
        user,
        iterations,
        constraints: [{ ncpus, mem, "node.nodearray": dice.pick(["batch", "batch", "memory"]) }],
      };
    default:
      return { name, user, iterations, constraints: [{ ncpus, mem }] };
  }
}
