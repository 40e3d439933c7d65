import { createCycleCloud } from "../../src/adapters/cyclecloud/cyclecloud.ts";
import type { Answer, TransportRequest } from "../../src/adapters/cyclecloud/transport.ts";
import {
  memoryCredentialBreaker,
  memoryDocuments,
  memoryHistory,
  memoryNodeHistory,
  memoryPlanArchive,
  memoryTriggerLog,
} from "../../src/adapters/memory/stores.ts";
import type { MemoryDemandQueue } from "../../src/adapters/memory/demand-queue.ts";
import { memoryDemandQueue } from "../../src/adapters/memory/demand-queue.ts";
import { memoryRecordStore } from "../../src/adapters/memory/record-store.ts";
import { tableDocuments } from "../../src/adapters/tables/documents.ts";
import { tableHistory } from "../../src/adapters/tables/history.ts";
import { tableNodeHistory } from "../../src/adapters/tables/node-history.ts";
import { tablePlanArchive } from "../../src/adapters/tables/plan-archive.ts";
import { tableRecordStore } from "../../src/adapters/tables/record-store.ts";
import type { Documents } from "../../src/app/ports/record-store.ts";
import type { Ports, Site } from "../../src/app/ports/ports.ts";
import type { AutostopKeys } from "../../src/config.ts";
import { autostopPath } from "../../src/decide/autostop/autostop-token.ts";
import type { ClusterName } from "../../src/domain/ids.ts";
import { clusterName, epoch, owner } from "../../src/domain/ids.ts";
import type { Policy } from "../../src/domain/policy.ts";
import { DEFAULT_POLICY, observing } from "../../src/domain/policy.ts";
import { VirtualClock } from "../../src/local/play/virtual-clock.ts";
import { Simulator } from "../../src/simulator/engine.ts";
import type { ClusterOptions, NodeArrayOptions } from "../../src/simulator/options.ts";
import { seedRandom } from "../../src/simulator/random.ts";
import { readPolicy } from "../../src/wire/policy/policy.ts";
import { QUICK } from "../scenarios/clusters.ts";
import type { MemoryTable } from "../support/memory-table.ts";
import { memoryTable } from "../support/memory-table.ts";

export const ORIGIN = Date.UTC(2026, 0, 1);
export const PUBLIC_URL = "https://autoscaler.example";
export const STOP_KEYS: AutostopKeys = {
  current: "one",
  byId: new Map([["one", "0123456789abcdef0123456789abcdef"]]),
};

/** What CycleCloud's answer becomes on its way. */
export type Tamper = (request: TransportRequest, answer: Answer) => Answer;

/** One app with two clusters before a simulated CycleCloud; everything in memory. */
export interface World {
  /** Where hostile inputs go. */
  readonly cluster: ClusterName;
  /** Has nothing to do with them. */
  readonly calm: ClusterName;
  readonly clock: VirtualClock;
  readonly simulator: Simulator;
  readonly queue: MemoryDemandQueue;
  readonly ports: Ports;
  /** What the app logs, as lines of JSON. */
  readonly log: string[];
  /** The rows, where the stores are those of tables. */
  readonly table?: MemoryTable;
  tamper: Tamper;
}

let opened = 0;

