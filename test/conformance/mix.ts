import { Dice } from "../simulation/dice.ts";
import type { Fields, Json } from "./compare.ts";
import { fieldsOf, isList, isObject, listOf, objectsIn, textOf } from "./compare.ts";
import type { VectorCase } from "./vector-case.ts";

/** The cluster of one case with jobs of one or two others, which name its arrays, sizes and hosts instead of their own; seeded. */
export function mixCases(cases: readonly VectorCase[], seed: number): VectorCase {
  const dice = new Dice(seed);
  const draw = (): VectorCase => pick(dice, cases) ?? { name: "", input: {}, expected: {} };
  const cluster = draw();
  let pools = listOf(cluster.input["shared_resources"]);
  const jobs = Array.from({ length: dice.whole(1, 2) }, draw).flatMap((other) => {
    const theirs = listOf(other.input["shared_resources"]);
    const asked = listOf(other.input["jobs"]);
    if (JSON.stringify(asked).includes("$shared")) {
      // Pools of two cases cannot be told apart.
      if (pools.length > 0 && JSON.stringify(pools) !== JSON.stringify(theirs)) return [];
      pools = theirs;
    }
    const names = renamed(dice, other.input, cluster.input);
    return asked.map((job) => varied(dice, fieldsOf(rename(job, names)), pools));
  });
  const input = {
    ...cluster.input,
    ...(pools.length === 0 ? {} : { shared_resources: pools }),
    jobs: shuffled(dice, jobs).map((job, i): Json => ({ ...job, name: `job${i}` })),
  };
  return { name: `${cluster.name}, mixed by ${seed}`, input, expected: {} };
}

/** Names of one cluster, and those of another that stand for them. */
function renamed(dice: Dice, from: Fields, to: Fields): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const map = (theirs: readonly string[], ours: readonly string[]): void => {
    for (const name of theirs) {
      const other = pick(dice, ours);
      if (other !== undefined && !names.has(name) && dice.chance(0.9)) names.set(name, other);
    }
  };
  const arraysOf = (input: Fields): readonly Fields[] =>
    objectsIn(fieldsOf(input["clusterStatus"])["nodearrays"]);
  const namesIn = (input: Fields): string[] => arraysOf(input).map(({ name }) => textOf(name));
  const sizesIn = (input: Fields): string[] =>
    arraysOf(input)
      .flatMap(({ buckets }) => objectsIn(buckets))
      .map(({ definition }) => textOf(fieldsOf(definition)["machineType"]));
  const hostsIn = (input: Fields): string[] =>
    objectsIn(input["nodes"]).map((node) => `ip-${textOf(node["Name"])}`);
  for (const listed of [namesIn, sizesIn, hostsIn]) map(listed(from), listed(to));
  return names;
}

function rename(value: Json, names: ReadonlyMap<string, string>): Json {
  if (isList(value)) return value.map((item) => rename(item, names));
  if (isObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, rename(member, names)]));
  return typeof value === "string" ? (names.get(value) ?? value) : value;
}

function varied(dice: Dice, job: Fields, pools: readonly Json[]): Fields {
  const { iterations, node_count: nodes, colocated, constraints } = job;
  const members = isList(constraints) ? constraints : [constraints ?? {}];
  const odd = Array.from({ length: dice.chance(0.3) ? dice.whole(1, 2) : 0 }, () => oddMember(dice, pools));
  return {
    ...job,
    constraints: [...members, ...odd],
    ...(iterations !== undefined && dice.chance(0.4)
      ? { iterations: dice.pick([1, 2, 3, 5, 7, 10, 23, 50]) }
      : {}),
    ...(Number(nodes ?? 0) > 0 && dice.chance(0.4) ? { node_count: dice.pick([1, 2, 3, 4, 6, 9]) } : {}),
    ...(dice.chance(0.06) ? { colocated: colocated !== true } : {}),
    ...(dice.chance(0.06) ? { packing_strategy: textOf(dice.pick(["pack", "scatter"])) } : {}),
  };
}

/** What the vectors have seldom or never: alternatives, amounts in other units, patterns, properties of one node, a pool that is named twice. */
function oddMember(dice: Dice, pools: readonly Json[]): Json {
  const counted = pools.map(fieldsOf).filter(({ kind }) => kind !== "value");
  const pool = pick(dice, counted)?.["id"];
  if (pool !== undefined && dice.chance(0.3))
    return { $shared: { ids: [pool], amount: dice.whole(1, 2), decrement_once: dice.chance(0.2) } };
  const [one, other] = [pick(dice, ODD_MEMBERS) ?? {}, pick(dice, ODD_MEMBERS) ?? {}];
  const kind = dice.whole(0, 9);
  if (kind < 2) return { [kind === 0 ? "or" : "xor"]: [one, other] };
  if (kind === 2) return { and: [one, { and: [other] }] };
  return kind === 3 ? { not: one } : kind === 4 ? { ...one, ...other } : one;
}

const ODD_MEMBERS: readonly Fields[] = [
  { ncpus: 0 },
  { ncpus: 0.5 },
  { ncpus: 3 },
  { pcpus: 2 },
  { ngpus: 1 },
  { memgb: 3 },
  { memmb: "memory::2000M" },
  { memkb: "size::1g" },
  { mem: "memory::1.5g" },
  { memgb: ["memory::64g", 32] },
  // Not "exclusive": beside "exclusive-task" it would ask for one slot on a node and for several.
  { "exclusive-task": true },
  { "in-a-placement-group": false },
  { "in-a-placement-group": true },
  { "capacity-failure-backoff": 600 },
  { never: "" },
  { "node.vm_size": "Standard_*" },
  { "node.vm_size": ["Standard_F*", "*E[48]*", "*"] },
  { "node.memory": ["memory::64g", 16] },
  { "node.gpu_count": [4, 2, 1] },
  { "node.infiniband": true },
  { "node.placement_group": null },
  { "node.name": "*-1" },
  { "node.name": ["htc-2", "hpc-*"] },
  { "node.hostname": "ip-*" },
  { "node.hostname": null },
  { "node.state": "Ready" },
  { "node.exists": true },
  { "node.exists": false },
  { nodearray: ["htc", "hpc*"] },
];

function shuffled<T>(dice: Dice, items: readonly T[]): readonly T[] {
  return items
    .map((item) => ({ item, at: dice.fraction() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

const pick = <T>(dice: Dice, items: readonly T[]): T | undefined => items[dice.whole(0, items.length - 1)];
