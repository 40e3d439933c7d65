import { createCycleCloud } from "../adapters/cyclecloud/cyclecloud.ts";
import type { Transport } from "../adapters/cyclecloud/transport.ts";
import {
  forgetfulHistory,
  memoryCredentialBreaker,
  memoryDocuments,
  memoryHistory,
  memoryNodeHistory,
  memoryPlanArchive,
  memoryTriggerLog,
} from "../adapters/memory/stores.ts";
import type { MemoryDemandQueue } from "../adapters/memory/demand-queue.ts";
import { memoryDemandQueue } from "../adapters/memory/demand-queue.ts";
import { memoryRecordStore } from "../adapters/memory/record-store.ts";
import { systemEntropy } from "../adapters/system/entropy.ts";
import type { Clock, Log, Ports, Site } from "../app/ports/ports.ts";
import type { AutostopKeys } from "../config.ts";
import { autostopPath, stopKeyReader } from "../decide/autostop/autostop-token.ts";
import { documentDigest } from "../domain/config-version.ts";
import { clusterName } from "../domain/ids.ts";
import type { Policy } from "../domain/policy.ts";
import type { Composition } from "./composition.ts";
import { assemble } from "./composition.ts";
import { stopKeysOf } from "./open-site.ts";

export interface MemoryOptions {
  readonly cluster: string;
  readonly clock: Clock;
  /** Answers CycleCloud's requests in this process, with objects instead of JSON. */
  readonly transport: Transport;
  readonly publicUrl: string;
  readonly autostopKeys: AutostopKeys;
  readonly policy: Policy;
  readonly log: Log;
  /** Drops what is only kept for readers: nobody asks for the history of ticks and of nodes. Absent: it is kept. */
  readonly forgets?: true;
}

/** A composition for a virtual run, with the queue that its driver drains. */
export interface MemoryComposition extends Composition {
  readonly queue: MemoryDemandQueue;
}

/** Composes the same use cases and rules with store, queue and CycleCloud in memory. For virtual runs. */
export function composeInMemory(options: MemoryOptions): MemoryComposition {
  const { clock, transport, publicUrl, autostopKeys } = options;
  const cluster = clusterName(options.cluster);
  const queue = memoryDemandQueue(clock);
  const site: Site = {
    cluster,
    credential: "in memory",
    cyclecloud: createCycleCloud({
      transport,
      autostop: (name, array) => autostopPath(publicUrl, name, array, autostopKeys),
      stopKeyOf: stopKeyReader(cluster, autostopKeys),
    }),
    stopKeys: stopKeysOf({ publicUrl, autostopKeys }),
  };
  const store = memoryRecordStore();
  const policy: Policy = { ...options.policy, document: documentDigest(undefined) };
  const ports: Ports = {
    clock,
    entropy: systemEntropy(),
    store,
    plans: memoryPlanArchive(),
    ...(options.forgets === true
      ? forgetfulHistory()
      : { history: memoryHistory(), nodeHistory: memoryNodeHistory() }),
    documents: memoryDocuments(store),
    breaker: memoryCredentialBreaker(),
    triggers: memoryTriggerLog(),
    queue,
    sites: new Map([[cluster, site]]),
    log: options.log,
    policyOf: () => Promise.resolve(policy),
  };
  return { ...assemble(ports, autostopKeys, () => Promise.resolve()), queue };
}
