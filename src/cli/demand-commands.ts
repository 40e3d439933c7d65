import type { Command } from "commander";
import { Option } from "commander";
import type { DemandMessage, Doors, Sent, UncheckedMessage } from "../client/index.ts";
import { openApi, sendDemand, targetOf, updateOf } from "../client/index.ts";
import { readAccepted } from "../client/receipts.ts";
import type { Register } from "./register.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import type { DoorOptions } from "./options.ts";
import { readCount, withDoors } from "./options.ts";
import { nameOf, readJson } from "./read-json.ts";
import { complainOfProblems, jsonText, problemText, tell } from "./tell.ts";
import type { Terminal } from "./terminal.ts";
import { waitUntilMet } from "./wait.ts";
import { wrapped } from "./wrapped.ts";

/** Commands that send demand. Each replaces one request set. */
export function registerDemandCommands({ program, terminal, run }: Register): void {
  withDoors(program.command("set"))
    .description("say how much of one node array is wanted, in all")
    .addHelpText(
      "after",
      wrapped(
        "Says how much of one node array is wanted, in all (existing nodes count), as jetpack autoscale does. Replaces what the request set wanted before: other node arrays of the set are no longer wanted.",
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

  withDoors(program.command("update"))
    .description("replace the targets of a request set by a list of node arrays")
    .addHelpText(
      "after",
      wrapped(
        'Replaces the targets of a request set by a JSON list of node arrays (Name, TargetCount | TargetCoreCount | TargetGroupCount, ...), as jetpack.autoscale.update does. An empty list asks for nothing more. "-" reads standard input.',
      ),
    )
    .requiredOption("--file <file>", "the list, or one node array")
    .action((options: DoorOptions & { readonly file: string }, command: Command) =>
      run(() => updateTargets(terminal, options.file, options, command)),
    );

  withDoors(program.command("push"))
    .description("send a demand message: targets, jobs, hosts, pools")
    .addHelpText(
      "after",
      wrapped(
        'Sends a demand message: targets, jobs, hosts and pools of one request set. With neither targets nor jobs it leaves these as they are. The message\'s own cluster, requestSet and expirationInterval go before the options. "-" reads standard input.',
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
    ...(corecount === undefined ? {} : { corecount }),
    ...(instancecount === undefined ? {} : { instancecount }),
  });
  return send(terminal, "the command line", updateOf(envelopeOf(options, command), target), options, command);
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
  return send(terminal, nameOf(file), message, options, command);
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
  const own = "cluster" in value && typeof value.cluster === "string" ? { cluster: value.cluster } : {};
  const message = { ...envelopeOf({ ...options, ...own }, command), ...value };
  return send(terminal, nameOf(file), message, options, command);
}

function envelopeOf({ cluster, requestSet, expirationInterval }: DoorOptions, command: Command) {
  if (cluster === undefined) return command.error("error: expected --cluster, or AUTOSCALER_CLUSTER");
  return {
    version: 1 as const,
    cluster,
    requestSet,
    ...(expirationInterval === undefined ? {} : { expirationInterval }),
  };
}

async function send(
  terminal: Terminal,
  source: string,
  message: DemandMessage | UncheckedMessage,
  options: DoorOptions,
  command: Command,
): Promise<ExitCode> {
  const doors = doorsOf(options, command);
  if (options.wait === true && doors.api === undefined)
    return command.error(
      "error: --wait asks the app: expected --url and --key (AUTOSCALER_URL, AUTOSCALER_KEY)",
    );
  const now = terminal.now();
  const sent = await sendDemand(doors, message, { throws: false, now });
  const json = options.json === true;
  if (options.wait !== true || doors.api === undefined) return tellSent(terminal, source, sent, json);
  // Standard output is for the result.
  const code = tellSent({ ...terminal, say: terminal.complain }, source, sent, false);
  if (sent.kind !== "answered" && sent.kind !== "queued") return code;
  const waited = await waitUntilMet(terminal, openApi(doors.api, { throws: false }), {
    cluster: message.cluster,
    set: message.requestSet ?? options.requestSet,
    revision: sent.kind === "answered" ? revisionTaken(sent.body) : revisionOf(message, now),
    timeoutSeconds: options.timeout,
    json,
  });
  // A job that was left out makes the answer "no", whatever happens to the others.
  return waited === EXIT.done ? code : waited;
}

/** The revision of the accepted demand. Undefined if the message left the set's demand unchanged. */
function revisionTaken(body: unknown): number | undefined {
  const { taken = [], revision } = readAccepted(body) ?? {};
  return taken.length === 0 || taken.includes("demand") ? revision : undefined;
}

/** The same for a message in the queue, which returns no answer: its own revision, or the moment at which it was sent. */
function revisionOf(message: DemandMessage | UncheckedMessage, now: number): number | undefined {
  if (!("nodearrays" in message) && !("jobs" in message)) return undefined;
  const revision: unknown = "revision" in message ? message.revision : undefined;
  return typeof revision === "number" ? revision : Math.floor(now);
}

/** A connection string, or the address of a queue service. */
const ACCOUNT =
  /^https:\/\/[^/]|^\s*UseDevelopmentStorage=true|(^|;)\s*(AccountKey|SharedAccessSignature)=[^;\s]/i;

function doorsOf({ url, key, queue }: DoorOptions, command: Command): Doors {
  const api = url === undefined || key === undefined ? undefined : { url, key };
  // Checked here and not by the parser, whose message would show a possible secret.
  if (queue !== undefined && !ACCOUNT.test(queue))
    return command.error(
      "error: --queue: found something else (not shown: it may be a secret), expected a connection string or an address https://NAME.queue.core.windows.net",
    );
  if (api === undefined && queue === undefined)
    return command.error(
      "error: expected --url and --key (AUTOSCALER_URL, AUTOSCALER_KEY), or --queue (AUTOSCALER_QUEUE)",
    );
  return { ...(api === undefined ? {} : { api }), ...(queue === undefined ? {} : { queue }) };
}

function tellSent(terminal: Terminal, source: string, sent: Sent, json: boolean): ExitCode {
  switch (sent.kind) {
    case "answered":
    case "refused":
    case "not-json":
    case "redirected":
    case "unreachable":
      return tell(terminal, sent, json, (body) => tellAccepted(terminal, source, body));
    case "queued":
      for (const { name, problems } of sent.rejectedJobs) complainOfJob(terminal, source, name, problems);
      for (const note of sent.notes) terminal.complain(`${source}: ${note}`);
      terminal.say(
        json ? jsonText({ messageId: sent.messageId }) : "sent to the queue; it is read within seconds",
      );
      return sent.rejectedJobs.length > 0 ? EXIT.no : EXIT.done;
    case "malformed":
      complainOfProblems(terminal, source, sent.problems);
      return EXIT.usage;
    case "too-large":
      terminal.complain(sent.advice);
      return EXIT.usage;
    case "denied":
      terminal.complain(sent.message);
      return EXIT.no;
  }
}

/** Accepted, possibly without some jobs. These are listed, and the exit code is not 0. */
function tellAccepted(terminal: Terminal, source: string, body: unknown) {
  const accepted = readAccepted(body);
  const rejected = accepted?.rejectedJobs ?? [];
  for (const { name, problems } of rejected) complainOfJob(terminal, source, name ?? "?", problems);
  for (const note of accepted?.notes ?? []) terminal.complain(`${source}: ${note}`);
  const text = `${acceptedText(accepted)}, valid until ${accepted?.expiresAt ?? "?"}${asksText(accepted?.asks)}${olderText(accepted)}`;
  return { text, code: rejected.length > 0 ? EXIT.no : EXIT.done };
}

type Accepted = ReturnType<typeof readAccepted>;

function acceptedText(accepted: Accepted): string {
  const set = `request set ${accepted?.requestSet ?? "?"}`;
  const taken = accepted?.taken ?? [];
  // An app of the release before this one names no parts.
  if (taken.length > 0 && !taken.includes("demand"))
    return `accepted: ${taken.join(" and ")} of ${set}; its demand stays as it is`;
  return accepted?.changed === true ? `accepted: ${set}` : `accepted; nothing changed but its time: ${set}`;
}

function olderText(accepted: Accepted): string {
  const older = accepted?.older ?? [];
  return older.length === 0 ? "" : `; not taken, as newer is held: ${older.join(" and ")}`;
}

/** "; asks for 2 node arrays, 13 jobs, 27 slots". */
function asksText(asks: NonNullable<ReturnType<typeof readAccepted>>["asks"]): string {
  if (asks === undefined) return "";
  const parts = [
    countOf(asks.nodearrays, "node array"),
    countOf(asks.jobs, "job"),
    countOf(asks.slots, "slot"),
  ].filter((part) => part !== undefined);
  return `; asks for ${parts.length === 0 ? "nothing" : parts.join(", ")}`;
}

function countOf(count = 0, what: string): string | undefined {
  if (count === 0) return undefined;
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

function complainOfJob(
  terminal: Terminal,
  source: string,
  name: string,
  problems: Parameters<typeof complainOfProblems>[2],
): void {
  const why = problems.map(problemText).join("; ");
  terminal.complain(`${source}: job "${name}" is left out: ${why}`);
}
