import type { Fields } from "./clusters.ts";

/** One thing that a user may try first. */
export interface Try {
  readonly name: string;
  readonly message: Fields;
  /** The door must not take it. */
  readonly refused?: boolean;
}

const job = (name: string, keys: Fields): Try => ({ name, message: { jobs: [{ name: "j", ...keys }] } });

/** Every key of a job alone, with values that a user would write. */
export const JOB_TRIES: readonly Try[] = [
  job("a name and nothing else", {}),
  job("iterations", { iterations: 3 }),
  { ...job("no iterations", { iterations: 0 }), refused: true },
  job("more iterations than there are nodes", { iterations: 500 }),
  job("node-count", { "node-count": 2 }),
  job("node-count and iterations", { "node-count": 2, iterations: 3 }),
  job("too many nodes at once", { "node-count": 500 }),
  job("colocated", { colocated: true }),
  job("colocated slots", { colocated: true, iterations: 3, constraints: { ncpus: 2 } }),
  job("colocated nodes", { colocated: true, "node-count": 2 }),
  job("packing-strategy pack", { "packing-strategy": "pack", iterations: 3 }),
  job("packing-strategy scatter", { "packing-strategy": "scatter", "node-count": 2 }),
  job("packing-strategy pack with a node-count", { "packing-strategy": "pack", "node-count": 3 }),
  job("as the library writes it", {
    iterations: 4,
    "node-count": 0,
    colocated: false,
    "packing-strategy": "pack",
    constraints: [{ ncpus: 1 }],
    "executing-hostnames": [],
    "iterations-remaining": 4,
    metadata: { queue: "workq" },
  }),
  job("a node-count, as the library's driver writes it", {
    iterations: 2,
    "node-count": 2,
    colocated: false,
    "packing-strategy": "pack",
    constraints: [{ ncpus: 1 }],
    "iterations-remaining": 2,
    metadata: {},
  }),
  job("executing-hostnames", { iterations: 2, "executing-hostnames": ["ip-execute-2"] }),
  job("an executing host that is not there", { "executing-hostnames": ["elsewhere"] }),
  job("placed", { iterations: 3, placed: [{ hostname: "ip-execute-2", iterations: 2 }] }),
  job("span", { span: true, "node-count": 12 }),
  job("spot never", { spot: "never", iterations: 2 }),
  job("spot allow", { spot: "allow", iterations: 2 }),
  job("spot only", { spot: "only", iterations: 2 }),
  job("walltime", { walltime: 3600 }),
  job("user", { user: "ann" }),
  job("priority", { priority: 5 }),
  job("exclusive as a key", { exclusive: true, iterations: 2 }),
  job("constraints as a list", { constraints: [{ ncpus: 1 }] }),
  job("constraints that say nothing", { constraints: [{}] }),
];

const other: Fields = {
  "resource-name": "seat",
  source: ["server"],
  "initial-value": [4],
  "current-value": [3],
  requested: 1,
};

/** Each kind of constraint; those that name something name what one of the clusters has. */
export const KINDS: Readonly<Record<string, Fields>> = {
  "an amount": { ncpus: 2 },
  "an amount of 0": { ncpus: 0 },
  "an amount of memory": { mem: "memory::4g" },
  "memory as a number": { mem: 3 },
  gpus: { ngpus: 1 },
  "too much": { ncpus: 1000 },
  "2 TiB": { mem: "memory::2t" },
  "an amount of what is not there": { licences: 1 },
  "a value": { custom_string1: "custom_value" },
  "a pattern": { project: "op*" },
  "a list of values": { custom_integer: [16, 32] },
  "no value": { project: null },
  "a size": { "node.vm_size": "Standard_D4s_v5" },
  sizes: { "node.vm_size": ["Standard_F16", "Standard_D2s_v5", "Standard_D4s_v5"] },
  "an array": { "node.nodearray": ["execute", "hpc"] },
  "a location": { "node.location": "westus2" },
  exclusive: { exclusive: true },
  "not exclusive": { exclusive: false },
  "exclusive-task": { "exclusive-task": true },
  "in a placement group": { "in-a-placement-group": true },
  "in no placement group": { "in-a-placement-group": false },
  and: { and: [{ ncpus: 1 }, { mem: "memory::1g" }] },
  "or of amounts": { or: [{ ngpus: 1 }, { ncpus: 2 }] },
  "or of sizes": {
    or: [{ "node.vm_size": "Standard_F16" }, { "node.vm_size": ["Standard_D4s_v5", "Standard_D2s_v5"] }],
  },
  xor: { xor: [{ "node.location": "westus2" }, { "node.location": "eastus" }] },
  "not a property": { not: { "node.spot": true } },
  "not an amount": { not: { ngpus: 1 } },
  never: { never: "the project is closed" },
  "a pool": { pool: { licence: 1 } },
  "an unknown pool": { pool: { nowhere: 1 } },
  "a shared mark": { pool: { shift: "night" } },
  "a shared consumable": { "shared-consumable-constraint": other },
  "a rest after a capacity failure": { "capacity-failure-backoff": 600 },
};

/** What every try of a constraint may need besides. */
export const POOLS: readonly Fields[] = [
  { name: "licence", total: 4, used: 1 },
  { name: "shift", value: "night" },
];

export function constraintTry(name: string, constraints: Fields | readonly Fields[], iterations = 5): Try {
  return { name, message: { pools: POOLS, jobs: [{ name: "j", iterations, constraints }] } };
}

export const KIND_TRIES: readonly Try[] = Object.entries(KINDS).map(([name, kind]) =>
  constraintTry(name, kind),
);

/** One kind with each of those behind it. */
export function pairTries(name: string): readonly Try[] {
  const all = Object.entries(KINDS);
  const at = all.findIndex(([one]) => one === name);
  const kind = KINDS[name] ?? {};
  return all.slice(at + 1).map(([two, another]) => constraintTry(`${name} and ${two}`, [kind, another]));
}
