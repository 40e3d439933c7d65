import type { TrustedCertificates } from "./read-ca.ts";
import { readCa } from "./read-ca.ts";
import type { Settings } from "./storage.ts";
import { isUnresolved, UNRESOLVED } from "./storage.ts";
import type { Problem } from "../domain/demand.ts";
import type { RegistryCluster } from "../wire/policy/registry.ts";
import { isPlainHttp } from "../domain/loopback.ts";
import { readRegistry } from "../wire/policy/registry.ts";

/** A cluster of the registry with its secrets. */
export interface ConfiguredCluster extends Omit<RegistryCluster, "ca"> {
  /** Trusted instead of the public CAs. */
  readonly ca?: TrustedCertificates;
  /** The password itself, from the app setting that the registry names. */
  readonly password?: string;
}

/** The clusters of AUTOSCALER_CLUSTERS with their passwords and CAs. */
export function readClusters(settings: Settings, problems: Problem[]): readonly ConfiguredCluster[] {
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
    const path = `AUTOSCALER_CLUSTERS[${index}]`;
    const cluster = withCa(entry, `${path}.ca`, problems);
    if (isPlainHttp(cluster.url) && !cluster.insecure)
      problems.push({
        path: `${path}.url`,
        found: `plain http to ${new URL(cluster.url).host}`,
        expected: 'an https address, as the password goes there; "insecure": true allows http',
      });
    const password = readPassword(cluster, path, settings, problems);
    return password === undefined ? cluster : { ...cluster, password };
  });
}

/** The password, from the setting that the cluster names. Undefined: it signs in without one, or there is a problem. */
function readPassword(
  { credential, name: cluster, username = "the user" }: ConfiguredCluster,
  path: string,
  settings: Settings,
  problems: Problem[],
): string | undefined {
  if (credential.kind !== "password") return undefined;
  const { setting: name } = credential;
  const password = Object.hasOwn(settings, name) ? settings[name] : undefined;
  if (password === SAMPLE_PASSWORD) {
    problems.push({ path: name, found: "the text of the sample", expected: "the password" });
    return undefined;
  }
  if (password !== undefined && isUnresolved(password)) {
    // As a password it would be refused, and five refusals lock the account.
    problems.push({ path: name, ...UNRESOLVED });
    return undefined;
  }
  if (password !== undefined && password !== "") return password;
  problems.push({
    path: `${path}.passwordSetting`,
    // It may be the password itself, so a text is shown only if it has the form of a setting's name.
    found: SETTING_NAME.test(name)
      ? `${name}, which is not set`
      : "a name that no app setting has (not shown: it may be the password itself)",
    expected: `the name of an app setting that holds the password of ${username} for cluster "${cluster}"`,
  });
  return undefined;
}

/** The value in infra/local.settings.sample.json. */
const SAMPLE_PASSWORD = "put the password here";

/** App settings are named like this: CYCLECLOUD_PASSWORD. */
const SETTING_NAME = /^[A-Z]+(_[A-Z0-9]+)+$/;

function withCa(entry: RegistryCluster, path: string, problems: Problem[]): ConfiguredCluster {
  const { ca, ...cluster } = entry;
  if (ca === undefined) return cluster;
  const read = readCa(ca, path);
  if (read.kind === "ca") return { ...cluster, ca: read.ca };
  problems.push(read.problem);
  return cluster;
}
