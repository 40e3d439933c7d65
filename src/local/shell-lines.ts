import { fileURLToPath } from "node:url";

/** Lines for a shell of the sh family (functions: bash, zsh). */

/** "export A='1' B='2'". */
export function exportLine(variables: Readonly<Record<string, string>>): string {
  const words = Object.entries(variables).map(([name, value]) => `${name}=${quoted(value)}`);
  return `export ${words.join(" ")}`;
}

/** The command line of this checkout, from any folder and with this Node. */
export function commandLine(): string {
  const script = fileURLToPath(new URL("../cli/main.ts", import.meta.url));
  return `cyclecloud-autoscaler() { ${quoted(process.execPath)} ${quoted(script)} "$@"; }`;
}

function quoted(value: string): string {
  return /^[\w./:@%+=-]+$/.test(value) ? value : `'${value.replaceAll("'", String.raw`'\''`)}'`;
}
