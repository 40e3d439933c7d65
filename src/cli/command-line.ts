import type { Option } from "commander";
import { Argument, Command, CommanderError } from "commander";
import { warnOfPlainHttp } from "../client/plain-http.ts";
import { hideSecrets, showLines } from "../client/readable.ts";
import { registerAgent } from "./agent-command.ts";
import { registerAutostop } from "./autostop-command.ts";
import { registerCheck } from "./check-command.ts";
import { registerConfigCommands } from "./config-commands.ts";
import { registerDemandCommands, registerDelete } from "./demand-commands.ts";
import { dropEmptyVariables } from "./environment.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT, EXIT_HELP } from "./exit-code.ts";
import { registerCompareCommand } from "./compare-command.ts";
import { registerExplainCommands } from "./explain-commands.ts";
import { registerListCommands } from "./list-commands.ts";
import { registerEndDown, registerTick } from "./tick-command.ts";
import { registerKeys } from "./keys-command.ts";
import type { Register } from "./options.ts";
import { registerRemoval } from "./removal-command.ts";
import { registerRejected } from "./rejected-command.ts";
import { registerStateCommands } from "./state-commands.ts";
import { sayWhenSimulated } from "./simulated-time.ts";
import type { Terminal } from "./terminal.ts";
import { registerTop } from "./top-command.ts";
import { registerValidate } from "./validate-command.ts";
import { registerVerify } from "./verify/verify-command.ts";

/** The name of the package, so that npx finds it. No other program has it. */
const NAME = "cyclecloud-autoscaler";

