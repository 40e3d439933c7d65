import { Help } from "commander";

const COLUMNS = 80;

/** A paragraph below the options of a command's help text: details that do not fit into the line in the list of commands. */
export function wrapped(text: string): string {
  return `\n${new Help().boxWrap(text, COLUMNS)}`;
}
