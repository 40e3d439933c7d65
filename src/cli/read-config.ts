import type { ConfigRead } from "../client/index.ts";
import { validateConfig } from "../client/index.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { nameOf, readJson } from "./read-json.ts";
import { complainOfProblems } from "./tell.ts";
import type { Terminal } from "./terminal.ts";

/** Reads a configuration document from a file and checks it without the app. `code`: it cannot be used, and the terminal says why. */
export async function readConfigFile(
  terminal: Terminal,
  file: string,
): Promise<Exclude<ConfigRead, { kind: "problems" }> | { readonly kind: "failed"; readonly code: ExitCode }> {
  const input = await readJson(terminal, file);
  if ("code" in input) return { kind: "failed", code: input.code };
  const read = validateConfig(input.text);
  if (read.kind !== "problems") return read;
  complainOfProblems(terminal, nameOf(file), read.problems);
  return { kind: "failed", code: EXIT.usage };
}
