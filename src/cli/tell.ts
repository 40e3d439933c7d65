import type { Answer } from "../client/answer.ts";
import type { Role } from "../client/index.ts";
import { showJson } from "../client/readable.ts";
import { readProblemAnswer } from "../client/readers.ts";
import { problemText } from "../client/error.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import type { Terminal } from "./terminal.ts";

/** The output of a command for a good answer: its text for users, and its exit code. */
export type Telling = (body: unknown) => { readonly text: string; readonly code?: ExitCode };

/** The text for an answer that is not an object. */
export const UNREADABLE = "the answer cannot be read by this release; --json shows it";

/**
 * Shows an answer. With `json`, the app's own answer goes to standard output, with any status. Otherwise the text of `telling` does. The
 * reason for a missing answer goes to standard error. `json` does not change the exit code.
 */
export function tell(terminal: Terminal, answer: Answer, json: boolean, telling: Telling): ExitCode {
  if (answer.kind === "unreachable" || answer.kind === "not-json" || answer.kind === "redirected") {
    terminal.complain(answer.message);
    return answer.kind === "unreachable" ? EXIT.unreachable : EXIT.no;
  }
  const { body } = answer;
  if (json && body !== undefined) terminal.say(jsonText(body));
  if (answer.kind === "refused") {
    complainOf(terminal, answer);
    return codeOf(answer.status);
  }
  const { text, code = EXIT.done } = telling(body);
  if (text === UNREADABLE) {
    terminal.complain(text);
    return EXIT.no;
  }
  if (!json) terminal.say(text);
  return code;
}

export function jsonText(body: unknown): string {
  return showJson(body, undefined, 2);
}

/** The problems of an input, one line each, which begins with the input's name. */
export function complainOfProblems(
  terminal: Terminal,
  source: string,
  problems: readonly Parameters<typeof problemText>[0][],
): void {
  for (const one of problems) terminal.complain(`${source}: ${problemText(one)}`);
}

/** 400 and 413: the input is invalid. 5xx and 429: the failure is temporary. All others: the answer is no. */
function codeOf(status: number): ExitCode {
  if (status === 400 || status === 413) return EXIT.usage;
  return status >= 500 || status === 429 ? EXIT.unreachable : EXIT.no;
}

function complainOf(terminal: Terminal, answer: Extract<Answer, { kind: "refused" }>): void {
  const { status, body, role, retryAfterSeconds } = answer;
  const told = readProblemAnswer(body);
  const title =
    told?.title ??
    (status < 500 && isPage(body) ? PAGE_TEXT : statusText(status, role)) ??
    "unexpected answer";
  const problems = told?.problems ?? [];
  // With several problems, the detail names only the first. All are listed below.
  const detail = told?.detail === undefined || problems.length > 1 ? "" : `: ${told.detail}`;
  const again = retryAfterSeconds === undefined ? "" : ` (try again in ${retryAfterSeconds} s)`;
  terminal.complain(`${status} ${title}${detail}${again}`);
  if (problems.length > 1) for (const one of problems) terminal.complain(`  ${problemText(one)}`);
  if (told?.undrain === true)
    terminal.complain(
      status === 409
        ? "the node is needed: re-open it in the scheduler"
        : "no stop of the node is under way: re-open it in the scheduler, and ask again later",
    );
  if (told?.undrain === false)
    terminal.complain(
      status === 409
        ? "it must not take more jobs: keep it closed, and ask again"
        : "its stop may still take effect: keep it closed, and ask again",
    );
}

/** Whether the answer is a web page. The function app never sends one. */
const isPage = (body: unknown): boolean => typeof body === "string" && /^\s*</.test(body);

const PAGE_TEXT =
  "another server answered with a web page, as CycleCloud or a proxy does: is --url (AUTOSCALER_URL) the function app's address?";

/** The meaning of a status without a body, which comes from the function host. */
function statusText(status: number, role: Role | undefined): string | undefined {
  switch (status) {
    case 401:
      return role === undefined
        ? "the function key is missing or wrong (--key, AUTOSCALER_KEY)"
        : `the function key is missing or wrong, or not of the role ${role} (--key, AUTOSCALER_KEY); keys ${role} prints how to make one`;
    case 403:
      return "not allowed: is it the right function key (--key, AUTOSCALER_KEY)?";
    case 404:
      return "nothing is found at this address: is it the function app's (--url), and of this release?";
    default:
      return undefined;
  }
}
