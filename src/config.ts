import type { TrustedCertificates } from "./config/read-ca.ts";
import type { AutostopKeys } from "./config/autostop-keys.ts";
import { KEYS, KEYS_EXPECTED, readAutostopKeys } from "./config/autostop-keys.ts";
import type { DemandStorage } from "./config/demand-storage.ts";
import { readDemandStorage } from "./config/demand-storage.ts";
import { readCa } from "./config/read-ca.ts";
import type { Settings, StorageSetting } from "./config/storage.ts";
import { isUnresolved, readStorage, UNRESOLVED } from "./config/storage.ts";
import type { Problem } from "./domain/demand.ts";
import type { Mode } from "./domain/mode.ts";
import type { RegistryCluster } from "./wire/registry.ts";
import { isPlainHttp } from "./domain/loopback.ts";
import { modeIn } from "./wire/mode.ts";
import { boundProblems } from "./wire/problems.ts";
import { readRegistry } from "./wire/registry.ts";
import { kindOf } from "./wire/problem.ts";

export type { AutostopKeys } from "./config/autostop-keys.ts";
export type { StorageSetting } from "./config/storage.ts";

/** All configuration of the process: the app settings. Checked completely, so that all mistakes show at once. */
export interface Config {
  readonly storage: StorageSetting;
  /** The account of the queues `demand` and `demand-poison`. Absent: the same account. */
  readonly demandStorage?: DemandStorage;
  readonly clusters: readonly ConfiguredCluster[];
  /** The URL that nodes call. Absent: created nodes carry no autostop URL. */
  readonly publicUrl?: string;
  readonly autostopKeys?: AutostopKeys;
  /** Only for runs on one machine: the origin of the scaled clock (real milliseconds), and its speed. */
  readonly localClock?: { readonly origin: number; readonly speed: number };
  /** Only for trying the app from a laptop on a real cluster. */
  readonly trial?: Trial;
  /** The mode if a configuration gives none. Absent: `act`. */
  readonly defaultMode?: Mode;
  /** App Service authentication is on: the platform vouches for the caller's name. Absent: it does not. */
  readonly platformSignsIn?: true;
}

/**
 * `watch`: nothing is changed, whatever a configuration allows. `act`: changes are made. In both, only nodes that we created are stopped.
 */
export type Trial = "watch" | "act";

export interface ConfiguredCluster extends Omit<RegistryCluster, "ca"> {
  /** Trusted instead of the public CAs. */
  readonly ca?: TrustedCertificates;
  /** The password itself, from the app setting that the registry names. */
  readonly password?: string;
}

/** Invalid app settings: the first problems, each with the setting's name in its path, and the number of the rest. */
export class ConfigError extends Error {
  readonly problems: readonly Problem[];

  constructor(found: readonly Problem[]) {
    const problems = boundProblems(found);
    super(
      problems.map(({ path, found, expected }) => `${path}: found ${found}, expected ${expected}`).join("; "),
    );
    this.name = "ConfigError";
    this.problems = problems;
  }
}

/** Reads the app settings; the only reader of process.env in the app. Throws {@link ConfigError}. */
export function readConfig(settings: Settings = process.env): Config {
  const problems: Problem[] = [];
  const storage = readStorage(settings, problems);
  const clusters = readClusters(settings, problems);
  const demandStorage = readDemandStorage(settings, problems);
  const autostopKeys = readAutostopKeys(settings[KEYS], problems);
  const localClock = readLocalClock(settings, problems);
  const trial = readTrial(settings, problems);
  const defaultMode = readDefaultMode(settings, problems);
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
    ...(demandStorage === undefined ? {} : { demandStorage }),
    clusters,
    ...(publicUrl === undefined ? {} : { publicUrl }),
    ...(autostopKeys === undefined ? {} : { autostopKeys }),
    ...(localClock === undefined ? {} : { localClock }),
    ...(trial === undefined ? {} : { trial }),
    ...(defaultMode === undefined ? {} : { defaultMode }),
    // The platform writes it, so it is not checked: another value means that authentication is off.
    ...(settings["WEBSITE_AUTH_ENABLED"]?.toLowerCase() === "true" ? { platformSignsIn: true } : {}),
  };
}

/** Reads only the settings needed to reach CycleCloud, for a check from anywhere before there is an app. Throws {@link ConfigError}. */
export function readSites(settings: Settings = process.env): readonly ConfiguredCluster[] {
  const problems: Problem[] = [];
  const clusters = readClusters(settings, problems);
  if (problems.length > 0) throw new ConfigError(problems);
  return clusters;
}

const PUBLIC_URL = "AUTOSCALER_PUBLIC_URL";
const INSECURE = "AUTOSCALER_INSECURE";

function isInsecureAllowed(settings: Settings): boolean {
  return /^(true|1)$/i.test(settings[INSECURE] ?? "");
}

