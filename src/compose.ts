import type { TokenCredential } from "@azure/identity";
import { createCycleCloud } from "./adapters/cyclecloud/cyclecloud.ts";
import type { Credentials, Timeouts } from "./adapters/cyclecloud/http-transport.ts";
import { CONNECT_MS, createHttpTransport } from "./adapters/cyclecloud/http-transport.ts";
import type { Transport } from "./adapters/cyclecloud/transport.ts";
import { memoryCredentialBreaker } from "./adapters/memory/credential-breaker.ts";
import type { MemoryDemandQueue } from "./adapters/memory/demand-queue.ts";
import { memoryDemandQueue } from "./adapters/memory/demand-queue.ts";
import { memoryDocuments } from "./adapters/memory/documents.ts";
import { memoryHistory } from "./adapters/memory/history.ts";
import { memoryPlanArchive } from "./adapters/memory/plan-archive.ts";
import { memoryRecordStore } from "./adapters/memory/record-store.ts";
import { memoryTriggerLog } from "./adapters/memory/trigger-log.ts";
import { storageDemandQueue } from "./adapters/queue/demand-queue.ts";
import { scaledClock, systemClock, unscaledTime } from "./adapters/system/clock.ts";
import { systemEntropy } from "./adapters/system/entropy.ts";
import { jsonLog } from "./adapters/system/log.ts";
import { observeServiceTime } from "./adapters/system/service-time.ts";
import type { QueueAccount, StorageAccount } from "./adapters/system/storage-account.ts";
import { tableCredentialBreaker } from "./adapters/tables/credential-breaker.ts";
import { tableDocuments } from "./adapters/tables/documents.ts";
import { tableHistory } from "./adapters/tables/history.ts";
import { tablePlanArchive } from "./adapters/tables/plan-archive.ts";
import { tableRecordStore } from "./adapters/tables/record-store.ts";
import { openTable } from "./adapters/tables/table.ts";
import { tableTriggerLog } from "./adapters/tables/trigger-log.ts";
import type { StopDesk } from "./app/answer-autostop.ts";
import { createStopDesk } from "./app/answer-autostop.ts";
import type { Background } from "./app/background.ts";
import { createBackground } from "./app/background.ts";
import type { ClusterCheck } from "./app/check-cluster.ts";
import { checkClusters } from "./app/check-cluster.ts";
import type { HealthDesk } from "./app/health-desk.ts";
import { createHealthDesk } from "./app/health-desk.ts";
import { createLanes } from "./app/lanes.ts";
import type { Clock, Documents, Log, Ports, Site, StopKeys } from "./app/ports.ts";
import type { DemandRecorder } from "./app/record-demand.ts";
import { createRecorder } from "./app/record-demand.ts";
import type { AutostopKeys, Config, ConfiguredCluster, Trial } from "./config.ts";
import { insecurities, readConfig, readSites } from "./config.ts";
import { autostopPath, hasKnownKey, stopKeyReader, verifyToken } from "./decide/autostop-token.ts";
import type { ArrayName, ClusterName } from "./domain/ids.ts";
import { clusterName } from "./domain/ids.ts";
import type { Mode } from "./domain/mode.ts";
import type { CallBounds, Policy } from "./domain/policy.ts";
import { DEFAULT_POLICY, observing } from "./domain/policy.ts";
import type { SenderTime } from "./wire/demand-message.ts";
import { readPolicy } from "./wire/policy.ts";
import type { App } from "./app/app.ts";

export { ConfigError, readConfig } from "./config.ts";
export type { ClusterCheck } from "./app/check-cluster.ts";

/** What the functions are given: the app, and the two desks whose callers in one process are served together. */
export interface Composition {
  readonly app: App;
  readonly recorder: DemandRecorder;
  readonly stopDesk: StopDesk;
  readonly healthDesk: HealthDesk;
  readonly background: Background;
  readonly autostopKeys?: AutostopKeys;
  readonly senderTime: SenderTime;
  /** The mode of a cluster whose configuration says none: AUTOSCALER_DEFAULT_MODE. */
  readonly defaultMode: Mode;
  /** App Service authentication is on: the caller's name in a request is the platform's word. Absent: it is off. */
  readonly platformSignsIn?: true;
  /** Creates the table and the queues if they are not there. Once per process; safe to repeat. */
  readonly prepare: () => Promise<void>;
}

