import type { Command } from "commander";
import { Argument } from "commander";
import { EXIT } from "./exit-code.ts";
import type { Register } from "./options.ts";

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
export function registerCompletion({ program, terminal, run }: Register): void {
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
export function commandOf(program: Command, words: readonly string[]): Command {
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