/** Descriptions of the data that the settings send over the network unprotected, for one cluster. Empty: none. Contains no secret. */
export function insecurities(
  { url, insecure }: Pick<ConfiguredCluster, "url" | "insecure">,
  publicUrl?: string,
): readonly string[] {
  const { origin } = new URL(url);
  return [
    ...(isPlainHttp(url)
      ? [`CycleCloud is called over plain http (${origin}): others on the network can read the password`]
      : insecure
        ? [
            `certificates of ${origin} are not checked ("insecure"): another server in its place gets the password`,
          ]
        : []),
    ...(publicUrl !== undefined && isPlainHttp(publicUrl)
      ? [
          `nodes call ${new URL(publicUrl).origin} over plain http: others on the network can read the stop URLs`,
        ]
      : []),
  ];
}

function readPublicUrl(settings: Settings, problems: Problem[]): string | undefined {
  const setting = settings[PUBLIC_URL];
  if (setting === undefined || setting === "") return undefined;
  const url = URL.canParse(setting) ? new URL(setting) : undefined;
  const plain =
    (url?.protocol === "http:" || url?.protocol === "https:") &&
    `${url.username}${url.password}${url.search}${url.hash}` === "";
  if (plain && isPlainHttp(setting) && !isInsecureAllowed(settings)) {
    problems.push({
      path: PUBLIC_URL,
      found: `plain http to ${url.host}`,
      expected: `an https address, as stop URLs hold a token; ${INSECURE}=true allows http`,
    });
    return undefined;
  }
  if (plain) return setting;
  problems.push({
    path: PUBLIC_URL,
    found: url === undefined ? "something else" : `an address of ${url.protocol}//${url.host}`,
    expected: "an http or https address without user, query and fragment",
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
  // ConfigError has the bound, so that it counts the problems of all settings.
  const read = readRegistry(setting, Number.POSITIVE_INFINITY);
  if (read.kind === "problems") {
    problems.push(
      ...read.problems.map((problem) => ({ ...problem, path: `AUTOSCALER_CLUSTERS${problem.path}` })),
    );
    return [];
  }
  return read.clusters.map((entry, index) => {
    const cluster = withCa(entry, `AUTOSCALER_CLUSTERS[${index}].ca`, problems);
    if (isPlainHttp(cluster.url) && !cluster.insecure)
      problems.push({
        path: `AUTOSCALER_CLUSTERS[${index}].url`,
        found: `plain http to ${new URL(cluster.url).host}`,
        expected: 'an https address, as the password goes there; "insecure": true allows http',
      });
    if (cluster.credential.kind !== "password") return cluster;
    const { setting: name } = cluster.credential;
    const password = Object.hasOwn(settings, name) ? settings[name] : undefined;
    if (password === SAMPLE_PASSWORD) {
      problems.push({ path: name, found: "the text of the sample", expected: "the password" });
      return cluster;
    }
    if (password !== undefined && isUnresolved(password)) {
      // As a password it would be refused, and five refusals lock the account.
      problems.push({ path: name, ...UNRESOLVED });
      return cluster;
    }
    if (password !== undefined && password !== "") return { ...cluster, password };
    problems.push({
      path: `AUTOSCALER_CLUSTERS[${index}].passwordSetting`,
      // It may be the password itself, so a text is shown only if it has the form of a setting's name.
      found: SETTING_NAME.test(name)
        ? `${name}, which is not set`
        : "something else (not shown: it may be a secret)",
      expected: `the name of an app setting that holds the password of ${cluster.username ?? "the user"} for cluster "${cluster.name}"`,
    });
    return cluster;
  });
}

/** The value in infra/local.settings.sample.json. */
const SAMPLE_PASSWORD = "put the password here";

function withCa(entry: RegistryCluster, path: string, problems: Problem[]): ConfiguredCluster {
  const { ca, ...cluster } = entry;
  if (ca === undefined) return cluster;
  const read = readCa(ca, path);
  if (read.kind === "ca") return { ...cluster, ca: read.ca };
  problems.push(read.problem);
  return cluster;
}

const SETTING_NAME = /^[A-Z]+(_[A-Z0-9]+)+$/;

function readLocalClock(settings: Settings, problems: Problem[]): Config["localClock"] {
  const setting = settings["AUTOSCALER_LOCAL_CLOCK"];
  if (setting === undefined || setting === "") return undefined;
  const [origin, speed] = setting.split("@").map(Number);
  if (origin !== undefined && speed !== undefined && Number.isFinite(origin) && speed > 0)
    return { origin, speed };
  problems.push({
    path: "AUTOSCALER_LOCAL_CLOCK",
    found: kindOf(setting),
    expected: 'milliseconds@speed, as "1763636400000@60"',
  });
  return undefined;
}

const TRIAL = "AUTOSCALER_LOCAL_TRIAL";

function readTrial(settings: Settings, problems: Problem[]): Trial | undefined {
  const setting = settings[TRIAL];
  if (setting === undefined || setting === "") return undefined;
  if (setting === "watch" || setting === "act") return setting;
  problems.push({ path: TRIAL, found: kindOf(setting), expected: '"watch" or "act"' });
  return undefined;
}

const DEFAULT_MODE = "AUTOSCALER_DEFAULT_MODE";

function readDefaultMode(settings: Settings, problems: Problem[]): Mode | undefined {
  const setting = settings[DEFAULT_MODE];
  if (setting === undefined || setting === "") return undefined;
  const mode = modeIn(setting);
  if (mode === undefined)
    problems.push({ path: DEFAULT_MODE, found: kindOf(setting), expected: '"observe" or "act"' });
  return mode;
}
