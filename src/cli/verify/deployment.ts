import type { AnsweringApi, Answer, ManagementApi } from "../../client/index.ts";
import { readProblemAnswer } from "../../client/readers.ts";
import type { Terminal } from "../terminal.ts";

/** The deployed app and the known facts about it: the input of all checks. */
export interface Deployment {
  readonly terminal: Terminal;
  readonly url: string;
  readonly api: AnsweringApi;
  /** The only cluster to check. Undefined: all clusters. */
  readonly cluster: string | undefined;
  /** Undefined if the resource id is unknown. */
  readonly management: ManagementApi | undefined;
  /** Opens the host's own list of functions. */
  readonly masterKey: string | undefined;
}

/** The message of an unsuccessful answer, in one line. */
export function troubleText(answer: Answer): string {
  if (answer.kind === "answered") return `HTTP ${answer.status} with an answer that this release cannot read`;
  if (answer.kind !== "refused") return answer.message;
  const told = readProblemAnswer(answer.body);
  if (told?.title !== undefined)
    return `HTTP ${answer.status} ${told.title}${told.detail === undefined ? "" : `: ${told.detail}`}`;
  return [`HTTP ${answer.status}`, ...bodyTexts(answer.body)].join("");
}

/** The beginning of a text that is not an answer of the app. Empty if it says nothing. */
function bodyTexts(body: unknown): readonly string[] {
  if (typeof body === "object" && body !== null && "error" in body) {
    const { error } = body;
    if (typeof error === "object" && error !== null && "message" in error)
      return [`: ${String(error.message)}`];
  }
  if (typeof body !== "string" || body.trim() === "") return [];
  const title = /<title>([^<]*)<\/title>/i.exec(body)?.[1];
  if (title !== undefined) return [`, a web page: ${title.trim()}`];
  return [/^\s*</.test(body) ? ", a web page" : `: ${body.trim().slice(0, 200)}`];
}

export const statusOf = (answer: Answer): number | undefined =>
  "status" in answer ? answer.status : undefined;