let composed: Composition | undefined;
let decoration: (ports: Ports) => Ports = (ports) => ports;

/** The one composition of this process, built from the app settings at the first call. Throws ConfigError. */
export function composition(): Composition {
  composed ??= compose(readConfig(), (line) => process.stdout.write(`${line}\n`));
  return composed;
}

/** Puts something around every port before the first use: how a test process makes itself crash at a given call. */
export function decoratePorts(around: (ports: Ports) => Ports): void {
  decoration = around;
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
  const queue = storageDemandQueue(account, clock, {
    ...(demandAccount === undefined ? {} : { demandAccount }),
    ...(local === undefined ? {} : { speed: local.speed }),
  });
  const documents = tableDocuments(table);
  const sites = config.clusters.map((cluster) => openSite(cluster, config, log));
  const ports: Ports = {
    clock,
    entropy: systemEntropy(),
    store: tableRecordStore(table, clock),
    history: tableHistory(table),
    plans: tablePlanArchive(table),
    documents,
    breaker: tableCredentialBreaker(table, clock),
    triggers: tableTriggerLog(table),
    queue,
    sites: new Map(sites.map((site) => [site.cluster, site])),
    log,
    policyOf: policyReader(documents, clock, log, adjusted(config), config.defaultMode ?? "act"),
  };
  let prepared = false;
  const prepare = async () => {
    if (prepared) return;
    await Promise.all([table.ensure(), queue.ensureQueues()]);
    prepared = true;
  };
  const senderTime: SenderTime = (at) => (local === undefined ? at : unscaledTime(local, at));
  const assembled = assemble(decoration(ports), config.autostopKeys, prepare, senderTime, config.defaultMode);
  return config.platformSignsIn === undefined ? assembled : { ...assembled, platformSignsIn: true };
}

function assemble(
  ports: Ports,
  keys: AutostopKeys | undefined,
  prepare: () => Promise<void>,
  senderTime: SenderTime = (at) => at,
  defaultMode: Mode = "act",
): Composition {
  const app: App = { ports, lanes: createLanes() };
  return {
    app,
    recorder: createRecorder(app, senderTime),
    stopDesk: createStopDesk(app),
    healthDesk: createHealthDesk(app),
    background: createBackground(ports.log),
    ...(keys === undefined ? {} : { autostopKeys: keys }),
    senderTime,
    defaultMode,
    prepare,
  };
}

// ---------------------------------------------------------------- storage and CycleCloud

function storageAccount(config: Config): StorageAccount {
  const { storage } = config;
  if (storage.kind === "connection-string") return storage;
  return {
    kind: "identity",
    tableEndpoint: storage.tableUri,
    queueEndpoint: storage.queueUri,
    credential: managedIdentity(storage.clientId),
  };
}

/** Where demand comes in, if not in the app's own account. */
function demandStorageAccount({ demandStorage }: Config): QueueAccount | undefined {
  if (demandStorage === undefined || demandStorage.kind === "connection-string") return demandStorage;
  const { queueUri, clientId } = demandStorage;
  return { kind: "identity", queueEndpoint: queueUri, credential: managedIdentity(clientId) };
}

/** Loaded when first used: @azure/identity costs a cold start more than anything else here (platform.md section 6). */
function managedIdentity(clientId: string | undefined): TokenCredential {
  return whenFirstUsed(async () => {
    const { ManagedIdentityCredential } = await import("@azure/identity");
    return clientId === undefined
      ? new ManagedIdentityCredential()
      : new ManagedIdentityCredential({ clientId });
  });
}

/** Who is signed in on this machine (az login, environment, managed identity): for a look from a desk. */
function ownIdentity(): TokenCredential {
  return whenFirstUsed(async () => {
    const { DefaultAzureCredential } = await import("@azure/identity");
    return new DefaultAzureCredential();
  });
}

function whenFirstUsed(load: () => Promise<TokenCredential>): TokenCredential {
  let loaded: Promise<TokenCredential> | undefined;
  return {
    async getToken(scopes, options) {
      loaded ??= load();
      return (await loaded).getToken(scopes, options);
    },
  };
}

