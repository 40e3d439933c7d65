import { spawn } from "node:child_process";
import type { Milliseconds } from "../domain/units.ts";
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

/** A browser that runs on in its place is open by then. */
const RUNS_ON_MS: Milliseconds = 2000;

/** The program that opens an address on this kind of machine, with its arguments. */
function openerOf(address: string): readonly [program: string, ...words: readonly string[]] {
  switch (process.platform) {
    case "darwin":
      return ["open", address];
    case "win32":
      // In quotes nothing of the address is a command of the shell.
      return ["cmd.exe", "/d", "/c", "start", '""', `"${address}"`];
    default:
      return ["xdg-open", address];
  }
}

/** Opens an address in the browser. Rejects with an error that says what is missing. */
export function openAddress(address: string): Promise<void> {
  const [program, ...words] = openerOf(new URL(address).href);
  const child = spawn(program, words, { stdio: "ignore", detached: true, windowsVerbatimArguments: true });
  return new Promise((resolve, reject) => {
    const patience = setTimeout(() => {
      child.unref();
      resolve();
    }, RUNS_ON_MS);
    const ended = (why: string | undefined) => {
      clearTimeout(patience);
      if (why === undefined) resolve();
      else reject(new Error(`no browser can be opened here: ${program} ${why}`));
    };
    child.once("error", (error: NodeJS.ErrnoException) =>
      ended(error.code === "ENOENT" ? "is not installed" : `cannot be run: ${error.message}`),
    );
    child.once("exit", (code) => ended(code === 0 ? undefined : `failed (exit code ${code ?? "none"})`));
  });
}
