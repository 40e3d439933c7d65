import tab from "@bomb.sh/tab/commander";
import { Command, CommanderError } from "commander";
import { registerCheck } from "./check-command.ts";
import { registerConfigCommands } from "./config-commands.ts";
import { registerDemandCommands } from "./demand-commands.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT, EXIT_HELP } from "./exit-code.ts";
import { registerExplainCommands } from "./explain-commands.ts";
import { registerNodeCommands } from "./node-commands.ts";
import { registerStateCommands } from "./state-commands.ts";
import type { Terminal } from "./terminal.ts";

/** What each file of commands is given to register them. */
export interface Register {
  readonly program: Command;
  readonly terminal: Terminal;
  /** Runs a command; what it returns is how the process ends. */
  readonly run: (work: () => Promise<ExitCode>) => Promise<void>;
}

/** The name of the package, so that npx finds it; no other program has it. */
const NAME = "cyclecloud-autoscaler";

/** Runs one command line (without the program's own name) and says how the process is to end. Never throws for an input's sake. */
export async function runCommandLine(words: readonly string[], terminal: Terminal): Promise<ExitCode> {
  let code: ExitCode = EXIT.done;
  const program = describeProgram(terminal);
  const register: Register = {
    program,
    terminal,
    run: async (work) => {
      code = await work();
    },
  };
  registerDemandCommands(register);
  registerStateCommands(register);
  registerExplainCommands(register);
  registerConfigCommands(register);
  registerNodeCommands(register);
  registerCheck(register);
  tab(program, { completionCommandName: "completion" });
  try {
    await program.parseAsync([...words], { from: "user" });
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
}

function describeProgram(terminal: Terminal): Command {
  const written = (write: (text: string) => void) => (text: string) => write(text.replace(/\n$/, ""));
  return new Command(NAME)
    .description("Tells the CycleCloud autoscaler what a cluster needs, and asks it what it does and why.")
    .version(terminal.release)
    .exitOverride()
    .configureOutput({ writeOut: written(terminal.say), writeErr: written(terminal.complain) })
    .configureHelp({ showGlobalOptions: false })
    .showHelpAfterError("(add --help for what there is)")
    .addHelpText("after", EXIT_HELP);
}
