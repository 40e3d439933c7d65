import type { Fields } from "./clusters.ts";
import { KINDS, POOLS } from "./inputs.ts";

/** A key of the input: the same message (or configuration) without it and with it. */
export interface Key {
  readonly key: string;
  readonly without: Fields;
  readonly with: Fields;
  readonly configWithout?: Fields;
  readonly configWith?: Fields;
  /** Present: it changes nothing, and why that is right. */
  readonly unused?: string;
}

const SLOTS: Fields = { name: "j", iterations: 5, constraints: [{ ncpus: 2 }] };
const jobs = (...all: readonly Fields[]): Fields => ({ jobs: all });
const PAIR: Fields = { ...SLOTS, iterations: 1, "node-count": 2 };
const SOME: Fields = { ...SLOTS, iterations: 40 };
const WHOLE: Fields = { ...SLOTS, iterations: 1, constraints: [{ ncpus: 4 }] };

const LATER = "it acts on what an earlier plan has begun: test/decide and test/scenarios have its scenes";

/** A key of a job, beside others. */
const ofJob = (key: string, value: unknown, beside = SLOTS, unused?: string): Key => ({
  key: `job: ${key}`,
  without: jobs(beside),
  with: jobs({ ...beside, [key]: value }),
  ...(unused === undefined ? {} : { unused }),
});

export const JOB_KEY_EFFECTS: readonly Key[] = [
  ofJob("name", "another", SLOTS),
  ofJob("iterations", 7),
  ofJob("node-count", 2),
  ofJob("constraints", [{ ncpus: 1 }]),
  ofJob("colocated", true),
  ofJob("packing-strategy", "pack", SLOTS, "slots are packed in any case"),
  {
    ...ofJob("packing-strategy with a node-count", 0),
    without: jobs({ ...PAIR, iterations: 3 }),
    with: jobs({ ...PAIR, iterations: 3, "packing-strategy": "pack" }),
  },
  ofJob("executing-hostnames", ["ip-execute-2", "ip-execute-2"]),
  ofJob("placed", [{ hostname: "ip-execute-2", iterations: 2 }]),
  ofJob("span", true, { ...PAIR, "node-count": 9 }),
  ofJob("spot", "only"),
  ofJob("exclusive", true),
  ofJob("walltime", 3600, SLOTS, "it is checked, and nothing is planned by it yet"),
  ofJob("user", "ann", SLOTS, "only caps of users look at it: see below"),
  ofJob("iterations-remaining", 5, SLOTS, "iterations and what runs already say the same"),
  ofJob("metadata", { queue: "workq" }, SLOTS, "for display"),
  {
    key: "job: user, where users have caps",
    without: jobs(SOME),
    with: jobs({ ...SOME, user: "ann" }),
    configWithout: { caps: { users: { ann: { nodes: 1 } } } },
    configWith: { caps: { users: { ann: { nodes: 1 } } } },
  },
  {
    key: "job: priority",
    without: jobs({ ...SOME, iterations: 400 }, { ...SOME, name: "k" }),
    with: jobs({ ...SOME, iterations: 400 }, { ...SOME, name: "k", priority: 3 }),
  },
];

/** Of kinds that are met anyway: values that are not. */
const BITING: Readonly<Record<string, Fields>> = {
  "a location": { "node.location": "eastus" },
  "a shared mark": { pool: { shift: "day" } },
  xor: { xor: [{ "node.location": "westus2" }, { ncpus: 1 }] },
  "not a property": { not: { "node.location": "westus2" } },
};

const UNUSED_KINDS: Readonly<Record<string, string>> = {
  "an amount of 0": "nothing is asked",
  "not exclusive": "this is so anyway",
};

