import type { Sent } from "../client/index.ts";
import { readAccepted } from "../client/receipts.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import { complainOfProblems, jsonText, tell } from "./tell.ts";
import type { Terminal } from "./terminal.ts";
import { problemText } from "../client/error.ts";

/** Shows the result of sending demand. `source` is the file or command line that the demand came from. */
export function tellSent(
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
