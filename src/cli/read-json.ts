import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import type { Terminal } from "./terminal.ts";

/** The text of a file that was named on the command line, or how the command ends because it cannot be read. */
export async function readInput(
  terminal: Terminal,
  file: string,
): Promise<{ readonly text: string } | { readonly code: ExitCode }> {
  try {
    return { text: await terminal.read(file) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    terminal.complain(`${nameOf(file)}: found ${message}, expected a readable file`);
    return { code: EXIT.usage };
  }
}

/** The same, as JSON. */
export async function readJson(
  terminal: Terminal,
  file: string,
): Promise<{ readonly value: unknown } | { readonly code: ExitCode }> {
  const input = await readInput(terminal, file);
  if ("code" in input) return input;
  try {
    const value: unknown = JSON.parse(input.text);
    return { value };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    terminal.complain(
      `${nameOf(file)}: found ${input.text.length} characters that are not JSON (${why}), expected JSON`,
    );
    return { code: EXIT.usage };
  }
}

/** What messages call a file. */
export function nameOf(file: string): string {
  return file === "-" ? "standard input" : file;
}
