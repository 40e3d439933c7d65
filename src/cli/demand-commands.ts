import type { Command } from "commander";
import { Option } from "commander";
import { targetOf, updateOf } from "../client/index.ts";
import type { Register, DoorOptions, ClusterOptions } from "./options.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { readCount, withDoors, wrapped, appOf, readName, withCluster } from "./options.ts";
import { nameOf, readJson } from "./read-json.ts";
import { withPoolFiles } from "./pool-files.ts";
import { sendMessage } from "./send-message.ts";
import { complainOfProblems, tell } from "./tell.ts";
import type { Terminal } from "./terminal.ts";
import type { AnsweringApi } from "../client/index.ts";
import { readAccepted } from "../client/readers.ts";
import type { NodeAnswer } from "../client/readers.ts";
import { readState } from "../client/readers.ts";
import { isStaying, stayingText } from "./staying.ts";
import { withoutAbsent } from "../client/readable.ts";

/** Commands that send demand. Each replaces one request set. */
export function registerDemandCommands(register: Register): void {
  registerSet(register);
  registerUpdate(register);
  registerPush(register);
}

function registerSet({ program, terminal, run }: Register): void {
  withDoors(program.command("set"))
    .description("set the target of one node array: how many nodes or cores it should have in total")
    .addHelpText(
      "after",
      wrapped(
        "Sets the target of one node array: the total number of nodes or cores, including existing nodes, as jetpack autoscale does. Targets of other node arrays in the request set stay until they expire.",
      ),
    )
    .addOption(new Option("--name <nodearray>", "the node array"))
    .addOption(
      new Option("--corecount <n>", "cores, rounded up to whole nodes")
        .argParser(readCount)
        .conflicts("instancecount"),
    )
    .addOption(new Option("--instancecount <n>", "nodes").argParser(readCount))
    .addOption(
      new Option("--file <file>", "instead: a JSON list of node arrays, as for update").conflicts([
        "name",
        "corecount",
        "instancecount",
      ]),
    )
    .action((options: SetOptions, command: Command) => run(() => setTarget(terminal, options, command)));
}

function registerUpdate({ program, terminal, run }: Register): void {
  withDoors(program.command("update"))
    .description("replace the targets of a request set by a list of node arrays")
    .addHelpText(
      "after",
      wrapped(
        'Replaces the targets of a request set by a JSON list of node arrays (Name, TargetCount | TargetCoreCount | TargetGroupCount, ...), as jetpack.autoscale.update does. An empty list removes all targets. "-" reads standard input.',
      ),
    )
    .requiredOption("--file <file>", "the list, or one node array")
    .action((options: DoorOptions & { readonly file: string }, command: Command) =>
      run(() => updateTargets(terminal, options.file, options, command)),
    );
}

function registerPush({ program, terminal, run }: Register): void {
  withDoors(program.command("push"))
    .description("send a demand message: targets, jobs, hosts, pools")
    .addHelpText(
      "after",
      wrapped(
        'Sends a demand message: targets, jobs, hosts and pools of one request set. A message with neither targets nor jobs leaves these unchanged. cluster, requestSet and expirationInterval in the message override the options. "-" reads standard input.',
      ),
    )
    .argument("<file>", "the message as JSON")
    .action((file: string, options: DoorOptions, command: Command) =>
      run(() => pushMessage(terminal, file, options, command)),
    );
}

type SetOptions = DoorOptions & {
  readonly name?: string;
  readonly corecount?: number;
  readonly instancecount?: number;
  readonly file?: string;
};

async function setTarget(terminal: Terminal, options: SetOptions, command: Command): Promise<ExitCode> {
  if (options.file !== undefined) return updateTargets(terminal, options.file, options, command);
  const { name, corecount, instancecount } = options;
  if (name === undefined || (corecount ?? instancecount) === undefined)
    return command.error("error: expected --name with --corecount or --instancecount, or --file");
  const target = targetOf({
    name,
    ...withoutAbsent({ corecount, instancecount }),
  });
  return sendMessage(
    terminal,
    "the command line",
    { ...updateOf(envelopeOf(options, command), target), others: "stay" },
    options,
    command,
  );
}

