import type { Command } from "commander";
import { describeConfig } from "../client/index.ts";
import type { Register } from "./register.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { readConfigNotes } from "../client/receipts.ts";
import type { ClusterOptions } from "./options.ts";
import { appOf, readCount, withCluster } from "./options.ts";
import type { Answer } from "../client/answer.ts";
import { diffConfig, tellConfigHistory, versionText } from "./config-history.ts";
import { readConfigFile } from "./read-config.ts";
import { nameOf, readJson } from "./read-json.ts";
import type { Column } from "./table.ts";
import { renderTable } from "./table.ts";
import { jsonText, problemText, tell } from "./tell.ts";
import type { Terminal } from "./terminal.ts";
import { wrapped } from "./wrapped.ts";

const PUT_HELP =
  'The app checks the document first. It accepts keys of scalelib\'s autoscale.json, and lists for each whether it is used. "-" reads standard input.';
const VALIDATE_HELP =
  'Checks by the app\'s own rules, and lists every problem with its path, what was found and what was expected. "-" reads standard input.';

/** A cluster's configuration document. */
export function registerConfigCommands(register: Register): void {
  const config = register.program
    .command("config")
    .description("show, replace, check or take back a cluster's configuration");
  registerDocument(config, register);
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
    .action((file: string, options: ClusterOptions) => run(() => putConfig(terminal, file, options)));
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
    .description("check a configuration document without the app")
    .addHelpText("after", wrapped(VALIDATE_HELP))
    .argument("<file>", "the document as JSON")
    .option("--json", "the document with its defaults, as JSON")
    .action((file: string, options: { readonly json?: true }) =>
      run(() => validate(terminal, file, options)),
    );
}

async function validate(
  terminal: Terminal,
  file: string,
  { json }: { readonly json?: true },
): Promise<ExitCode> {
  const read = await readConfigFile(terminal, file);
  if (read.kind === "failed") return read.code;
  if (json === true) terminal.say(jsonText(read.document));
  else terminal.say([`${nameOf(file)} is valid`, ...notesOf(read)].join("\n"));
  return EXIT.done;
}

async function putConfig(terminal: Terminal, file: string, options: ClusterOptions): Promise<ExitCode> {
  const input = await readJson(terminal, file);
  if ("code" in input) return input.code;
  return tellWritten(terminal, options, await appOf(options).putConfig(options.cluster, input.text));
}

function tellWritten(terminal: Terminal, options: ClusterOptions, answer: Answer, done = "put"): ExitCode {
  return tell(terminal, answer, options.json === true, (body) => ({
    text: [`${done}; functions use it within 15 s`, ...notesOf(body)].join("\n"),
  }));
}

interface KeyRow {
  readonly key: string | undefined;
  readonly becomes: string;
}

const KEY_COLUMNS: readonly Column<KeyRow>[] = [
  ["KEY", ({ key }) => key],
  ["RESULT", ({ becomes }) => becomes],
];

/** What the app, or this command, says of a document. Members that an answer does not have are empty. */
function notesOf(answer: unknown): readonly string[] {
  const notes = readConfigNotes(answer);
  if (notes === undefined) return [];
  const { used, ignored, doubts, unknownNodearrays, losses } = notes;
  const rows = [
    ...used.map(({ key, as }) => ({ key, becomes: key === as ? "used" : `used as ${as ?? "?"}` })),
    ...ignored.map(({ key, why }) => ({ key, becomes: `ignored: ${why ?? "?"}` })),
  ];
  // A document with only the app's own keys needs no report.
  const isPlain = ignored.length === 0 && used.every(({ key, as }) => key === as);
  return [
    ...(isPlain ? [] : [renderTable(KEY_COLUMNS, rows, "")]),
    ...(unknownNodearrays.length === 0
      ? []
      : [`node arrays that the cluster does not have: ${unknownNodearrays.join(", ")}`]),
    ...losses.flatMap(({ requestSet = "?", loses }) =>
      loses.map((loss) => `request set ${requestSet} loses: ${loss}`),
    ),
    ...doubts.map((doubt) => `doubtful: ${problemText(doubt)}`),
  ];
}
