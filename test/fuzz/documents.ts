import { BOUNDS } from "../../src/wire/json/bounds.ts";
import type { Dice } from "../simulation/dice.ts";
import { JOB_TRIES, KINDS, POOLS } from "../first-tries/inputs.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Nothing may show this: it stands where senders keep secrets. */
export const CANARY = "CANARY-7f3a";

const NODEARRAYS: readonly [Fields, ...Fields[]] = [
  { Name: "execute", TargetCount: 3 },
  { Name: "execute", TargetCoreCount: 8, MachineType: ["Standard_F4s_v2", "Standard_D4s_v5"] },
  { Name: "hpc", TargetGroupCount: 1, GroupInstanceCount: 2 },
  { Name: "hpc", TargetGroupCount: 2, GroupCoreCount: 16 },
  { Name: "low", TargetCount: 1, Interruptible: true },
  { Name: "execute", TargetCount: 1, Configuration: { app: { password: CANARY, size: 1 } } },
  { Name: "licensed", Dynamic: true, Extends: "execute", TargetCount: 1, Configuration: { a: 1 } },
  { Name: "further", Dynamic: true, Extends: "licensed", TargetCount: 1, MaxCount: 2 },
];

const HOSTS: readonly [Fields, ...Fields[]] = [
  { hostname: "ip-0A000404", jobs: ["j0"], state: "open" },
  {
    hostname: "ip-0A000405",
    jobIds: [],
    resources: { ncpus: 8, mem: "memory::31g" },
    available: { ncpus: 2 },
  },
  { hostname: "workstation", jobs: [], resources: { ncpus: 4 }, state: "open" },
];

const WHOLE_JOB: Fields = {
  name: "j",
  user: "ann",
  priority: 2,
  iterations: 3,
  "node-count": 2,
  constraints: [{ ncpus: 1 }],
  colocated: true,
  exclusive: false,
  placed: [{ hostname: "ip-0A000404", iterations: 1 }],
  span: false,
  spot: "allow",
  walltime: 3600,
};

/** Constraints of any kind, some inside of others: mostly as they should be. */
export function anyConstraint(dice: Dice, levels = 3): Fields {
  const inside = () => anyConstraint(dice, levels - 1);
  if (levels > 0 && dice.chance(0.35))
    return dice.pick<() => Fields>([
      () => ({ and: [inside(), inside()] }),
      () => ({ or: [inside(), inside(), inside()] }),
      () => ({ xor: [inside(), inside()] }),
      () => ({ not: inside() }),
    ])();
  const kinds = Object.values(KINDS);
  const one = kinds[dice.whole(0, kinds.length - 1)] ?? {};
  return dice.chance(0.25) ? { ...one, ...kinds[dice.whole(0, kinds.length - 1)] } : one;
}

function anyJob(dice: Dice, name: string): Fields {
  const tried = JOB_TRIES[dice.whole(0, JOB_TRIES.length - 1)]?.message["jobs"];
  const base: unknown = dice.chance(0.3) ? WHOLE_JOB : Array.isArray(tried) ? tried[0] : {};
  const constraints = dice.chance(0.5)
    ? { constraints: Array.from({ length: dice.whole(1, 3) }, () => anyConstraint(dice)) }
    : {};
  return { ...(typeof base === "object" ? base : {}), ...constraints, name };
}

/** A demand message as it should be. */
export function anyMessage(dice: Dice): Fields {
  const some = <T>(all: readonly [T, ...T[]], most: number): readonly T[] =>
    Array.from({ length: dice.whole(0, most) }, () => dice.pick(all));
  const hosts = HOSTS.filter(() => dice.chance(0.3));
  const jobs = Array.from({ length: dice.whole(0, 3) }, (_, index) => anyJob(dice, `j${index}`));
  return {
    version: 1,
    cluster: "@cluster",
    requestSet: "hostile",
    ...(dice.chance(0.3) ? { expirationInterval: dice.pick([60, 600, 86_400]) } : {}),
    ...(dice.chance(0.6) ? { nodearrays: some(NODEARRAYS, 3) } : {}),
    ...(dice.chance(0.8) ? { jobs } : {}),
    ...(hosts.length > 0 ? { schedulerNodes: hosts } : {}),
    ...(dice.chance(0.5) ? { pools: POOLS } : {}),
  };
}

