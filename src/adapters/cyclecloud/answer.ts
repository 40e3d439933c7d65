import { PortError } from "../../app/ports/port-error.ts";
import type { PortErrorKind } from "../../app/ports/port-error.ts";
import { quoteText } from "../../domain/secrets.ts";
import { isObject, readAttribute, readText } from "./read-fields.ts";
import type { Malformed } from "./read-status.ts";
import type { Answer } from "./transport.ts";

/** Enough to understand an error; the rest of a page is markup. */
const longestMessage = 500;
const longestPage = 20 * longestMessage;

export function isSuccess(answer: Answer): boolean {
  return answer.status >= 200 && answer.status < 300;
}

/**
 * The message of an error answer in any of its forms: none, CycleCloud's error object (with Detail, which names the server's log lines), or
 * a web page (cyclecloud-wire.md A.1). Undefined if it has none.
 */
export function wordsOf(answer: Answer): string | undefined {
  const { body } = answer;
  const words = isObject(body)
    ? wordsOfObject(body)
    : typeof body === "string"
      ? wordsOfText(body)
      : undefined;
  // Hidden before it is cut: the rest of a secret has no known form.
  const told = quoteText(words?.slice(0, longestPage) ?? "").slice(0, longestMessage);
  return told === "" ? undefined : told;
}

function wordsOfObject(body: Readonly<Record<string, unknown>>): string {
  const [message, exception, detail] = ["Message", "Exception", "Detail"].map((name) =>
    readText(readAttribute(body, name)),
  );
  const head =
    message === undefined ? exception : exception === undefined ? message : `${message} (${exception})`;
  return [head, detail].filter((part) => part !== undefined).join("; ");
}

function wordsOfText(text: string): string {
  return text
    .slice(0, longestPage)
    .replace(/<(script|style)\b(?:(?!<\/?\1)[^])*<\/\1>/gi, " ")
    .replace(/<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/**
 * Whether CycleCloud wrote an error answer, not a proxy in front of it: its error object, or no body at all, which the API documentation
 * describes for every error (cyclecloud-wire.md A.1). A page or text is from a proxy.
 */
export function isFromCycleCloud(answer: Answer): boolean {
  const { body } = answer;
  if (body === undefined || body === "") return true;
  return (
    isObject(body) &&
    ["Message", "Exception", "Detail", "Code"].some((name) => readAttribute(body, name) !== undefined)
  );
}

/** The error for an answer that its caller cannot use. */
export function failureOf(operation: string, answer: Answer): PortError {
  const words = wordsOf(answer);
  const said = words === undefined ? "" : `: ${words}`;
  return new PortError(
    kindOf(answer.status),
    operation,
    `HTTP ${answer.status}${redirectTarget(answer)}${said}`,
    answer.status,
  );
}

/** The error for a successful answer that lacks required data. */
export function malformedAnswer(operation: string, problem: Malformed, answer: Answer): PortError {
  const { path, found, expected } = problem;
  return new PortError(
    "unexpected",
    operation,
    `${path}: found ${found}, expected ${expected}`,
    answer.status,
  );
}

function kindOf(status: number): PortErrorKind {
  if (status === 401 || status === 403) return "denied";
  if (status === 429 || status === 503) return "throttled";
  // A proxy's answer for "it took too long": the effect of the request is unknown.
  return status === 408 ? "unreachable" : "unexpected";
}

/** Redirects are not followed: they would send credentials to any target. Only the host is named, because the rest may hold secrets. */
function redirectTarget(answer: Answer): string {
  const location = answer.headers["location"];
  if (answer.status < 300 || answer.status > 399 || location === undefined) return "";
  // Also resolves a host without a scheme ("//login.example/x").
  const here = "http://the-same-server.invalid";
  const host = URL.canParse(location, here) ? new URL(location, here).host : "an unreadable address";
  return ` redirects to ${host === new URL(here).host ? "the same server" : host}, which is not followed`;
}