type AutostopSettings = Pick<Config, "publicUrl" | "autostopKeys" | "trial">;

function openSite(
  cluster: ConfiguredCluster,
  config: AutostopSettings,
  log: Log,
  identity: typeof managedIdentity = managedIdentity,
): Site {
  if (cluster.ca !== undefined) log("certificates-trusted", { cluster: cluster.name, ca: cluster.ca.found });
  if (cluster.insecure) log("certificates-not-checked", { cluster: cluster.name, url: cluster.url });
  const transport = createHttpTransport({
    baseUrl: cluster.url,
    credentials: credentialsOf(cluster, identity),
    ...(cluster.ca === undefined ? {} : { ca: cluster.ca.pem }),
    ...(cluster.insecure ? { insecure: true } : {}),
    timeouts: timeoutsFor(cluster.bounds),
  });
  return {
    cluster: cluster.name,
    credential: `${cluster.url} ${cluster.username ?? "managed identity"}`,
    cyclecloud: createCycleCloud({
      transport,
      log,
      ...autostopOption(config),
      ...stopKeyOption(cluster.name, config),
    }),
    stopKeys: stopKeysOf(config),
  };
}

function stopKeysOf({ publicUrl, autostopKeys }: AutostopSettings): StopKeys {
  if (autostopKeys === undefined) return { accepted: [] };
  const accepted = [...autostopKeys.byId.keys()];
  return publicUrl === undefined ? { accepted } : { signing: autostopKeys.current, accepted };
}

/** The limit is for a whole call; making the connection is a part of it. */
function timeoutsFor({ callLimitSeconds }: CallBounds): Timeouts {
  const ms = callLimitSeconds * 1000;
  return { connectMs: Math.min(CONNECT_MS, ms), readMs: ms, changeMs: ms };
}

function autostopOption(config: AutostopSettings) {
  const { publicUrl, autostopKeys } = config;
  if (publicUrl === undefined || autostopKeys === undefined) return {};
  return {
    autostop: (cluster: ClusterName, array: ArrayName) =>
      autostopPath(publicUrl, cluster, array, autostopKeys),
  };
}

/** None on trial: the nodes may carry the URLs of an app that runs elsewhere with the same keys. */
function stopKeyOption(cluster: ClusterName, { autostopKeys, trial }: AutostopSettings) {
  if (autostopKeys === undefined || trial !== undefined) return {};
  return { stopKeyOf: stopKeyReader(cluster, autostopKeys) };
}

function credentialsOf(
  cluster: ConfiguredCluster,
  identityOf: typeof managedIdentity,
): () => Promise<Credentials> {
  const { credential } = cluster;
  if (credential.kind === "password") {
    const basic: Credentials = {
      kind: "basic",
      username: cluster.username ?? "",
      password: cluster.password ?? "",
    };
    return () => Promise.resolve(basic);
  }
  const identity = identityOf(credential.clientId);
  return async () => {
    const token = await identity.getToken(credential.scope);
    if (token === null) throw new Error(`no token for ${cluster.name}`);
    return { kind: "bearer", token: token.token };
  };
}

// ---------------------------------------------------------------- a first look

/** What a check looks at, and with which configuration. */
export interface CheckRequest {
  /** App settings; absent: this process's environment. Of them only AUTOSCALER_CLUSTERS and the passwords that it names are read. */
  readonly settings?: Readonly<Record<string, string | undefined>>;
  /** Absent: all of AUTOSCALER_CLUSTERS. */
  readonly cluster?: string;
  readonly policy: Policy;
}

/**
 * Reads the clusters of the app settings from CycleCloud, with no storage and no app behind it, and says what the policy would make of
 * them. Writes nothing anywhere. A cluster that the settings do not have gives an empty list. Throws ConfigError.
 */
export async function check({ settings, cluster, policy }: CheckRequest): Promise<readonly ClusterCheck[]> {
  const clusters = readSites(settings).filter(({ name }) => cluster === undefined || name === cluster);
  const sites = clusters.map((site) => openSite(site, {}, () => undefined, ownIdentity));
  const checks = await checkClusters(sites, policy, systemClock());
  return checks.map((checked) =>
    withTrust(checked, clusters.find(({ name }) => name === checked.cluster)?.ca?.found),
  );
}

