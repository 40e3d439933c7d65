import { PortError } from "../../app/ports/port-error.ts";
import type { PortErrorKind } from "../../app/ports/port-error.ts";
import { quoteText } from "../../domain/secrets.ts";
import { readAttribute, readText, readCount } from "./read-fields.ts";
import type { Malformed } from "./read-status.ts";
import type { Answer, TransportRequest } from "./transport.ts";
import type { CreateOutcome, ManagementOutcome } from "../../app/ports/cyclecloud.ts";
import type { NodeId } from "../../domain/ids.ts";
import { nodeId } from "../../domain/ids.ts";
import type { GrantedSet } from "../../domain/intent.ts";
import { malformed } from "./read-status.ts";
import { operationOf } from "./transport.ts";
import { withoutAbsent } from "../../domain/without-absent.ts";
import { isFields } from "../../domain/fields.ts";

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
  const words = isFields(body)
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
    isFields(body) &&
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

/** One result for each set, in the order of the request. `added` may be less than requested, even 0 (cyclecloud-wire.md A.6). */
export function readCreated(request: TransportRequest, answer: Answer, asked: number): CreateOutcome {
  const list = isFields(answer.body) ? answer.body["sets"] : undefined;
  const results: readonly unknown[] = Array.isArray(list) ? list : [];
  const sets = Array.from({ length: asked }, (_, index): GrantedSet => {
    const set = results[index];
    const added = isFields(set) ? readCount(set["added"]) : undefined;
    if (!isFields(set) || added === undefined) {
      const found = isFields(set) ? set["added"] : undefined;
      const problem = malformed(`sets[${index}].added`, found, "a number");
      throw malformedAnswer(operationOf(request), problem, answer);
    }
    const message = readText(set["message"]);
    return { added, ...(message === undefined ? {} : { message: quoteText(message) }) };
  });
  return { kind: "accepted", sets };
}

/** One entry per node that matched. A missing `status` means success (cyclecloud-wire.md A.7). */
export function readManaged(request: TransportRequest, answer: Answer): ManagementOutcome {
  const list = isFields(answer.body) ? answer.body["nodes"] : undefined;
  if (!Array.isArray(list)) {
    throw malformedAnswer(operationOf(request), malformed("nodes", list, "a list of results"), answer);
  }
  const nodes = new Map<NodeId, { readonly ok: boolean; readonly error?: string }>();
  for (const entry of list) {
    const id = isFields(entry) ? readText(entry["id"]) : undefined;
    if (isFields(entry) && id !== undefined) nodes.set(nodeId(id), readResult(entry));
  }
  return { kind: "accepted", nodes };
}

function readResult(entry: Readonly<Record<string, unknown>>): {
  readonly ok: boolean;
  readonly error?: string;
} {
  const error = readText(entry["error"]);
  const status = readText(entry["status"])?.toLowerCase();
  if (status === "ok" || (status === undefined && error === undefined)) return { ok: true };
  return { ok: false, ...(error === undefined ? {} : { error: quoteText(error) }) };
}

/** 409 alone does not show whether an id was repeated or an input is invalid. Any other 4xx about the request itself had no effect. */
export function readRefusal(
  request: TransportRequest,
  answer: Answer,
):
  | { readonly kind: "conflict"; readonly message?: string }
  | { readonly kind: "refused"; readonly message: string } {
  const { status } = answer;
  const message = wordsOf(answer);
  if (status === 409) return { kind: "conflict", ...withoutAbsent({ message }) };
  const refused = status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status);
  if (!refused) throw failureOf(operationOf(request), answer);
  return { kind: "refused", message: `HTTP ${status}: ${message ?? "no words given"}` };
}