/** Runs one command line (without the program's own name) and returns the exit code. Never throws because of its input. */
export async function runCommandLine(words: readonly string[], onto: Terminal): Promise<ExitCode> {
  const { terminal, close } = sayWhenSimulated(cleaned(onto));
  let code: ExitCode = EXIT.done;
  for (const name of dropEmptyVariables(terminal.environment))
    terminal.complain(`warning: ${name} is set but empty: it counts as not set`);
  const program = describeProgram(terminal, words);
  registerCommands({
    program,
    terminal,
    run: async (work) => {
      code = await work();
    },
  });
  warnOfPlainAddresses(program, terminal);
  try {
    await program.parseAsync([...words], { from: "user" });
    close();
    return code;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
}

/**
 * The terminal, on which no text of others acts: names of senders, answers of servers, words of this command line. What it complains of may
 * quote an address with a password.
 */
function cleaned(terminal: Terminal): Terminal {
  return {
    ...terminal,
    say: (text) => terminal.say(showLines(text)),
    complain: (text) => terminal.complain(showLines(hideSecrets(text))),
  };
}

/** In the order of the help text. */
function registerCommands(register: Register): void {
  registerDemandCommands(register);
  registerDelete(register);
  registerStateCommands(register);
  registerTop(register);
  registerListCommands(register);
  registerRejected(register);
  registerExplainCommands(register);
  registerCompareCommand(register);
  registerConfigCommands(register);
  registerValidate(register);
  registerTick(register);
  registerEndDown(register);
  registerAutostop(register);
  registerAgent(register);
  registerCheck(register);
  registerKeys(register);
  registerVerify(register);
  registerRemoval(register);
  registerCompletion(register);
  addExamples(register.program);
}

/** Warns before a command sends a key to an address of plain http. */
function warnOfPlainAddresses(program: Command, terminal: Terminal): void {
  program.hook("preAction", (_program, command) => {
    const { url, callback } = command.opts<{ readonly url?: string; readonly callback?: string }>();
    for (const address of [url, callback])
      if (address !== undefined)
        warnOfPlainHttp(address, (message) => terminal.complain(`warning: ${message}`));
  });
}

function describeProgram(terminal: Terminal, words: readonly string[]): Command {
  const written = (write: (text: string) => void) => (text: string) => write(text.replace(/\n$/, ""));
  const program = new Command(NAME);
  return (
    program
      .description("Sends a cluster's demand to the CycleCloud autoscaler, and shows what it does and why.")
      .version(terminal.release)
      // Otherwise a key that begins with -V or -h is taken for an option of the program.
      .enablePositionalOptions()
      .exitOverride()
      .configureOutput({
        writeOut: written(terminal.say),
        writeErr: written(terminal.complain),
        outputError: (text, write) => write(withAdvice(text, () => missingOptions(program, words))),
      })
      .configureHelp({ showGlobalOptions: false })
      .showHelpAfterError("(--help lists the commands and options)")
      .addHelpText("after", EXIT_HELP)
  );
}

/** The library's message about an option quotes its value, and an address may hold a password. */
const QUOTED_ADDRESS = /^(error: option '--[^']*' (?:argument|value) )'.*@.*'(?= is invalid| from env)/s;

/** The library's message about a mistake, with a remedy that the library does not know. */
function withAdvice(told: string, missingOf: () => readonly Option[]): string {
  const text = told.replace(QUOTED_ADDRESS, "$1(not shown: it may hold a password)");
  const missing = /^error: required option '(?:-\w, )?--([\w-]+) [^']*' not specified/.exec(text)?.[1];
  const options = missing === undefined ? [] : missingOf();
  if (options.length > 1) {
    const variables = options.flatMap((option) => VARIABLES.get(option.name()) ?? []).join(", ");
    return `error: required options ${options.map(({ flags }) => `'${flags}'`).join(", ")} not specified (or set ${variables})\n`;
  }
  const variable = missing === undefined ? undefined : VARIABLES.get(missing);
  if (variable !== undefined) return text.replace("not specified", `not specified (or set ${variable})`);
  const unknown = /^error: unknown command '([a-z]+)'/.exec(text)?.[1] ?? "";
  const mode = MODE_WORDS.get(unknown);
  if (mode !== undefined) return `error: there is no command ${unknown}: ${mode}\n`;
  if (/^error: unknown option '(-c|--cluster|--url|--key)'/.test(text))
    return text.replace(/'\n?$/, "': it follows the command, as in: status -c prod\n");
  return text;
}

const OBSERVE = "in mode observe nothing is created or stopped: config set mode=observe";
const ACT = "in mode act nodes are created and stopped: config set mode=act";
/** What people type to switch a cluster, and the command that does it. */
const MODE_WORDS: ReadonlyMap<string, string> = new Map([
  ...["pause", "stop", "halt", "suspend", "disable", "off", "observe"].map(
    (word) => [word, OBSERVE] as const,
  ),
  ...["resume", "unpause", "start", "enable", "on", "act"].map((word) => [word, ACT] as const),
  ["mode", `${OBSERVE}; ${ACT}`],
]);

/** Every option that the command of these words needs and does not have. The library names only the first. */
function missingOptions(program: Command, words: readonly string[]): readonly Option[] {
  const command = commandOf(program, words);
  return command.options.filter(
    (option) =>
      option.mandatory &&
      VARIABLES.has(option.name()) &&
      command.getOptionValue(option.attributeName()) === undefined,
  );
}

/** The environment variables of options that a command needs. */
const VARIABLES: ReadonlyMap<string, string> = new Map([
  ["url", "AUTOSCALER_URL"],
  ["key", "AUTOSCALER_KEY"],
  ["cluster", "AUTOSCALER_CLUSTER"],
  ["callback", "AUTOSCALER_STOP_CALLBACK"],
  ["instance", "AUTOSCALER_INSTANCE"],
]);

/** One command line or more for each command, without the program's name, as --help shows them. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  set: ["set --name hpc --instancecount 4 --wait", "set --name hpc --corecount 480 --max 1000"],
  update: ["update --file arrays.json", "update --file - <<< '[]'"],
  push: ["push jobs.json", "push jobs.json --expiration-interval 600"],
  delete: ["delete standard"],
  status: ["status", "status -c prod --watch"],
  buckets: ["buckets -c prod", `buckets --constraint '{"ngpus": 1}' -o nodearray,size,room`],
  limits: ["limits -c prod"],
  demand: ["demand", "demand -s standard"],
  page: ["page", "page -c prod", "page -c prod --open"],
  top: ["top -c prod", "top -c prod --interval 15"],
  nodearrays: ["nodearrays", "nodearrays hpc:64"],
  nodes: ["nodes --unneeded", "nodes --nodearray hpc --sort age"],
  hosts: ["hosts -c prod"],
  jobs: ["jobs --unmet", "jobs --user anna"],
  rejected: ["rejected -c prod"],
  "explain job": ["explain job 102", "explain job 102 -s pbs"],
  "explain node": ["explain node hpc-1", "explain node hpc-1 --plan 22"],
  plan: ["plan", "plan --file what-if.json"],
  history: ["history", "history --from 2026-01-01 --points 100", "history --nodes --limit 100"],
  compare: ["compare --since 2026-01-01", "compare --csv > days.csv"],
  "config get": ["config get > prod.json"],
  "config put": ["config put prod.json", "config put prod.json --replace"],
  "config set": [
    "config set mode=observe",
    "config set mode.hpc=act idleTimeout.hpc=900",
    "config set 'caps.users[\"anna.smith\"].nodes=10'",
  ],
  "config unset": ["config unset caps.users.anna"],
  "config history": ["config history"],
  "config rollback": ["config rollback", "config rollback 3"],
  "config diff": ["config diff prod.json"],
  "config schema": ["config schema > configuration.schema.json"],
  "config validate": ["config validate prod.json"],
  "validate constraint": ["validate constraint constraints.json"],
  tick: ["tick -c prod"],
  "end-down": ["end-down hpc -c prod"],
  restored: ["restored -c prod"],
  autostop: ["autostop", "autostop --unhealthy"],
  agent: ["agent --scheduler slurm", "agent --scheduler slurm --dry-run --file slurm.map"],
  check: ["check --settings local.settings.json", "check -c prod --config prod.json"],
  keys: ["keys sender --app func-hpc -g cc-autoscaler --key-name pbs"],
  verify: ['verify --resource-id "$AUTOSCALER_RESOURCE_ID"'],
  removal: ["removal"],
  completion: ["completion bash"],
};

/** Adds the examples to the help text of each command. */
function addExamples(program: Command): void {
  const add = (command: Command, path: readonly string[]): void => {
    const lines = EXAMPLES[path.join(" ")];
    if (lines !== undefined)
      command.addHelpText(
        "after",
        ["\nExamples:", ...lines.map((line) => `  ${program.name()} ${line}`)].join("\n"),
      );
    for (const below of command.commands) add(below, [...path, below.name()]);
  };
  add(program, []);
}

/**
 * Each script asks this program for the commands or options that fit: the last word it gives is the one that is typed. Where none fits, the
 * shell completes file names.
 */
const scriptsOf = (name: string, ask = `${name} complete --`, it = name.replaceAll("-", "_")) => ({
  bash: `_${it}() {
  COMPREPLY=($(compgen -W "$(${ask} "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _${it} ${name}`,
  zsh: `_${it}() {
  compadd -- \${(f)"$(${ask} "\${(@)words[2,CURRENT]}" 2>/dev/null)"} || _files
}
compdef _${it} ${name}`,
  fish: `complete -c ${name} -a '(${ask} (commandline -opc)[2..] (commandline -ct | string collect -a) 2>/dev/null)'`,
});

/** Adds the command that prints a shell's script, and the one that the script calls. */
function registerCompletion({ program, terminal, run }: Register): void {
  const scripts: Readonly<Record<string, string>> = scriptsOf(program.name());
  program
    .command("completion")
    .description("print the script by which a shell completes commands and options")
    .addArgument(new Argument("<shell>").choices(Object.keys(scripts)))
    .action((shell: string) =>
      run(() => {
        terminal.say(scripts[shell] ?? "");
        return Promise.resolve(EXIT.done);
      }),
    );
  program.command("complete [words...]", { hidden: true }).action((words: readonly string[]) =>
    run(() => {
      for (const word of wordsFor(program, words)) terminal.say(word);
      return Promise.resolve(EXIT.done);
    }),
  );
}

/** The command that these words name; words that are no command are passed over. */
function commandOf(program: Command, words: readonly string[]): Command {
  let command = program;
  for (const word of words) command = command.commands.find((one) => one.name() === word) ?? command;
  return command;
}

/** What the last word may become: an option of the command before it if it begins with -, else a command. */
function wordsFor(program: Command, words: readonly string[]): readonly string[] {
  const command = commandOf(program, words.slice(0, -1));
  const typed = words.at(-1) ?? "";
  const help = command.createHelp();
  const offered = typed.startsWith("-")
    ? help.visibleOptions(command).flatMap(({ long }) => long ?? [])
    : help.visibleCommands(command).map((below) => below.name());
  return offered.filter((word) => word.startsWith(typed));
}
