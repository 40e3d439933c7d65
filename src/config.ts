import type { TrustedCertificates } from "./config/read-ca.ts";
import { readCa } from "./config/read-ca.ts";
import type { Problem } from "./domain/demand.ts";
import type { RegistryCluster } from "./wire/registry.ts";
import { readRegistry } from "./wire/registry.ts";

/** Everything the process is told from outside: the app settings. Checked whole, so that all mistakes show at once. */
export interface Config {
  readonly storage: StorageSetting;
  readonly clusters: readonly ConfiguredCluster[];
  /** What nodes are told to call; absent: created nodes carry no autostop URL. */
  readonly publicUrl?: string;
  readonly autostopKeys?: AutostopKeys;
  /** Present on one machine only: where the scaled clock began (real milliseconds), and how fast it runs. */
  readonly localClock?: { readonly origin: number; readonly speed: number };
  /** Present only where a laptop tries the app on a real cluster. */
  readonly trial?: Trial;
}

/** `watch`: nothing is changed, whatever a configuration says. `act`: changes are made. In both, only nodes that we asked for are stopped. */
export type Trial = "watch" | "act";

/** Key id -> secret; `current` signs, all are accepted. */
export interface AutostopKeys {
  readonly current: string;
  readonly byId: ReadonlyMap<string, string>;
}

export type StorageSetting =
  | { readonly kind: "connection-string"; readonly connectionString: string }
  | {
      readonly kind: "identity";
      readonly tableUri: string;
      readonly queueUri: string;
      readonly clientId?: string;
    };

export interface ConfiguredCluster extends Omit<RegistryCluster, "ca"> {
  /** Trusted instead of the public CAs. */
  readonly ca?: TrustedCertificates;
  /** The password itself, from the app setting that the registry names. */
  readonly password?: string;
}

/** App settings that do not make sense: every problem, with the setting's name in its path. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(
      problems.map(({ path, found, expected }) => `${path}: found ${found}, expected ${expected}`).join("; "),
    );
    this.name = "ConfigError";
    this.problems = problems;
  }
}

type Settings = Readonly<Record<string, string | undefined>>;

/** Reads the app settings; the only reader of process.env in the app. Throws {@link ConfigError}. */
export function readConfig(settings: Settings = process.env): Config {
  const problems: Problem[] = [];
  const storage = readStorage(settings, problems);
  const clusters = readClusters(settings, problems);
  const autostopKeys = readKeys(settings, problems);
  const localClock = readLocalClock(settings, problems);
  const trial = readTrial(settings, problems);
  const publicUrl = readPublicUrl(settings, problems);
  if (publicUrl !== undefined && (settings[KEYS] ?? "") === "") {
    problems.push({
      path: KEYS,
      found: "nothing",
      expected: `${KEYS_EXPECTED}, as there is a ${PUBLIC_URL}`,
    });
  }
  if (problems.length > 0 || storage === undefined) throw new ConfigError(problems);
  return {
    storage,
    clusters,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(autostopKeys === undefined ? {} : { autostopKeys }),
    ...(localClock === undefined ? {} : { localClock }),
    ...(trial === undefined ? {} : { trial }),
  };
}

