import type { Allocation } from "../../src/domain/allocation.ts";
import type { BucketOffer, SharedLimit, SupplyNode, World } from "../../src/domain/world.ts";
import type { Constraint } from "../../src/domain/constraint.ts";
import type { JobDemand, RankedDemand } from "../../src/domain/demand.ts";
import { arrayName, machineType, nodeId, setName } from "../../src/domain/ids.ts";
import { EXCLUSIVE, needing } from "../support/build-constraints.ts";
import type { Dice } from "../simulation/dice.ts";

/** A scarce cluster with few jobs, in plain numbers, so that the best of all plans can be proved. */
export interface SmallWorld {
  readonly sizes: readonly SmallSize[];
  /** Each is shared by the sizes that it lists, in nodes or in cores. */
  readonly limits: readonly SmallLimit[];
  readonly nodes: readonly SmallNode[];
  /** In the order of rank. */
  readonly jobs: readonly SmallJob[];
  /** Licences that are free. Absent: there is no pool of them. */
  readonly licences?: number;
}

/** Cores, GiB of memory, GPUs. */
export type Amounts = readonly [cores: number, memory: number, gpus: number];

export interface SmallSize {
  readonly has: Amounts;
  readonly price: number;
  readonly array: number;
  /** Maximum number of nodes in a placement group. */
  readonly groupSize?: number;
}

/** An existing node, and what a task that runs there takes. */
export interface SmallNode {
  readonly size: number;
  readonly used: Amounts;
  /** False: the node is shown with so much less, and no demand says why. */
  readonly isTaskKnown?: false;
  /** Absent: as all others. */
  readonly order?: number;
}

export interface SmallLimit {
  readonly kind: "cluster" | "nodearray" | "family-quota" | "regional-quota" | "bucket";
  readonly unit: "nodes" | "cores";
  readonly left: number;
  readonly sizes: readonly number[];
  /** Of a bucket, in nodes: CycleCloud offers no more than the other limits leave now (cyclecloud-wire.md A.3). */
  readonly isOffered?: true;
}

export interface SmallJob {
  /** Of each slot. */
  readonly takes: Amounts;
  /** Slots, or nodes of a gang. */
  readonly units: number;
  /** Slots on each node of a gang. Absent: no gang. */
  readonly slotsPerNode?: number;
  readonly exclusive: boolean;
  readonly priority: number;
  readonly colocated?: true;
  /** Licences of each slot, as often as it names them. */
  readonly licences?: readonly number[];
}

const CORES = [2, 4, 8, 16] as const;

/** Draws a world: 2 to 5 sizes in 1 to 3 arrays, limits that most jobs reach, up to 4 existing nodes, 2 to 7 jobs. */
export function drawSmallWorld(dice: Dice): SmallWorld {
  const arrays = dice.whole(1, 3);
  const sizes = Array.from({ length: dice.whole(2, 5) }, (): SmallSize => {
    const cores = dice.pick(CORES);
    const gpus = dice.chance(0.2) ? dice.whole(1, 2) : 0;
    const price = (cores * dice.whole(40, 80) + gpus * dice.whole(200, 500)) / 1000;
    return {
      has: [cores, cores * dice.pick([2, 2, 4, 8]), gpus],
      price: Math.round(price * 1e4) / 1e4,
      array: dice.whole(0, arrays - 1),
    };
  });
  const nodes = Array.from({ length: dice.whole(0, 4) }, () => {
    const size = dice.whole(0, sizes.length - 1);
    const [cores, memory] = sizes[size]?.has ?? [0, 0, 0];
    const used: Amounts = dice.chance(0.5) ? [0, 0, 0] : [dice.whole(1, cores), dice.whole(0, memory), 0];
    return { size, used };
  });
  const jobs = Array.from({ length: dice.whole(2, 7) }, () => drawJob(dice, sizes));
  return {
    sizes,
    limits: drawLimits(dice, sizes, arrays),
    nodes,
    jobs: jobs.toSorted((a, b) => b.priority - a.priority),
  };
}

function drawJob(dice: Dice, sizes: readonly SmallSize[]): SmallJob {
  const hasGpus = sizes.some(({ has }) => has[2] > 0) && dice.chance(0.2);
  const takes: Amounts = [dice.whole(1, 6), dice.pick([0, 0, 1, 4, 8]), hasGpus ? 1 : 0];
  const job = { takes, exclusive: dice.chance(0.15), priority: dice.pick([0, 0, 10]) };
  return dice.chance(0.2)
    ? { ...job, units: dice.whole(2, 3), slotsPerNode: dice.whole(1, 2) }
    : { ...job, units: dice.whole(1, 5) };
}