/** Says which certificates were trusted, where the settings name some. */
function withTrust(checked: ClusterCheck, found: string | undefined): ClusterCheck {
  if (found === undefined) return checked;
  return checked.kind === "read"
    ? { ...checked, notes: [...checked.notes, `ca: ${found}`] }
    : { ...checked, message: `${checked.message} (ca: ${found})` };
}

/** The clusters that the app settings name. Throws ConfigError. */
export function checkableClusters({ settings }: Pick<CheckRequest, "settings">): readonly string[] {
  return readSites(settings).map(({ name }) => name);
}

// ---------------------------------------------------------------- configuration documents

/** A configuration document is believed for so long. */
const POLICY_AGE_MS = 15_000;

/**
 * Reads a cluster's configuration. One that cannot be read (a newer release wrote it) is reported, and the last that could holds; without
 * such a one we only watch: the defaults would act where the operator may have said not to.
 */
function policyReader(
  documents: Documents,
  clock: Clock,
  log: Log,
  adjust: (policy: Policy, cluster: ClusterName) => Policy,
  defaultMode: Mode,
): Ports["policyOf"] {
  const known = new Map<ClusterName, { readonly policy: Policy; readonly at: number }>();
  return async (cluster) => {
    const held = known.get(cluster);
    const now = clock.now();
    if (held !== undefined && now - held.at < POLICY_AGE_MS) return held.policy;
    const policy = adjust(
      policyFrom(await documents.read(cluster), held?.policy, cluster, log, defaultMode),
      cluster,
    );
    known.set(cluster, { policy, at: now });
    return policy;
  };
}

/** A configuration with what the app settings say of its cluster's server, and of the whole app. */
function adjusted({ clusters, trial, publicUrl }: Config): (policy: Policy, cluster: ClusterName) => Policy {
  const settingsOf = new Map(
    clusters.map((cluster) => {
      const insecure = insecurities(cluster, publicUrl);
      return [cluster.name, { ...cluster.bounds, ...(insecure.length === 0 ? {} : { insecure }) }];
    }),
  );
  const tried = onTrial(trial);
  return (policy, cluster) => tried({ ...policy, ...settingsOf.get(cluster) });
}

/** What a trial on a laptop makes of every configuration, whatever is stored. */
function onTrial(trial: Trial | undefined): (policy: Policy) => Policy {
  if (trial === undefined) return (policy) => policy;
  return (policy) => ({ ...(trial === "act" ? policy : observing(policy)), exclusiveArrays: [] });
}

function policyFrom(
  document: { readonly text: string } | undefined,
  held: Policy | undefined,
  cluster: ClusterName,
  log: Log,
  defaultMode: Mode,
): Policy {
  const read = readPolicy(document?.text ?? {}, defaultMode);
  if (read.kind === "policy") return read.policy;
  log("configuration-unreadable", { cluster, problems: read.problems });
  return held ?? observing(DEFAULT_POLICY);
}

// ---------------------------------------------------------------- all in memory

export interface MemoryOptions {
  readonly cluster: string;
  readonly clock: Clock;
  /** Answers CycleCloud's requests in this process, with objects instead of JSON. */
  readonly transport: Transport;
  readonly publicUrl: string;
  readonly autostopKeys: AutostopKeys;
  readonly policy: Policy;
  readonly log: Log;
}

/** What a virtual run also needs: the queue that its driver drains. */
export interface MemoryComposition extends Composition {
  readonly queue: MemoryDemandQueue;
}

/** The same use cases and rules with store, queue and CycleCloud in memory: what virtual runs drive. */
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
  const ports: Ports = {
    clock,
    entropy: systemEntropy(),
    store: memoryRecordStore(),
    history: memoryHistory(),
    plans: memoryPlanArchive(),
    documents: memoryDocuments(),
    breaker: memoryCredentialBreaker(),
    triggers: memoryTriggerLog(),
    queue,
    sites: new Map([[cluster, site]]),
    log: options.log,
    policyOf: () => Promise.resolve(options.policy),
  };
  return { ...assemble(ports, autostopKeys, () => Promise.resolve()), queue };
}

/** Whether a token can be valid for any array: its form, and a known key. Costs nothing, so it comes before everything else. */
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