/** Reads only what is needed to reach CycleCloud, for a look from anywhere before there is an app. Throws {@link ConfigError}. */
export function readSites(settings: Settings = process.env): readonly ConfiguredCluster[] {
  const problems: Problem[] = [];
  const clusters = readClusters(settings, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return clusters;
}

const PUBLIC_URL = "AUTOSCALER_PUBLIC_URL";

function readPublicUrl(settings: Settings, problems: Problem[]): string | undefined {
  const setting = settings[PUBLIC_URL];
  if (setting === undefined || setting === "") return undefined;
  const url = URL.canParse(setting) ? new URL(setting) : undefined;
  const plain =
    (url?.protocol === "http:" || url?.protocol === "https:") &&
    `${url.username}${url.password}${url.search}${url.hash}` === "";
  if (plain) return setting;
  problems.push({
    path: PUBLIC_URL,
    found: url === undefined ? "something else" : `an address of ${url.protocol}//${url.host}`,
    expected: "an http or https address without user, query and fragment",
  });
  return undefined;
}

/** The names that Azure Functions uses for the host's own storage account, so that one identity serves both (platform.md section 4). */
const CONNECTION_STRING = /^\s*UseDevelopmentStorage=true|(^|;)\s*(AccountKey|SharedAccessSignature)=[^;\s]/i;

function readStorage(settings: Settings, problems: Problem[]): StorageSetting | undefined {
  const connectionString = settings["AzureWebJobsStorage"];
  if (connectionString !== undefined && connectionString !== "") {
    if (CONNECTION_STRING.test(connectionString)) return { kind: "connection-string", connectionString };
    problems.push({
      path: "AzureWebJobsStorage",
      found: `${connectionString.length} characters (not shown: they may hold a secret)`,
      expected: "the connection string of a storage account, with an AccountKey or a SharedAccessSignature",
    });
    return undefined;
  }
  const tableUri = settings["AzureWebJobsStorage__tableServiceUri"];
  const queueUri = settings["AzureWebJobsStorage__queueServiceUri"];
  const clientId = settings["AzureWebJobsStorage__clientId"];
  if (tableUri !== undefined && queueUri !== undefined) {
    return { kind: "identity", tableUri, queueUri, ...(clientId === undefined ? {} : { clientId }) };
  }
  problems.push({
    path: "AzureWebJobsStorage",
    found: "nothing",
    expected:
      "a connection string, or AzureWebJobsStorage__tableServiceUri and AzureWebJobsStorage__queueServiceUri",
  });
  return undefined;
}

function readClusters(settings: Settings, problems: Problem[]): readonly ConfiguredCluster[] {
  const setting = settings["AUTOSCALER_CLUSTERS"];
  if (setting === undefined || setting.trim() === "") {
    problems.push({
      path: "AUTOSCALER_CLUSTERS",
      found: "nothing",
      expected: "a JSON list of clusters; [] for none",
    });
    return [];
  }
  const read = readRegistry(setting);
  if (read.kind === "problems") {
    problems.push(
      ...read.problems.map((problem) => ({ ...problem, path: `AUTOSCALER_CLUSTERS${problem.path}` })),
    );
    return [];
  }
  return read.clusters.map((entry, index) => {
    const cluster = withCa(entry, `AUTOSCALER_CLUSTERS[${index}].ca`, problems);
    if (cluster.credential.kind !== "password") return cluster;
    const { setting: name } = cluster.credential;
    const password = settings[name];
    if (password !== undefined && password !== "") return { ...cluster, password };
    problems.push({
      path: `AUTOSCALER_CLUSTERS[${index}].passwordSetting`,
      // Somebody may have put the password itself there: only what looks like the name of a setting is shown.
      found: SETTING_NAME.test(name)
        ? `${name}, which is not set`
        : "something else (not shown: it may be a secret)",
      expected: `the name of an app setting that holds the password of ${cluster.username ?? "the user"} for cluster "${cluster.name}"`,
    });
    return cluster;
  });
}

function withCa(entry: RegistryCluster, path: string, problems: Problem[]): ConfiguredCluster {
  const { ca, ...cluster } = entry;
  if (ca === undefined) return cluster;
  const read = readCa(ca, path);
  if (read.kind === "ca") return { ...cluster, ca: read.ca };
  problems.push(read.problem);
  return cluster;
}

const SETTING_NAME = /^[A-Z]+(_[A-Z0-9]+)+$/;

const KEYS = "AUTOSCALER_AUTOSTOP_KEYS";
const KEYS_EXPECTED =
  "id:secret pairs separated by commas; ids of letters, digits, - and _; secrets of 16 characters or more without a colon";

/** AUTOSCALER_AUTOSTOP_KEYS is "id:secret", newest first, separated by commas: the first signs, all are accepted. */
function readKeys(settings: Settings, problems: Problem[]): AutostopKeys | undefined {
  const setting = settings[KEYS];
  if (setting === undefined || setting === "") return undefined;
  const byId = new Map<string, string>();
  for (const part of setting.split(",")) {
    const [id, secret, ...rest] = part.trim().split(":");
    if (
      id === undefined ||
      !/^[A-Za-z0-9_-]+$/.test(id) ||
      secret === undefined ||
      secret.length < 16 ||
      rest.length > 0
    ) {
      problems.push({
        path: KEYS,
        found: "something else (not shown: it may be a secret)",
        expected: KEYS_EXPECTED,
      });
      return undefined;
    }
    byId.set(id, secret);
  }
  const [current] = byId.keys();
  return current === undefined ? undefined : { current, byId };
}

function readLocalClock(settings: Settings, problems: Problem[]): Config["localClock"] {
  const setting = settings["AUTOSCALER_LOCAL_CLOCK"];
  if (setting === undefined || setting === "") return undefined;
  const [origin, speed] = setting.split("@").map(Number);
  if (origin !== undefined && speed !== undefined && Number.isFinite(origin) && speed > 0)
    return { origin, speed };
  problems.push({
    path: "AUTOSCALER_LOCAL_CLOCK",
    found: setting,
    expected: 'milliseconds@speed, as "1763636400000@60"',
  });
  return undefined;
}

const TRIAL = "AUTOSCALER_LOCAL_TRIAL";

function readTrial(settings: Settings, problems: Problem[]): Trial | undefined {
  const setting = settings[TRIAL];
  if (setting === undefined || setting === "") return undefined;
  if (setting === "watch" || setting === "act") return setting;
  problems.push({ path: TRIAL, found: setting, expected: '"watch" or "act"' });
  return undefined;
}