/** Its clusters have names of their own, so that nothing that the process remembers of others counts. */
export function openWorld(stores: "memory" | "tables"): World {
  opened += 1;
  const [cluster, calm] = [clusterName(`p${opened}`), clusterName(`calm${opened}`)];
  const clock = new VirtualClock(ORIGIN);
  const simulator = new Simulator(
    {
      clusters: [hostileCluster(cluster), calmCluster(calm)],
      machineTypes: MACHINE_TYPES,
      timings: QUICK,
    },
    clock,
  );
  const queue = memoryDemandQueue(clock);
  const log: string[] = [];
  const table = stores === "tables" ? memoryTable(clock) : undefined;
  const documents = table === undefined ? memoryDocuments() : tableDocuments(table);
  const world: World = {
    cluster,
    calm,
    clock,
    simulator,
    queue,
    log,
    ...(table === undefined ? {} : { table }),
    tamper: (_request, answer) => answer,
    ports: {
      clock,
      entropy: seededEntropy(opened),
      store: table === undefined ? memoryRecordStore() : tableRecordStore(table, clock),
      history: table === undefined ? memoryHistory() : tableHistory(table),
      plans: table === undefined ? memoryPlanArchive() : tablePlanArchive(table),
      nodeHistory: table === undefined ? memoryNodeHistory() : tableNodeHistory(table),
      documents,
      breaker: memoryCredentialBreaker(),
      triggers: memoryTriggerLog(),
      queue,
      sites: new Map([cluster, calm].map((name) => [name, openSite(name, () => world)])),
      log: (event, fields) => void log.push(JSON.stringify({ event, ...fields })),
      policyOf: (name) => policyOf(documents, name),
    },
  };
  return world;
}

/** As in production, but that nothing is remembered for 15 s. */
async function policyOf(documents: Documents, cluster: ClusterName): Promise<Policy> {
  const held = await documents.read(cluster);
  if (held === undefined) return DEFAULT_POLICY;
  const read = readPolicy(held.text);
  return read.kind === "policy" ? read.policy : observing(DEFAULT_POLICY);
}

function openSite(cluster: ClusterName, worldOf: () => World): Site {
  return {
    cluster,
    credential: `account of ${cluster}`,
    cyclecloud: createCycleCloud({
      transport: { send: (request) => Promise.resolve(answerTo(worldOf(), request)) },
      autostop: (name, array) => autostopPath(PUBLIC_URL, name, array, STOP_KEYS),
      log: (event, fields) => worldOf().ports.log(event, fields),
    }),
  };
}

function answerTo(world: World, request: TransportRequest): Answer {
  const answer = world.simulator.request(request);
  // As over HTTP: nothing of the simulator's own state is handed on.
  const sent: unknown = answer.body === undefined ? undefined : JSON.parse(JSON.stringify(answer.body));
  return world.tamper(request, { status: answer.status, headers: answer.headers, body: sent });
}

function seededEntropy(seed: number): Ports["entropy"] {
  const random = seedRandom(seed);
  const word = () => Math.floor(random() * 2 ** 32).toString(16);
  return { epoch: () => epoch(`epoch-${word()}`), owner: () => owner(`owner-${word()}`), fraction: random };
}

// ---------------------------------------------------------------- clusters

const MACHINE_TYPES = {
  Standard_F4s_v2: { vcpuCount: 4, memory: 8, family: "standardFSv2Family" },
  Standard_D4s_v5: { vcpuCount: 4, memory: 16, family: "standardDSv5Family" },
  Standard_HC44rs: { vcpuCount: 44, memory: 352, infiniband: true, family: "standardHCSFamily" },
  Standard_E4s_v5: { vcpuCount: 4, memory: 32, family: "standardESv5Family" },
};

const region = "westeurope";

function hostileCluster(name: string): ClusterOptions {
  const arrays: readonly NodeArrayOptions[] = [
    {
      name: "execute",
      region,
      maxCount: 20,
      machineTypes: ["Standard_F4s_v2", "Standard_D4s_v5"],
      configuration: { autoscale: { resources: { custom_string1: "custom_value", custom_integer: 32 } } },
    },
    { name: "hpc", region, maxCount: 8, maxPlacementGroupSize: 4, machineTypes: ["Standard_HC44rs"] },
    { name: "low", region: "eastus", spot: true, maxCount: 10, machineTypes: ["Standard_F4s_v2"] },
    { name: "reserved", region, maxCount: 400, machineTypes: ["Standard_E4s_v5"] },
  ];
  return { name, arrays };
}

function calmCluster(name: string): ClusterOptions {
  return { name, arrays: [{ name: "execute", region, maxCount: 20, machineTypes: ["Standard_D4s_v5"] }] };
}