function drawLimits(dice: Dice, sizes: readonly SmallSize[], arrays: number): SmallWorld["limits"] {
  const limits: SmallLimit[] = [];
  const add = (kind: SmallLimit["kind"], members: readonly number[], scale = 1): void => {
    const unit = dice.chance(0.5) ? "nodes" : "cores";
    const most = Math.ceil((unit === "nodes" ? 4 : 32) * scale);
    if (members.length > 0) limits.push({ kind, unit, left: dice.whole(1, most), sizes: members });
  };
  const all = sizes.map((_, i) => i);
  if (dice.chance(0.4)) add("cluster", all, 1.5);
  if (dice.chance(0.5)) add("regional-quota", all, 1.5);
  for (let array = 0; array < arrays; array += 1)
    if (dice.chance(0.7))
      add(
        "nodearray",
        all.filter((i) => sizes[i]?.array === array),
      );
  const [one, other] = [all.filter(() => dice.chance(0.5)), all.filter(() => dice.chance(0.5))];
  if (dice.chance(0.5)) add("family-quota", one);
  if (dice.chance(0.2)) add("family-quota", other);
  for (const i of all) if (dice.chance(0.6)) add("bucket", [i]);
  // A size without any limit would serve everything.
  const free = all.filter((i) => !limits.some((limit) => limit.sizes.includes(i)));
  add("cluster", free);
  return limits;
}

/** The same for the allocator. */
export function buildSmall({ sizes, limits, nodes, jobs, licences }: SmallWorld): {
  readonly world: World;
  readonly demands: readonly RankedDemand[];
} {
  const bucketOf = (i: number) => ({
    array: arrayName(`a${sizes[i]?.array}`),
    machineType: machineType(`S${i}`),
  });
  const hasOf = (i: number): Amounts => sizes[i]?.has ?? [0, 0, 0];
  const resourcesOf = ([ncpus, memory, ngpus]: Amounts) => ({ ncpus, memory, ngpus });
  const amountOf = ({ unit }: SmallLimit, i: number): number => (unit === "nodes" ? 1 : hasOf(i)[0]);
  const buckets = sizes.map(({ has, price, groupSize }, i): BucketOffer => ({
    bucket: bucketOf(i),
    resources: resourcesOf(has),
    cores: has[0],
    price,
    charges: limits.flatMap((one, limit) =>
      one.sizes.includes(i) ? [{ limit, amount: amountOf(one, i) }] : [],
    ),
    groupSizes: new Map(),
    ...(groupSize === undefined ? {} : { maxPlacementGroupSize: groupSize }),
  }));
  const supply = nodes.map(({ size, used, isTaskKnown, order = 1 }, i): SupplyNode => ({
    nodeId: nodeId(`n${i}`),
    name: `n${i}`,
    hostname: `h${i}`,
    bucket: bucketOf(size),
    purpose: { kind: "array" },
    resources: resourcesOf(isTaskKnown === false ? minus(hasOf(size), used, 1) : hasOf(size)),
    cores: hasOf(size)[0],
    order,
    ready: true,
  }));
  const leftOf = ({ left, isOffered, sizes: [i = 0] }: SmallLimit): number => {
    const others = limits.filter(
      (one) => isOffered === true && one.isOffered !== true && one.sizes.includes(i),
    );
    return Math.min(left, ...others.map((one) => Math.floor(one.left / amountOf(one, i))));
  };
  const running = nodes.flatMap(({ used, isTaskKnown = true }, i) =>
    used[0] > 0 && isTaskKnown ? [runningJob(used, i)] : [],
  );
  return {
    world: {
      nodes: supply,
      inFlight: [],
      buckets,
      limits: limits.map((limit, i): SharedLimit => ({
        id: { kind: limit.kind, name: `l${i}`, unit: limit.unit },
        used: 0,
        max: limit.left,
        left: leftOf(limit),
      })),
      arrays: new Map(sizes.map(({ array }) => [arrayName(`a${array}`), "managed"])),
      ...(licences === undefined ? {} : { pools: [{ name: LICENCES, total: licences, used: 0 }] }),
    },
    demands: [...running, ...jobs.map(demandOf)].map((demand) => ({ set: setName("s"), demand })),
  };
}

const LICENCES = "lic";

function runningJob(used: Amounts, i: number): JobDemand {
  return {
    ...demandOf({ takes: used, units: 1, exclusive: false, priority: -1 }, i),
    id: `r${i}`,
    placed: [{ hostname: `h${i}`, iterations: 1 }],
  };
}

function demandOf(
  { takes: [ncpus, memory, ngpus], units, slotsPerNode, exclusive, priority, ...more }: SmallJob,
  i: number,
): JobDemand {
  const { colocated = false, licences = [] } = more;
  return {
    kind: "job",
    id: `j${i}`,
    name: `j${i}`,
    priority,
    position: i,
    constraints: [
      ...needing({
        ncpus,
        ...(memory > 0 ? { memory } : {}),
        ...(ngpus > 0 ? { ngpus } : {}),
      }),
      ...(exclusive ? [EXCLUSIVE] : []),
      ...licences.map((amount): Constraint => ({ kind: "pool", pool: LICENCES, amount })),
    ],
    iterations: slotsPerNode ?? units,
    ...(slotsPerNode === undefined ? {} : { nodeCount: units }),
    colocated,
    placed: [],
  };
}

/** What each job has: slots, or nodes of a gang. */
export const unitsOf = ({ jobs }: SmallWorld, { outcomes }: Allocation): readonly number[] =>
  jobs.map(
    ({ slotsPerNode = 1 }, i) => (outcomes.find(({ id }) => id === `j${i}`)?.placed ?? 0) / slotsPerNode,
  );

/** What is left of some amounts without others, so many times. */
export const minus = (from: Amounts, amounts: Amounts, times: number): Amounts => [
  from[0] - amounts[0] * times,
  from[1] - amounts[1] * times,
  from[2] - amounts[2] * times,
];
