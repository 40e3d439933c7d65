import type { Command } from "commander";
import type { ExitCode } from "./exit-code.ts";
import type { Terminal } from "./terminal.ts";

/** What each file of commands is given to register them. */
export interface Register {
  readonly program: Command;
  readonly terminal: Terminal;
  /** Runs a command; what it returns is how the process ends. */
  readonly run: (work: () => Promise<ExitCode>) => Promise<void>;
}
