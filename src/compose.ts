import { hostname } from "node:os";
import { getHeapStatistics } from "node:v8";
import { storageDemandQueue } from "./adapters/queue/demand-queue.ts";
import { scaledClock, systemClock, unscaledTime, observeServiceTime } from "./adapters/system/clock.ts";
import { systemEntropy } from "./adapters/system/entropy.ts";
import { jsonLog } from "./adapters/system/log.ts";
import { tableCredentialBreaker } from "./adapters/tables/credential-breaker.ts";
import { tableDocuments } from "./adapters/tables/documents.ts";
import { tableHistory } from "./adapters/tables/history.ts";
import { tableNodeHistory } from "./adapters/tables/node-history.ts";
import { tablePlanArchive } from "./adapters/tables/plan-archive.ts";
import { tableRecordStore } from "./adapters/tables/record-store.ts";
import { openTable } from "./adapters/tables/open-table.ts";
import type { Table } from "./adapters/tables/table.ts";
import { tableTriggerLog } from "./adapters/tables/trigger-log.ts";
import type { Clock, Log, Ports } from "./app/ports/ports.ts";
import type { Composition } from "./compose/composition.ts";
import { assemble } from "./compose/composition.ts";
import { openSite } from "./compose/open-site.ts";
import { adjusted, policyReader } from "./compose/policy-reader.ts";
import { processId } from "./domain/ids.ts";
import { budgetOf } from "./domain/memory-budget.ts";
import type { Config } from "./config.ts";
import { readConfig, readHeap } from "./config.ts";
import type { SenderTime } from "./wire/message/message-read.ts";
import { hasKnownKey, verifyToken } from "./decide/autostop/autostop-token.ts";
import type { ArrayName, ClusterName } from "./domain/ids.ts";
import type { QueueAccount, StorageAccount } from "./adapters/system/storage-account.ts";
import { managedIdentity } from "./compose/identity.ts";
import { withoutAbsent } from "./domain/without-absent.ts";

export type { ClusterCheck } from "./app/check-cluster.ts";
export type { CheckRequest } from "./compose/check.ts";
export { check, checkableClusters } from "./compose/check.ts";
export type { Composition } from "./compose/composition.ts";
export type { MemoryComposition, MemoryOptions } from "./compose/in-memory.ts";
export { composeInMemory } from "./compose/in-memory.ts";
export { ConfigError, readConfig } from "./config.ts";

let composed: Composition | undefined;
let decoration: (ports: Ports) => Ports = (ports) => ports;

/**
 * The only composition of this process, built from the app settings at the first call, and logged: the alert *process starts again and again*
 * counts that line for each machine. Throws ConfigError.
 */
export function composition(): Composition {
  if (composed === undefined) {
    composed = compose(readConfig(), (line) => process.stdout.write(`${line}\n`));
    const heapMiB = Math.round(getHeapStatistics().heap_size_limit / 1024 / 1024);
    composed.app.ports.log("started", { instance: hostname(), node: process.version, heapMiB });
  }
  return composed;
}

/**
 * Wraps every port of the next composition, and drops the one that there is: a test process uses this to crash at a given call, and to start
 * one app after the other, each with its own settings.
 */
export function decoratePorts(around: (ports: Ports) => Ports): void {
  decoration = around;
  composed = undefined;
}

/** Builds everything from settings: Table Storage, queues, one CycleCloud per cluster. */
export function compose(config: Config, write: (line: string) => void): Composition {
  const log = jsonLog(write);
  const serviceTime = observeServiceTime();
  const local = config.localClock;
  const clock =
    local === undefined
      ? systemClock({ correction: () => serviceTime.correction() })
      : scaledClock(local.origin, local.speed);
  const account = storageAccount(config);
  const table = openTable(account, { policies: serviceTime.policies });
  const demandAccount = demandStorageAccount(config);
  const queue = storageDemandQueue(account, clock, withoutAbsent({ demandAccount, speed: local?.speed }));
  const sites = config.clusters.map((cluster) => openSite(cluster, config, log));
  const ports: Ports = {
    clock,
    entropy: systemEntropy(),
    ...portsOnTable(table, clock, log, config),
    queue,
    sites: new Map(sites.map((site) => [site.cluster, site])),
    log,
  };
  let prepared = false;
  const prepare = async () => {
    if (prepared) return;
    await Promise.all([table.ensure(), queue.ensureQueues()]);
    prepared = true;
  };
  const senderTime: SenderTime = (at) => (local === undefined ? at : unscaledTime(local, at));
  const facts = { heap: readHeap(), process: processId(ports.entropy.owner()) };
  const { autostopKeys, defaultMode } = config;
  const assembled = assemble(decoration(ports), autostopKeys, prepare, senderTime, defaultMode, facts);
  return config.platformSignsIn === undefined ? assembled : { ...assembled, platformSignsIn: true };
}

/** What is kept in the app's table. */
export function portsOnTable(
  table: Table,
  clock: Clock,
  log: Log,
  config: Config,
): Pick<
  Ports,
  "store" | "history" | "plans" | "nodeHistory" | "documents" | "breaker" | "triggers" | "policyOf"
> {
  const documents = tableDocuments(table);
  return {
    store: tableRecordStore(table, clock, { cache: budgetOf(readHeap()).cache }),
    history: tableHistory(table),
    plans: tablePlanArchive(table),
    nodeHistory: tableNodeHistory(table),
    documents,
    breaker: tableCredentialBreaker(table, clock),
    triggers: tableTriggerLog(table),
    policyOf: policyReader(documents, clock, log, adjusted(config), config.defaultMode ?? "act"),
  };
}

/** Whether a token has the right form and a known key. Needs no storage, so it is checked first. */
export function mayBeAutostopToken({ autostopKeys }: Composition, token: string): boolean {
  return autostopKeys !== undefined && hasKnownKey(token, autostopKeys);
}

/** The array whose nodes carry this autostop token; undefined if it is not valid. */
export function verifyAutostopToken(
  composed: Composition,
  token: string,
  cluster: ClusterName,
  arrays: readonly ArrayName[],
): ArrayName | undefined {
  return composed.autostopKeys === undefined
    ? undefined
    : verifyToken(token, cluster, arrays, composed.autostopKeys);
}

export function storageAccount(config: Config): StorageAccount {
  const { storage } = config;
  if (storage.kind === "connection-string") return storage;
  return {
    kind: "identity",
    tableEndpoint: storage.tableUri,
    queueEndpoint: storage.queueUri,
    credential: managedIdentity(storage.clientId),
  };
}

/** The account where demand arrives, if it is not the app's own. */
export function demandStorageAccount({ demandStorage }: Config): QueueAccount | undefined {
  if (demandStorage === undefined || demandStorage.kind === "connection-string") return demandStorage;
  const { queueUri, clientId } = demandStorage;
  return { kind: "identity", queueEndpoint: queueUri, credential: managedIdentity(clientId) };
}
