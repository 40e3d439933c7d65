import v8 from "node:v8";
import type { AutostopKeys } from "./config/autostop-keys.ts";
import { KEYS, KEYS_EXPECTED, readAutostopKeys } from "./config/autostop-keys.ts";
import type { DemandStorage } from "./config/demand-storage.ts";
import { readDemandStorage } from "./config/demand-storage.ts";
import type { Settings, StorageSetting } from "./config/storage.ts";
import { readStorage } from "./config/storage.ts";
import type { Problem } from "./domain/demand.ts";
import type { Bytes } from "./domain/units.ts";
import { MIB } from "./domain/memory-budget.ts";
import type { Mode } from "./domain/mode.ts";
import { modeIn } from "./wire/policy/mode.ts";
import { boundProblems } from "./wire/json/problems.ts";
import { kindOf } from "./wire/json/problem.ts";
import type { ConfiguredCluster } from "./config/clusters.ts";
import { readClusters } from "./config/clusters.ts";
import { PUBLIC_URL, readPublicUrl } from "./config/public-url.ts";
import { readLocalClock, readTrial } from "./config/local-settings.ts";
import type { LocalClock, Trial } from "./config/local-settings.ts";
import { withoutAbsent } from "./domain/without-absent.ts";

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
  /** Only for runs on one machine. */
  readonly localClock?: LocalClock;
  /** Only for trying the app from a laptop on a real cluster. */
  readonly trial?: Trial;
  /** The mode if a configuration gives none. Absent: `act`. */
  readonly defaultMode?: Mode;
  /** App Service authentication is on: the platform vouches for the caller's name. Absent: it does not. */
  readonly platformSignsIn?: true;
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
    ...withoutAbsent({ demandStorage }),
    clusters,
    ...withoutAbsent({ publicUrl, autostopKeys, localClock, trial, defaultMode }),
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

/**
 * How large the heap of this process may become. V8 counts the young generation in its limit, up to 192 MiB on a large machine, and ends a
 * process whose old generation is full. So where a size was set for the old one, that counts. `flags`: those on the command line of Node.
 */
export function readHeap(
  settings: Settings = process.env,
  flags: readonly string[] = process.execArgv,
  limit: Bytes = v8.getHeapStatistics().heap_size_limit,
): Bytes {
  const set = [...(settings["NODE_OPTIONS"] ?? "").split(/\s+/), ...flags].flatMap((option) => {
    const [name, value] = option.split("=");
    const mebibytes = Number(value);
    return name?.replaceAll("_", "-") === "--max-old-space-size" && mebibytes > 0 ? [mebibytes * MIB] : [];
  });
  return Math.min(limit, set.at(-1) ?? limit);
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