export const CONSTRAINT_EFFECTS: readonly Key[] = Object.entries(KINDS).map(([name, kind]) => {
  const unused = UNUSED_KINDS[name];
  const asked = { ...SLOTS, iterations: 20, constraints: [{ ncpus: 1 }] };
  return {
    key: `constraint: ${name}`,
    without: { pools: POOLS, ...jobs(asked) },
    with: { pools: POOLS, ...jobs({ ...asked, constraints: [{ ncpus: 1 }, BITING[name] ?? kind] }) },
    ...(unused === undefined ? {} : { unused }),
  };
});

const target = (keys: Fields): Fields => ({ nodearrays: [{ Name: "execute", TargetCount: 9, ...keys }] });

const ofTarget = (key: string, value: unknown, beside: Fields = {}): Key => ({
  key: `nodearray: ${key}`,
  without: target(beside),
  with: target({ ...beside, [key]: value }),
});

const groups = (keys: Fields): Fields => ({
  nodearrays: [{ Name: "execute", TargetGroupCount: 1, ...keys }],
});

export const NODEARRAY_EFFECTS: readonly Key[] = [
  ofTarget("Name", "hpc"),
  ofTarget("TargetCount", 8),
  ofTarget("MachineType", "Standard_D2s_v5"),
  ofTarget("MachineType as a list", ["Standard_D2s_v5", "Standard_D4s_v5"]),
  ofTarget("Configuration", { licence: "x" }),
  ofTarget("another attribute", "x"),
  {
    key: "nodearray: Dynamic",
    without: target({}),
    with: target({ Name: "mine", Dynamic: true, Extends: "execute" }),
  },
  {
    key: "nodearray: TargetCoreCount",
    without: target({}),
    with: { nodearrays: [{ Name: "execute", TargetCoreCount: 4 }] },
  },
  {
    key: "nodearray: GroupInstanceCount",
    without: groups({ GroupInstanceCount: 1 }),
    with: groups({ GroupInstanceCount: 2 }),
  },
  {
    key: "nodearray: GroupCoreCount",
    without: groups({ GroupCoreCount: 4 }),
    with: groups({ GroupCoreCount: 8 }),
  },
  {
    key: "nodearray: TargetGroupCount",
    without: groups({ GroupInstanceCount: 1 }),
    with: groups({ GroupInstanceCount: 1, TargetGroupCount: 2 }),
  },
];

const hosts = (keys: Fields): Fields => ({
  ...jobs({ ...WHOLE, iterations: 2 }),
  schedulerNodes: [{ hostname: "ip-execute-2", ...keys }],
});

const ofHost = (key: string, value: unknown, beside: Fields = {}): Key => ({
  key: `host: ${key}`,
  without: hosts(beside),
  with: hosts({ ...beside, [key]: value }),
});

/** One host, on which nothing runs. */
const IDLE: Fields = { ...jobs(), schedulerNodes: [{ hostname: "ip-execute-2" }] };

