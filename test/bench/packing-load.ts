import { Dice } from "../simulation/dice.ts";
import type { JobText, Load } from "./load.ts";
import { BY_PRIORITY } from "./load.ts";

/**
 * cluster-autoscaler's packing case: 50,000 pods of 50 m and 1,000 of 95 m; a node has 1,000 m and takes 100 pods. All of them together
 * take 2,595,000 m, so 2,595 nodes have to be full to the last. A node is full with 20 small pods, or with 10 large ones and 1 small one,
 * and in no other way: 100 nodes of the second kind and 2,495 of the first are the only answer.
 */
function packing(order: "small-first" | "large-first" | "shuffled"): Load {
  return {
    name: `packing-${order}`,
    unit: "pods",
    sizes: [51_000],
    policy: BY_PRIORITY,
    input: (size) => {
      const large = Math.floor(size / 51);
      const small = Array.from({ length: size - large }, (_, i) => pod(`small-${i}`, 50));
      const few = Array.from({ length: large }, (_, i) => pod(`large-${i}`, 95));
      const jobs = order === "large-first" ? [...few, ...small] : [...small, ...few];
      return {
        jobs: order === "shuffled" ? shuffle(jobs, new Dice(2595)) : jobs,
        cluster: {
          buckets: [
            {
              array: "pods",
              machineType: "node",
              family: "node",
              cores: 1,
              resources: { mcpu: 1000, pods: 100 },
              price: 1,
            },
          ],
          nodes: [],
        },
      };
    },
  };
}

function shuffle<T>(items: readonly T[], dice: Dice): readonly T[] {
  const order = [...items];
  for (let last = order.length - 1; last > 0; last -= 1) {
    const other = dice.whole(0, last);
    const [a, b] = [order[last], order[other]];
    if (a !== undefined && b !== undefined) [order[last], order[other]] = [b, a];
  }
  return order;
}

const pod = (name: string, mcpu: number): JobText => ({ name, constraints: [{ mcpu, pods: 1 }] });

export const packingCases: readonly Load[] = [
  packing("small-first"),
  packing("large-first"),
  packing("shuffled"),
];
