import { Argument } from "commander";
import type { Role } from "../client/index.ts";
import { functionsOf, ROLES } from "../client/index.ts";
import type { Register } from "./options.ts";
import { EXIT } from "./exit-code.ts";
import { wrapped } from "./options.ts";

interface KeysOptions {
  readonly app: string;
  readonly resourceGroup: string;
  readonly keyName?: string;
  readonly powershell?: true;
}

/** How a shell makes and shows a random value, and writes a text that is not a plain word. */
interface Shell {
  readonly make: string;
  readonly show: string;
  readonly quote: (text: string) => string;
}

const POSIX: Shell = {
  make: 'KEY="$(openssl rand -hex 32)"',
  show: 'echo "AUTOSCALER_KEY=$KEY"',
  quote: (text) => `'${text.replaceAll("'", String.raw`'\''`)}'`,
};

/** Without openssl, which Windows does not have. It runs in Windows PowerShell 5.1, too. */
const POWERSHELL: Shell = {
  make: '$BYTES = New-Object byte[] 32; [Security.Cryptography.RandomNumberGenerator]::Create().GetBytes($BYTES); $KEY = [BitConverter]::ToString($BYTES) -replace "-"',
  show: '"AUTOSCALER_KEY=$KEY"',
  quote: (text) => `'${text.replaceAll("'", "''")}'`,
};

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
    .option("--powershell", "print them for PowerShell")
    .action((roles: readonly Role[], options: KeysOptions) =>
      run(() => {
        terminal.say(keyCommands(roles, options).join("\n"));
        return Promise.resolve(EXIT.done);
      }),
    );
}

function keyCommands(roles: readonly Role[], options: KeysOptions): readonly string[] {
  const { app, resourceGroup, keyName = roles.join("-"), powershell } = options;
  const shell = powershell === true ? POWERSHELL : POSIX;
  const quoted = (text: string): string => (/^[\w.-]+$/.test(text) ? text : shell.quote(text));
  const names = [...new Set(roles.flatMap(functionsOf))];
  const where = `--resource-group ${quoted(resourceGroup)} --name ${quoted(app)}`;
  return [
    // The value is then neither in the history of the shell nor in a file.
    shell.make,
    ...names.map(
      (name) =>
        `az functionapp function keys set ${where} --function-name ${name} --key-name ${quoted(keyName)} --key-value "$KEY" --output none`,
    ),
    shell.show,
  ];
}
