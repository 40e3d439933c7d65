import type { Answer } from "../client/answer.ts";
import type { ProblemItem } from "../client/answers.ts";
import { readProblemAnswer } from "../client/receipts.ts";
import type { ExitCode } from "./exit-code.ts";
import { EXIT } from "./exit-code.ts";
import type { Terminal } from "./terminal.ts";

/** The output of a command for a good answer: its text for users, and its exit code. */
export type Telling = (body: unknown) => { readonly text: string; readonly code?: ExitCode };

/** The text for an answer that is not an object. */
export const UNREADABLE = "the answer cannot be read by this release; --json shows it";

/**
 * Shows an answer: with `json` the app's own, whatever its status, on standard output; else the text of `telling`, or in words on
 * standard error why there is none. The exit code is the same either way.
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
  return JSON.stringify(body, undefined, 2);
}

/** Problems of an input, a line each, with what they are problems of in front. */
export function complainOfProblems(
  terminal: Terminal,
  source: string,
  problems: readonly ProblemText[],
): void {
  for (const one of problems) terminal.complain(`${source}: ${problemText(one)}`);
}

type ProblemText = Pick<ProblemItem, "path" | "found" | "expected"> & {
  readonly didYouMean?: string | undefined;
};

export function problemText({ path, found, expected, didYouMean }: ProblemText): string {
  const where = path === "" ? "" : `${path}: `;
  const hint = didYouMean === undefined ? "" : `; did you mean ${didYouMean}?`;
  return `${where}found ${found}, expected ${expected}${hint}`;
}

/** 400 and 413 are about what was sent; 5xx and "too many requests" pass; all else is a no. */
function codeOf(status: number): ExitCode {
  if (status === 400 || status === 413) return EXIT.usage;
  return status >= 500 || status === 429 ? EXIT.unreachable : EXIT.no;
}

function complainOf(terminal: Terminal, answer: Extract<Answer, { kind: "refused" }>): void {
  const { status, body, retryAfterSeconds } = answer;
  const told = readProblemAnswer(body);
  const title =
    told?.title ??
    (status < 500 && isPage(body) ? PAGE_TEXT : STATUS_TEXTS.get(status)) ??
    "unexpected answer";
  const problems = told?.problems ?? [];
  // Of several problems the detail names only the first, and all are named below.
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

/** A web page: the function app answers none. */
const isPage = (body: unknown): boolean => typeof body === "string" && /^\s*</.test(body);

const PAGE_TEXT =
  "another server answered with a web page, as CycleCloud or a proxy does: is --url (AUTOSCALER_URL) the function app's address?";

/** The host's message without a body of ours. */
const STATUS_TEXTS: ReadonlyMap<number, string> = new Map([
  [401, "the function key is missing or wrong (--key, AUTOSCALER_KEY)"],
  [403, "not allowed: is it the right function key (--key, AUTOSCALER_KEY)?"],
  [404, "nothing is found at this address: is it the function app's (--url), and of this release?"],
]);
