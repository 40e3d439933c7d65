import type { Command } from "commander";
import type { ExitCode } from "./exit-code.ts";
import type { Terminal } from "./terminal.ts";

/** The arguments with which each file of commands registers them. */
export interface Register {
  readonly program: Command;
  readonly terminal: Terminal;
  /** Runs a command. Its result is the exit code of the process. */
  readonly run: (work: () => Promise<ExitCode>) => Promise<void>;
}
