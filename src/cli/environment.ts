import http from "node:http";

/** Environment variables by name. Changes must be made in the process's own, because commander reads those for the options. */
export type Environment = Record<string, string | undefined>;

/** An empty variable counts as absent: removes those of ours from the environment, and returns their names. */
export function dropEmptyVariables(environment: Environment): readonly string[] {
  const empty = Object.keys(environment).filter(
    (name) => name.startsWith("AUTOSCALER_") && environment[name]?.trim() === "",
  );
  for (const name of empty) delete environment[name];
  return empty.toSorted();
}

/**
 * Sends requests through the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name. Returns the problem if a proxy is named and this Node
 * cannot use it.
 */
export function useProxy(environment: Environment): string | undefined {
  const named = PROXY_VARIABLES.find((name) => environment[name] !== undefined && environment[name] !== "");
  if (named === undefined || environment["NODE_USE_ENV_PROXY"] === "1") return undefined;
  // Older releases of Node do not have it.
  if (!("setGlobalProxyFromEnv" in http)) {
    return `${named} is set, but this Node (${process.version}) uses it only if NODE_USE_ENV_PROXY=1 is set too`;
  }
  http.setGlobalProxyFromEnv(environment);
  return undefined;
}

const PROXY_VARIABLES = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];
