import type { Command } from "commander";
import type { DemandMessage, Doors, UncheckedMessage, Sent } from "../client/index.ts";
import { openApi, sendDemand } from "../client/index.ts";
import { readAccepted } from "../client/readers.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import type { DoorOptions } from "./options.ts";
import type { Terminal } from "./terminal.ts";
import { waitUntilMet } from "./wait.ts";
import { complainOfProblems, jsonText, tell } from "./tell.ts";
import { problemText } from "../client/error.ts";
import { withoutAbsent } from "../client/readable.ts";

/** Sends a message, and with --wait waits until its demand is met. */
export async function sendMessage(
  terminal: Terminal,
  source: string,
  message: DemandMessage | UncheckedMessage,
  options: DoorOptions,
  command: Command,
): Promise<ExitCode> {
  const doors = doorsOf(options, command);
  if (options.wait === true && doors.api === undefined)
    return command.error(
      "error: --wait needs the app: expected --url and --key (AUTOSCALER_URL, AUTOSCALER_KEY)",
    );
  const refusal = refuseTooMany(terminal, source, message, options.max);
  if (refusal !== undefined) return refusal;
  const now = terminal.now();
  const sent = await sendDemand(doors, message, { throws: false, now });
  const json = options.json === true;
  if (options.wait !== true || doors.api === undefined) return tellSent(terminal, source, sent, { json });
  // Standard output is for the result.
  const code = tellSent({ ...terminal, say: terminal.complain }, source, sent, { json: false });
  if (sent.kind !== "answered" && sent.kind !== "queued") return code;
  const waited = await waitUntilMet(terminal, openApi(doors.api, { throws: false }), {
    cluster: message.cluster,
    set: message.requestSet ?? options.requestSet,
    revision: sent.kind === "answered" ? revisionTaken(sent.body) : revisionOf(message, now),
    timeoutSeconds: options.timeout,
    json,
  });
  // A job that was left out makes the answer "no", even if the others are met.
  return waited === EXIT.done ? code : waited;
}

const TOTALS = ["TargetCount", "TargetCoreCount"];

/** A target above `--max` is not sent. Undefined: there is none. */
function refuseTooMany(
  terminal: Terminal,
  source: string,
  message: DemandMessage | UncheckedMessage,
  max: number | undefined,
): ExitCode | undefined {
  if (max === undefined) return undefined;
  const arrays: unknown = "nodearrays" in message ? message.nodearrays : [];
  const entries = [arrays]
    .flat()
    .flatMap((array: unknown) => (typeof array === "object" && array !== null ? Object.entries(array) : []));
  const above = entries.find(([key, total]) => TOTALS.includes(key) && Number(total) > max);
  if (above === undefined) return undefined;
  terminal.complain(
    `${source}: ${above[0]} ${above[1]} is more than --max ${max} (AUTOSCALER_MAX); nothing was sent`,
  );
  return EXIT.usage;
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
  return withoutAbsent({ api, queue });
}

/** Shows the result of sending demand. `source` is the file or command line that the demand came from. */
function tellSent(
  terminal: Terminal,
  source: string,
  sent: Sent,
  { json }: { readonly json: boolean },
): ExitCode {
  switch (sent.kind) {
    case "answered":
    case "refused":
    case "not-json":
    case "redirected":
    case "unreachable":
      return tell(terminal, sent, json, (body) => tellAccepted(terminal, source, body));
    case "queued":
      for (const { name, problems } of sent.rejectedJobs) complainOfJob(terminal, source, name, problems);
      for (const note of sent.notes) terminal.complain(`warning: ${source}: ${note}`);
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

/** The demand was accepted, possibly without some jobs. These are listed, and then the exit code is not 0. */
function tellAccepted(terminal: Terminal, source: string, body: unknown) {
  const accepted = readAccepted(body);
  const rejected = accepted?.rejectedJobs ?? [];
  for (const { name, problems } of rejected) complainOfJob(terminal, source, name ?? "?", problems);
  for (const note of accepted?.notes ?? []) terminal.complain(`warning: ${source}: ${note}`);
  const parts = [
    `${acceptedText(accepted)}, valid until ${accepted?.expiresAt ?? "?"}`,
    asksText(accepted?.asks),
    olderText(accepted),
  ];
  return {
    text: parts.filter((part) => part !== undefined).join("; "),
    code: rejected.length > 0 ? EXIT.no : EXIT.done,
  };
}

type Accepted = ReturnType<typeof readAccepted>;

function acceptedText(accepted: Accepted): string {
  const set = `request set ${accepted?.requestSet ?? "?"}`;
  const taken = accepted?.taken ?? [];
  // An app of the release before this one names no parts.
  if (taken.length > 0 && !taken.includes("demand"))
    return `accepted: ${taken.join(" and ")} of ${set}; its demand stays as it is`;
  return accepted?.changed === true ? `accepted: ${set}` : `accepted; only its expiry changed: ${set}`;
}

function olderText(accepted: Accepted): string | undefined {
  const older = accepted?.older ?? [];
  return older.length === 0 ? undefined : `not taken, because a newer one is known: ${older.join(" and ")}`;
}

/** "asks for 2 node arrays, 13 jobs, 27 slots". Undefined if an older app answers. */
function asksText(asks: NonNullable<Accepted>["asks"]): string | undefined {
  if (asks === undefined) return undefined;
  const parts = [
    countOf(asks.nodearrays, "node array"),
    countOf(asks.jobs, "job"),
    countOf(asks.slots, "slot"),
  ].filter((part) => part !== undefined);
  return `asks for ${parts.length === 0 ? "nothing" : parts.join(", ")}`;
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
