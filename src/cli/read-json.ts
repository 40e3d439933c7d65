import type { ParseError } from "jsonc-parser";
import { parse, printParseErrorCode } from "jsonc-parser";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import type { Terminal } from "./terminal.ts";

/** The text of a file from the command line, or the exit of the command if it cannot be read. */
async function readInput(
  terminal: Terminal,
  file: string,
): Promise<{ readonly text: string } | { readonly code: ExitCode }> {
  try {
    const text = await terminal.read(file);
    // Windows editors write a mark before the text, which is not part of it.
    return { text: text.startsWith("\uFEFF") ? text.slice(1) : text };
  } catch (error) {
    terminal.complain(`${nameOf(file)}: found ${failureText(error)}, expected a readable file`);
    return { code: EXIT.usage };
  }
}

/** Why a file cannot be read, as text. */
function failureText(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EISDIR") return "a directory";
  if (code === "ENOENT") return "no such file";
  if (code === "EACCES") return "a file that you may not read";
  return error instanceof Error ? error.message : String(error);
}

/** The same as JSON: its value, and the text from which it was read. */
export async function readJson(
  terminal: Terminal,
  file: string,
): Promise<{ readonly value: unknown; readonly text: string } | { readonly code: ExitCode }> {
  const input = await readInput(terminal, file);
  if ("code" in input) return input;
  try {
    const value: unknown = JSON.parse(input.text);
    return { value, text: input.text };
  } catch {
    // Out-File of PowerShell 5 writes UTF-16. Read as UTF-8 it has NULs, which JSON never has.
    const problem = input.text.includes("\0")
      ? "found UTF-16 or binary data, expected JSON in UTF-8"
      : `found ${input.text.length} characters that are not JSON (${faultOf(input.text)}), expected JSON`;
    terminal.complain(`${nameOf(file)}: ${problem}`);
    return { code: EXIT.usage };
  }
}

/** The position at which a text stops being JSON, and the reason. JSON.parse gives no position for most of its errors. */
function faultOf(text: string): string {
  const errors: ParseError[] = [];
  parse(text, errors, { disallowComments: true });
  const [first] = errors;
  if (first === undefined) return "nothing can stand for this text";
  const before = text.slice(0, first.offset).split("\n");
  const what = printParseErrorCode(first.error)
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ")
    .toLowerCase();
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: ${what}`;
}

/** The name of a file in messages. */
export function nameOf(file: string): string {
  return file === "-" ? "standard input" : file;
}
