import type { Command } from "commander";
import { describeConfig } from "../client/index.ts";
import type { Register, ClusterOptions } from "./options.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { appOf, cluster, key, readCount, url, withCluster, wrapped } from "./options.ts";
import type { ConfigRead } from "../client/index.ts";
import { unknownArrays } from "../client/compare-configs.ts";
import { readState } from "../client/readers.ts";
import type { PutOptions } from "./config-changes.ts";
import {
  notesOf,
  putConfig,
  setConfig,
  tellWritten,
  unsetConfig,
  diffConfig,
  tellConfigHistory,
  versionText,
  readConfigFile,
} from "./config-changes.ts";
import { nameOf } from "./read-json.ts";
import { jsonText, tell } from "./tell.ts";
import type { Terminal } from "./terminal.ts";

const PUT_HELP =
  'The whole document: to change single keys, use config set. The app checks it first. It accepts keys of scalelib\'s autoscale.json, and lists for each whether it is used. A document that says no mode keeps the mode in force. "-" reads standard input.';
const SET_HELP =
  "A value is JSON if it can be read as JSON, else text. It replaces what is there, lists whole. A key with a dot stands in brackets: 'caps.users[\"anna.smith\"].nodes=10'. mode.hpc=act names one node array; the others keep their mode.";
const VALIDATE_HELP =
  'Checks by the app\'s own rules, and lists every problem with its path, what was found and what was expected. With address, key and cluster it also names node arrays that the cluster does not have. "-" reads standard input.';

/** A cluster's configuration document. */
export function registerConfigCommands(register: Register): void {
  const config = register.program
    .command("config")
    .description("show, change, check or take back a cluster's configuration");
  registerDocument(config, register);
  registerKeys(config, register);
  registerVersions(config, register);
  registerChecks(config, register);
}

/** The document in force: show it, and replace it. */
function registerDocument(config: Command, { terminal, run }: Register): void {
  withCluster(config.command("get"))
    .description("print a cluster's configuration document with its defaults, as JSON that put accepts")
    .action((options: ClusterOptions) =>
      run(async () =>
        tell(terminal, await appOf(options).config(options.cluster), options.json === true, (body) => ({
          text: jsonText(body),
        })),
      ),
    );

  withCluster(config.command("put"))
    .description("replace a cluster's configuration document")
    .addHelpText("after", wrapped(PUT_HELP))
    .argument("<file>", "the document as JSON")
    .option("--replace", "also if keys that are in force disappear")
    .action((file: string, options: PutOptions) => run(() => putConfig(terminal, file, options)));
}

/** Single keys of the document in force. */
function registerKeys(config: Command, { terminal, run }: Register): void {
  withCluster(config.command("set"))
    .description("set single keys of a cluster's configuration; all others stay")
    .addHelpText("after", wrapped(SET_HELP))
    .argument("<key=value...>", "as mode=observe, or caps.users.anna.nodes=10")
    .action((assignments: readonly string[], options: ClusterOptions) =>
      run(() => setConfig(terminal, assignments, options)),
    );

  withCluster(config.command("unset"))
    .description("take single keys out of a cluster's configuration; they go back to their defaults")
    .argument("<key...>", "as caps.users.anna")
    .action((keys: readonly string[], options: ClusterOptions) =>
      run(() => unsetConfig(terminal, keys, options)),
    );
}

/** Earlier versions, and the difference to a file. */
function registerVersions(config: Command, { terminal, run }: Register): void {
  withCluster(config.command("history"))
    .description("list every change of the configuration: when, by whom, and what differs")
    .action((options: ClusterOptions) =>
      run(async () => {
        const answer = await appOf(options).configHistory(options.cluster);
        return tell(terminal, answer, options.json === true, tellConfigHistory);
      }),
    );

  withCluster(config.command("rollback"))
    .description(
      "put an earlier configuration in force again; without a number, the one before the last change",
    )
    .argument("[number]", "the version, as history numbers them; 0: the defaults", readCount)
    .action((to: number | undefined, options: ClusterOptions) =>
      run(async () => {
        const answer = await appOf(options).rollBackConfig(options.cluster, to);
        const version = to === undefined ? "the version before the last change" : versionText(to);
        return tellWritten(terminal, options, answer, `back to ${version}`);
      }),
    );

  withCluster(config.command("diff"))
    .description("show what a configuration document would change")
    .argument("<file>", "the document as JSON")
    .action((file: string, options: ClusterOptions) => run(() => diffConfig(terminal, file, options)));
}

/** Commands that need no app. */
function registerChecks(config: Command, { terminal, run }: Register): void {
  config
    .command("schema")
    .description("print the JSON Schema of configuration documents, for editors; works without the app")
    .action(() =>
      run(() => {
        terminal.say(jsonText(describeConfig()));
        return Promise.resolve(EXIT.done);
      }),
    );

  config
    .command("validate")
    .description("check a configuration document; works without the app")
    .addHelpText("after", wrapped(VALIDATE_HELP))
    .argument("<file>", "the document as JSON")
    .addOption(cluster())
    .addOption(url())
    .addOption(key())
    .option("--json", "the document with its defaults, as JSON")
    .action((file: string, options: ValidateOptions) => run(() => validate(terminal, file, options)));
}

/** The node arrays of the cluster. Where no app answers, those that the document names: none is unknown then. */
async function knownArrays(options: ValidateOptions, policy: Valid["policy"]): Promise<readonly string[]> {
  const { url: address, key: secret, cluster: name } = options;
  const answer =
    address === undefined || secret === undefined || name === undefined
      ? undefined
      : await appOf({ url: address, key: secret }).state(name);
  const state = answer?.kind === "answered" ? readState(answer.body) : undefined;
  const arrays = (state?.nodearrays ?? []).flatMap(({ name: array }) => array ?? []);
  return arrays.length > 0 ? arrays : unknownArrays(policy, []);
}

type ValidateOptions = Partial<ClusterOptions>;
type Valid = Extract<ConfigRead, { readonly kind: "valid" }>;

async function validate(terminal: Terminal, file: string, options: ValidateOptions): Promise<ExitCode> {
  const read = await readConfigFile(terminal, file);
  if (read.kind === "failed") return read.code;
  if (options.json === true) terminal.say(jsonText(read.document));
  else {
    const unknownNodearrays = unknownArrays(read.policy, await knownArrays(options, read.policy));
    terminal.say([`${nameOf(file)} is valid`, ...notesOf({ ...read, unknownNodearrays })].join("\n"));
  }
  return EXIT.done;
}
