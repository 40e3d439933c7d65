import { spawn } from "node:child_process";
import type { Milliseconds } from "../domain/units.ts";

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
