import { Argument } from "commander";
import type { Role } from "../client/index.ts";
import { functionsOf, ROLES } from "../client/index.ts";
import type { Register } from "./register.ts";
import { EXIT } from "./exit-code.ts";
import { wrapped } from "./wrapped.ts";

interface KeysOptions {
  readonly app: string;
  readonly resourceGroup: string;
  readonly keyName?: string;
}

const HELP =
  "In Azure, a function key opens one function. The commands set one new value as a key of every function of the roles, so that it opens those and no others. sender: write and empty request sets. reader: read everything, and make dry runs. operator: both, and the configuration, ticks, restores and the texts of rejected messages. With several roles, one key opens the functions of all of them. Give each sender a key with its own name: the same commands with another value replace the key, and az functionapp function keys delete removes it.";

/** Prints the commands that make a key for a sender, reader or operator. To run them, a user needs rights on the function app. */
export function registerKeys({ program, terminal, run }: Register): void {
  program
    .command("keys")
    .description("print the commands that make a function key for a role")
    .addHelpText("after", wrapped(HELP))
    .addArgument(new Argument("<role...>", "the roles of the key").choices(ROLES))
    .requiredOption("--app <name>", "the function app's name")
    .requiredOption("-g, --resource-group <name>", "its resource group")
    .option("--key-name <name>", "name of the key in Azure (default: the roles)")
    .action((roles: readonly Role[], options: KeysOptions) =>
      run(() => {
        terminal.say(keyCommands(roles, options).join("\n"));
        return Promise.resolve(EXIT.done);
      }),
    );
}

function keyCommands(roles: readonly Role[], options: KeysOptions): readonly string[] {
  const { app, resourceGroup, keyName = roles.join("-") } = options;
  const names = [...new Set(roles.flatMap(functionsOf))];
  const where = `--resource-group ${quoted(resourceGroup)} --name ${quoted(app)}`;
  return [
    // The value is then neither in the history of the shell nor in a file.
    'KEY="$(openssl rand -hex 32)"',
    ...names.map(
      (name) =>
        `az functionapp function keys set ${where} --function-name ${name} --key-name ${quoted(keyName)} --key-value "$KEY" --output none`,
    ),
    'echo "AUTOSCALER_KEY=$KEY"',
  ];
}

/** For a shell. */
function quoted(text: string): string {
  return /^[\w.-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