/** All that a message can have, each at its bound, with few entries. */
export function extremeMessage(dice: Dice): Fields {
  const count = dice.pick([BOUNDS.count, BOUNDS.count - 1, 3163]);
  const name = dice
    .pick(["n", "é", "\u{1F600}"])
    .repeat(BOUNDS.name)
    .slice(0, BOUNDS.name - 1);
  const job: Fields = {
    ...anyJob(dice, `j${name}`.slice(0, BOUNDS.name)),
    iterations: dice.pick([count, 1, 3162]),
    "node-count": dice.pick([0, 1, 3162]),
    priority: dice.pick([BOUNDS.priority, -BOUNDS.priority]),
    constraints: [anyConstraint(dice), { ncpus: dice.pick([BOUNDS.amount, 1e-9, 1]) }, anyConstraint(dice)],
  };
  return {
    ...anyMessage(dice),
    expirationInterval: 86_400,
    nodearrays: [
      { Name: "execute", TargetCount: count },
      { Name: "hpc", TargetGroupCount: dice.pick([count, 3162]), GroupInstanceCount: dice.pick([1, 3162]) },
      { Name: "execute", TargetCoreCount: count, Configuration: { text: "x".repeat(5000) } },
      { Name: "x".repeat(200), Dynamic: true, Extends: "low", TargetCount: count },
    ],
    jobs: [job, anyJob(dice, "beside")],
    pools: [
      { name: "licence", total: BOUNDS.amount, used: dice.pick([0, BOUNDS.amount]) },
      { name: "shift", value: "v".repeat(BOUNDS.constraintText) },
    ],
  };
}

const CONFIGS: readonly [Fields, ...Fields[]] = [
  { idleTimeout: 300, bootTimeout: { default: 3600, hpc: 900 }, planHistory: 60 },
  { preference: "bucket-order", among: "cheapest", groupFillTimeout: 0, inFlightGrace: 60 },
  { nodearrays: ["execute", "hpc"], placementGroups: { default: ["pg0"], hpc: ["pg1", "pg2"] } },
  {
    default_resources: [
      { select: {}, name: "ncpus", value: "node.vcpu_count" },
      { select: { "node.nodearray": "execute" }, name: "mem", value: "node.memory", subtract: "memory::1g" },
      { select: {}, name: "seats", value: 4 },
    ],
  },
  {
    prices: {
      currency: "USD",
      locations: { westeurope: { Standard_F4s_v2: { onDemand: 0.2, spot: 0.022 }, Standard_D4s_v5: 0.2 } },
      "proxied-locations": { westus2: "westeurope" },
    },
    among: "cheapest",
  },
  { caps: { requestSets: { hostile: { cores: 50 }, "*": { nodes: 50 } }, users: { ann: { nodes: 1 } } } },
  {
    vmSizes: {
      westeurope: {
        Standard_D4s_v5: {
          name: "Standard_D4s_v5",
          family: "f",
          location: "westeurope",
          capabilities: { vCPUs: 1, MemoryGB: 1 },
        },
      },
    },
  },
  { enabled: false, maxExpirationInterval: 60 },
  {
    autoscaling: {},
    idle_timeout: "300",
    boot_timeout: null,
    logging: { config_file: "/x" },
    password: CANARY,
  },
];

export function anyConfig(dice: Dice): Fields {
  return { ...dice.pick(CONFIGS), ...(dice.chance(0.4) ? dice.pick(CONFIGS) : {}) };
}

/** The body of a dry run as it should be. */
export function anyWhatIf(dice: Dice): Fields {
  const { version: _version, cluster: _cluster, requestSet: _set, ...demand } = anyMessage(dice);
  return {
    ...(dice.chance(0.5) ? { config: anyConfig(dice) } : {}),
    ...(dice.chance(0.7) ? { requestSets: { hostile: demand, other: null } } : {}),
    ...(dice.chance(0.5)
      ? {
          limits: [
            { kind: "nodearray", name: "execute", unit: "nodes", more: 3 },
            { kind: "cluster", unit: "cores", max: 100 },
          ],
        }
      : {}),
    ...(dice.chance(0.5)
      ? { buckets: [{ nodearray: "execute", machineType: "Standard_F4s_v2", enabled: dice.chance(0.5) }] }
      : {}),
  };
}

/** App settings as they should be. */
export function anySettings(dice: Dice): Fields {
  const cluster: Fields = {
    name: "prod",
    url: "https://cyclecloud.example/path",
    username: "autoscaler",
    passwordSetting: "CYCLECLOUD_PASSWORD",
    callLimit: 60,
    lag: 30,
    parallelCreates: 1,
    insecure: false,
  };
  const other: Fields = { name: "two", url: "http://10.0.0.4:8080", identity: { clientId: "c", scope: "s" } };
  return {
    AzureWebJobsStorage: "UseDevelopmentStorage=true",
    AUTOSCALER_CLUSTERS: dice.chance(0.5) ? [cluster, other] : [cluster],
    CYCLECLOUD_PASSWORD: CANARY,
    AUTOSCALER_PUBLIC_URL: "https://autoscaler.example",
    AUTOSCALER_AUTOSTOP_KEYS: "one:kT3vY8qLm2Zc9RwXp6Hs4Jd7Bn5Gf1Va,two:Qe7Wr2Ty9Ui4Op6As1Df8Gh3Jk5Lz0Xc",
    ...(dice.chance(0.3) ? { AUTOSCALER_LOCAL_CLOCK: "1763636400000@60" } : {}),
    ...(dice.chance(0.3) ? { AUTOSCALER_LOCAL_TRIAL: "watch" } : {}),
  };
}