export const MESSAGE_EFFECTS: readonly Key[] = [
  { key: "expirationInterval", without: jobs(SLOTS), with: { ...jobs(SLOTS), expirationInterval: 900 } },
  { key: "revision", without: jobs(SLOTS), with: { ...jobs(SLOTS), revision: 1_763_636_300_000 } },
  { key: "jobs", without: target({}), with: { ...target({}), ...jobs(SLOTS) } },
  { key: "nodearrays", without: jobs(SLOTS), with: { ...jobs(SLOTS), ...target({}) } },
  {
    key: "schedulerNodes",
    without: jobs(),
    with: { ...jobs(), schedulerNodes: [{ hostname: "ip-execute-2" }] },
  },
  {
    key: "pools",
    without: jobs({ ...SLOTS, constraints: { pool: { seat: 1 } } }),
    with: {
      ...jobs({ ...SLOTS, constraints: { pool: { seat: 1 } } }),
      pools: [{ name: "seat", total: 9, used: 0 }],
    },
  },
  ...["jobs", "jobIds"].map((key) => ({
    key: `host: ${key}`,
    without: IDLE,
    with: { ...jobs(), schedulerNodes: [{ hostname: "ip-execute-2", [key]: ["other"] }] },
  })),
  {
    ...ofHost("state", ""),
    without: { ...jobs(), schedulerNodes: [{ hostname: "ip-execute-2", state: "open" }] },
    with: { ...jobs(), schedulerNodes: [{ hostname: "ip-execute-2", state: "closed" }] },
    configWithout: { idleTimeout: 0 },
    configWith: { idleTimeout: 0 },
  },
  {
    key: "host: resources",
    without: { ...hosts({}), ...jobs({ ...WHOLE, constraints: { scratch: 1 } }) },
    with: { ...hosts({ resources: { scratch: 4 } }), ...jobs({ ...WHOLE, constraints: { scratch: 1 } }) },
  },
  ofHost("available", { ncpus: 1 }),
  ofHost("keep", "in a reservation"),
  ...["total", "used"].map((key): Key => {
    const pool = { name: "seat", total: 9, used: 0 };
    const asked = jobs({ ...SLOTS, constraints: [{ ncpus: 1 }, { pool: { seat: 1 } }] });
    return {
      key: `pool: ${key}`,
      without: { ...asked, pools: [pool] },
      with: { ...asked, pools: [{ ...pool, [key]: 7 - (key === "total" ? 5 : 0) }] },
    };
  }),
];

/** What a configuration document says; the job is the same. */
const ofConfig = (key: string, value: unknown, message = jobs(SOME), beside: Fields = {}): Key => ({
  key: `configuration: ${key}`,
  without: message,
  with: message,
  configWithout: beside,
  configWith: { ...beside, [key]: value },
});

export const CONFIG_EFFECTS: readonly Key[] = [
  ofConfig("idleTimeout", 0, IDLE),
  ofConfig("idle_timeout", 0, IDLE),
  // In an object under scalelib's key 0 stands for the built-in value.
  ofConfig("idleTimeout", { default: 300, execute: 0 }, IDLE),
  ofConfig("bootTimeout", 50),
  ofConfig("boot_timeout", 50),
  ofConfig("boot_timeout", { default: 3600, execute: 50 }),
  ofConfig("maxExpirationInterval", 60),
  { ...ofConfig("inFlightGrace", 1), unused: LATER },
  { ...ofConfig("groupFillTimeout", 1), unused: LATER },
  ofConfig("downTimeout", "never"),
  ofConfig("failedTimeout", 60),
  { ...ofConfig("deallocatedTimeout", 60), unused: LATER },
  { ...ofConfig("planHistory", 0), unused: "plans are kept or not, and are the same" },
  ofConfig("nodearrays", ["hpc"]),
  ofConfig("default_resources", [{ select: {}, name: "ncpus", value: 1 }]),
  ofConfig("vmSizes", {
    westus2: {
      Standard_D4s_v5: {
        name: "Standard_D4s_v5",
        family: "f",
        location: "westus2",
        capabilities: { vCPUs: 1, MemoryGB: 1 },
      },
    },
  }),
  ofConfig("mode", "observe"),
  { ...ofConfig("exclusiveNodearrays", true), unused: LATER },
  ofConfig("named", ["execute", "htc"]),
  ofConfig("senders", [{ requestSets: "*", write: false }]),
  ofConfig("preference", "bucket-order"),
  ofConfig("among", "cheapest"),
  ofConfig("mixes", "off", jobs(SLOTS, { ...SLOTS, name: "k", iterations: 7 }), { among: "cheapest" }),
  ofConfig("placementGroups", { default: ["pg7"] }, jobs({ ...PAIR, colocated: true })),
  ofConfig("caps", { requestSets: { tries: { nodes: 1 } } }),
  ofConfig("prices", { currency: "USD", locations: { westus2: { Standard_F2s_v2: 0.01 } } }, jobs(SOME), {
    among: "cheapest",
  }),
  ofConfig("enabled", false),
];
