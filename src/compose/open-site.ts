import { createHash } from "node:crypto";
import { createCycleCloud } from "../adapters/cyclecloud/cyclecloud.ts";
import type { Credentials, Timeouts } from "../adapters/cyclecloud/http-transport.ts";
import { CONNECT_MS, createHttpTransport } from "../adapters/cyclecloud/http-transport.ts";
import type { Log, Site, StopKeys } from "../app/ports/ports.ts";
import type { Config } from "../config.ts";
import type { ConfiguredCluster } from "../config/clusters.ts";
import { autostopPath, stopKeyReader } from "../decide/autostop/autostop-token.ts";
import type { ArrayName, ClusterName } from "../domain/ids.ts";
import type { CallBounds } from "../domain/policy.ts";
import { managedIdentity } from "./identity.ts";
import { withoutAbsent } from "../domain/without-absent.ts";

type AutostopSettings = Pick<Config, "publicUrl" | "autostopKeys" | "trial">;

/** A cluster of the settings with a connection to its CycleCloud. Nothing is sent yet. */
export function openSite(
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
    ...withoutAbsent({ ca: cluster.ca?.pem }),
    ...(cluster.insecure ? { insecure: true } : {}),
    timeouts: timeoutsFor(cluster.bounds),
  });
  return {
    cluster: cluster.name,
    credential: credentialName(cluster),
    cyclecloud: createCycleCloud({
      transport,
      log,
      ...autostopOption(config),
      ...stopKeyOption(cluster.name, config),
    }),
    stopKeys: stopKeysOf(config),
  };
}

/**
 * The credential by which instances share a refusal. An instance that still has an old password stops only itself: two bytes of a digest keep
 * the secrets apart, and say nothing of them.
 */
function credentialName({ url, username, password }: ConfiguredCluster): string {
  const name = `${url} ${username ?? "managed identity"}`;
  if (password === undefined) return name;
  return `${name} ${createHash("sha256").update(`${name} ${password}`).digest("hex").slice(0, 4)}`;
}

export function stopKeysOf({ publicUrl, autostopKeys }: AutostopSettings): StopKeys {
  if (autostopKeys === undefined) return { accepted: [] };
  const accepted = [...autostopKeys.byId.keys()];
  return publicUrl === undefined ? { accepted } : { signing: autostopKeys.current, accepted };
}

/** The time limit covers a whole call, including its connection. */
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

/** No stop URLs on trial: the nodes may have those of an app that runs elsewhere with the same keys. */
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
