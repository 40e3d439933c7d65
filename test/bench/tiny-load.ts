import type { Dice } from "../simulation/dice.ts";
import type { JobText, LoadInput } from "./load.ts";

/** A load so small that every way to place it can be tried. */
export interface TinyLoad {
  readonly types: readonly { readonly ncpus: number; readonly memory: number; readonly price: number }[];
  /** The type of each existing node. */
  readonly nodes: readonly number[];
  readonly jobs: readonly TinyJob[];
}

export interface TinyJob {
  readonly kind: "packed" | "alone" | "spread" | "colocated";
  readonly slots: number;
  readonly ncpus: number;
  readonly memory: number;
}

/** Up to six slots; the first type holds any of them, and all of a colocated job. */
export function drawTinyLoad(dice: Dice): TinyLoad {
  const types = Array.from({ length: dice.whole(1, 3) }, (_, i) => ({
    ncpus: i === 0 ? 8 : dice.whole(1, 10),
    memory: i === 0 ? 8 : dice.whole(1, 10),
    price: dice.whole(1, 12),
  }));
  const jobs: TinyJob[] = [];
  for (let left = dice.whole(1, 6); left > 0;) {
    const slots = dice.whole(1, Math.min(3, left));
    left -= slots;
    const kind = dice.pick<TinyJob["kind"]>(["packed", "packed", "alone", "spread", "colocated"]);
    jobs.push({ kind, slots, ncpus: dice.whole(1, 5), memory: dice.whole(0, 5) });
  }
  return {
    types,
    nodes: Array.from({ length: dice.whole(0, 2) }, () => dice.whole(0, types.length - 1)),
    jobs,
  };
}

/** The same as an input of the bench. */
export function inputOf({ types, nodes, jobs }: TinyLoad): LoadInput {
  return {
    jobs: jobs.map(({ kind, slots, ncpus, memory }, i): JobText => ({
      name: `job-${i}`,
      ...(kind === "spread" ? { "node-count": slots } : { iterations: slots }),
      ...(kind === "colocated" ? { colocated: true } : {}),
      constraints: [{ ncpus, mem: memory, ...(kind === "alone" ? { exclusive: true } : {}) }],
    })),
    cluster: {
      buckets: types.map(({ ncpus, memory, price }, i) => ({
        array: "tiny",
        machineType: `type-${i}`,
        family: "tiny",
        cores: ncpus,
        resources: { ncpus, mem: memory },
        price,
        maxPlacementGroupSize: 10,
      })),
      nodes: nodes.map((bucket, i) => ({ id: `node-${i}`, hostname: `host-${i}`, bucket })),
    },
  };
}
