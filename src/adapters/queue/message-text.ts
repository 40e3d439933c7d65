import { gzipSync } from "node:zlib";
import type { RejectedMessage } from "../../app/ports/demand-queue.ts";
import { instant } from "../../domain/units.ts";
import type { Bytes } from "../../domain/units.ts";
import { isFields } from "../../domain/fields.ts";

/**
 * A queue message holds 64 KiB. It travels as XML, and it is not documented whether the limit counts the escaped form: both forms stay
 * below.
 */
const MESSAGE_BYTES: Bytes = 64 * 1024;

/** Room that the problems of a rejected message may take; the rest is for its text. */
const PROBLEMS_BYTES: Bytes = 32 * 1024;

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Bytes of a text as XML content, with every character escaped that any writer escapes. */
function escapedBytes(text: string): number {
  return Buffer.byteLength(text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? character));
}

/** XML 1.0 forbids most control characters, and a reader turns a carriage return into a line feed. */
function survivesXml(text: string): boolean {
  return /^[\t\n\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]*$/u.test(text);
}

/**
 * The text in a form that can travel: unchanged if possible, else base64, else gzip in base64. The parser of demand messages accepts all
 * three (docs/demand.md). Undefined if too large in any form.
 */
export function travellingText(text: string): string | undefined {
  const forms = [
    () => (survivesXml(text) && escapedBytes(text) <= MESSAGE_BYTES ? text : undefined),
    () => Buffer.from(text, "utf8").toString("base64"),
    () => gzipSync(text).toString("base64"),
  ];
  for (const form of forms) {
    const travelling = form();
    if (travelling !== undefined && Buffer.byteLength(travelling) <= MESSAGE_BYTES) return travelling;
  }
  return undefined;
}

/**
 * A rejected message as JSON that fits: problems first, then as much of its text as possible. `problemsLeftOut` and `textLength` count the
 * rest.
 */
export function rejectedText(message: RejectedMessage): string {
  const problems = fittingProblems(message.problems);
  const left = message.problems.length - problems.length;
  const render = (length: number): string =>
    xmlSafeJson({
      ...message,
      problems,
      ...(left === 0 ? {} : { problemsLeftOut: left }),
      text: message.text.slice(0, length),
      ...(length >= message.text.length ? {} : { textLength: message.text.length }),
    });
  return render(largest(message.text.length, (length) => escapedBytes(render(length)) <= MESSAGE_BYTES));
}

function fittingProblems(problems: RejectedMessage["problems"]): RejectedMessage["problems"] {
  const fits = (count: number) => escapedBytes(xmlSafeJson(problems.slice(0, count))) <= PROBLEMS_BYTES;
  return problems.slice(0, largest(problems.length, fits));
}

/** The largest number up to `most` that fits. Larger ones never fit if a smaller one does not. */
function largest(most: number, fits: (value: number) => boolean): number {
  if (fits(most)) return most;
  let [yes, no] = [0, most];
  while (no - yes > 1) {
    const middle = Math.floor((yes + no) / 2);
    if (fits(middle)) yes = middle;
    else no = middle;
  }
  return yes;
}

/** JSON escapes every character that XML forbids but two. */
function xmlSafeJson(value: unknown): string {
  return JSON.stringify(value).replaceAll("\uFFFE", "\\ufffe").replaceAll("\uFFFF", "\\uffff");
}

/** A rejected message as the queue has it. Undefined if another program put it there: it stays in the queue, and in the count. */
export function readRejected(text: string): RejectedMessage | undefined {
  try {
    const message: unknown = JSON.parse(text);
    return isRejected(message) ? message : undefined;
  } catch {
    return undefined;
  }
}

/** Checked whole: one message of nonsense must not cost the answer that shows the others. */
function isRejected(value: unknown): value is RejectedMessage {
  return (
    isFields(value) &&
    typeof value["messageId"] === "string" &&
    isMoment(value["rejectedAt"]) &&
    isTextOrAbsent(value["cluster"]) &&
    isTextOrAbsent(value["set"]) &&
    Array.isArray(value["problems"]) &&
    value["problems"].every(isProblem) &&
    typeof value["text"] === "string"
  );
}

const isTextOrAbsent = (value: unknown): boolean => value === undefined || typeof value === "string";

const isMoment = (value: unknown): boolean =>
  typeof value === "number" && Number.isFinite(value) && value === instant(value);

const isProblem = (value: unknown): boolean =>
  isFields(value) &&
  [value["path"], value["found"], value["expected"]].every((text) => typeof text === "string") &&
  isTextOrAbsent(value["didYouMean"]);
