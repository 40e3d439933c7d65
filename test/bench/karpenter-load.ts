import { Dice } from "../simulation/dice.ts";
import type { BucketText, JobText, Load } from "./load.ts";
import { CHEAPEST } from "./load.ts";

const MIB = 1024 ** 2;
/** The most pods of one group, and the most nodes of one placement group. */
const LARGEST_GROUP = 600;
const LABELS = 7;
const CPU = [100, 250, 500, 1000, 1500] as const;
const MEMORY = [100, 256, 512, 1024, 2048, 4096] as const;

/** Type i has i + 1 vCPUs and 2 GiB each; every node keeps 100 m of CPU and 10 MiB for itself. CPU is counted in thousandths. */
const TYPES: readonly BucketText[] = Array.from({ length: 400 }, (_, i) => {
  const cores = i + 1;
  const mebibytes = 2048 * cores;
  return {
    array: "pods",
    machineType: `type-${i}`,
    family: `family-${i % 20}`,
    cores,
    resources: { mcpu: 1000 * cores - 100, mem: `memory::${mebibytes - 10}m` },
    price: 0.1 * cores + (0.1 * mebibytes * MIB) / 1e9,
    maxPlacementGroupSize: LARGEST_GROUP,
  };
});

/**
 * Karpenter's scheduling load as jobs: 40 % generic pods, 20 % spread (of each label one job with a node for each of its pods), 20 %
 * colocated (of each label one group, cut into several above 600), 20 % alone on their nodes.
 */
export const karpenterPods: Load = {
  name: "karpenter-pods",
  unit: "pods",
  sizes: [100, 1000, 5000, 20_000],
  policy: CHEAPEST,
  input: (size) => {
    const dice = new Dice(400);
    const amounts = () => ({ mcpu: dice.pick(CPU), mem: `memory::${dice.pick(MEMORY)}m` });
    const fifth = Math.floor(size / 5);
    const jobs: JobText[] = [];
    for (let i = 0; i < size - 3 * fifth; i += 1)
      jobs.push({ name: `generic-${i}`, constraints: [amounts()] });
    for (const [label, pods] of parts(fifth, LABELS).entries()) {
      if (pods > 0) jobs.push({ name: `spread-${label}`, "node-count": pods, constraints: [amounts()] });
    }
    for (const [label, pods] of parts(fifth, LABELS).entries()) {
      parts(pods, Math.ceil(pods / LARGEST_GROUP)).forEach((iterations, part) =>
        jobs.push({ name: `group-${label}-${part}`, iterations, colocated: true, constraints: [amounts()] }),
      );
    }
    for (let i = 0; i < fifth; i += 1)
      jobs.push({ name: `alone-${i}`, constraints: [{ ...amounts(), exclusive: true }] });
    return { jobs, cluster: { buckets: TYPES, nodes: [] } };
  },
};

/** Splits a number into `count` parts that differ by at most one. */
function parts(total: number, count: number): readonly number[] {
  return Array.from(
    { length: count },
    (_, i) => Math.floor(((i + 1) * total) / count) - Math.floor((i * total) / count),
  );
}