async function updateTargets(
  terminal: Terminal,
  file: string,
  options: DoorOptions,
  command: Command,
): Promise<ExitCode> {
  const read = await readJson(terminal, file);
  if ("code" in read) return read.code;
  // The app's own reader reports its problems.
  const message = { ...updateOf(envelopeOf(options, command), []), nodearrays: read.value };
  return sendMessage(terminal, nameOf(file), message, options, command);
}

async function pushMessage(
  terminal: Terminal,
  file: string,
  options: DoorOptions,
  command: Command,
): Promise<ExitCode> {
  const read = await readJson(terminal, file);
  if ("code" in read) return read.code;
  const { value } = read;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    complainOfProblems(terminal, nameOf(file), [
      {
        path: "",
        found: Array.isArray(value) ? "a list" : String(value),
        expected: "an object: a demand message",
      },
    ]);
    return EXIT.usage;
  }
  const filled = await withPoolFiles(terminal, file, value);
  if ("code" in filled) return filled.code;
  const own = "cluster" in value && typeof value.cluster === "string" ? { cluster: value.cluster } : {};
  const message = { ...envelopeOf({ ...options, ...own }, command), ...filled.value };
  return sendMessage(terminal, nameOf(file), message, options, command);
}

function envelopeOf({ cluster, requestSet, expirationInterval }: DoorOptions, command: Command) {
  if (cluster === undefined) return command.error("error: expected --cluster, or AUTOSCALER_CLUSTER");
  return {
    version: 1 as const,
    cluster,
    requestSet,
    ...withoutAbsent({ expirationInterval }),
  };
}

/** Ends the demand of a request set. */
export function registerDelete({ program, terminal, run }: Register): void {
  withCluster(program.command("delete"))
    .description("empty a request set, so that it asks for nothing")
    .addHelpText(
      "after",
      wrapped(
        "Empties a request set at once; otherwise it would expire. Its nodes stay until they are idle: by a report of a scheduler or by their own callback (autostop). Nodes of which neither has come yet are named. The next message of a sender fills the set again.",
      ),
    )
    .argument("<set>", "the request set", readName)
    .action((set: string, options: ClusterOptions) => run(() => deleteSet(terminal, set, options)));
}

async function deleteSet(terminal: Terminal, set: string, options: ClusterOptions): Promise<ExitCode> {
  const api = appOf(options);
  // Emptying an unknown set would create it. An unknown name is a mistake.
  const held = await api.requestSet(options.cluster, set);
  if (held.kind !== "answered") return tell(terminal, held, options.json === true, () => ({ text: "" }));
  // Read before, because the next plan forgets whose nodes they were.
  const staying = options.json === true ? [] : await stayingOf(api, options.cluster, set);
  const answer = await api.emptyRequestSet(options.cluster, set);
  return tell(terminal, answer, options.json === true, (body) => ({
    text:
      readAccepted(body)?.changed === false
        ? `request set ${set} asked for nothing already`
        : [
            `request set ${set} asks for nothing any more; its nodes stay until they are idle`,
            ...(staying.length === 0 ? [] : [stayingText(staying)]),
          ].join("\n"),
  }));
}

/** The nodes that the set needs and that do not go by themselves. None if the state cannot be read: what the command is for does not depend on it. */
async function stayingOf(api: AnsweringApi, cluster: string, set: string): Promise<readonly NodeAnswer[]> {
  const answer = await api.wholeState(cluster);
  const state = answer.kind === "answered" ? readState(answer.body) : undefined;
  return (state?.nodes.list ?? []).filter(
    (node) => isStaying(node) && node.verdict === "needed" && node.why?.includes(` ${set}/`) === true,
  );
}
