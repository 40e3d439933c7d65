import type { CreateOutcome, ManagementOutcome } from "../../app/ports/cyclecloud.ts";
import type { NodeId } from "../../domain/ids.ts";
import { nodeId } from "../../domain/ids.ts";
import type { GrantedSet } from "../../domain/intent.ts";
import { quoteText } from "../../domain/secrets.ts";
import { failureOf, malformedAnswer, wordsOf } from "./answer.ts";
import { isObject, readCount, readText } from "./read-fields.ts";
import { malformed } from "./read-status.ts";
import type { Answer, TransportRequest } from "./transport.ts";
import { operationOf } from "./transport.ts";

/** One result for each set, in the order of the request. `added` may be less than requested, even 0 (cyclecloud-wire.md A.6). */
export function readCreated(request: TransportRequest, answer: Answer, asked: number): CreateOutcome {
  const list = isObject(answer.body) ? answer.body["sets"] : undefined;
  const results: readonly unknown[] = Array.isArray(list) ? list : [];
  const sets = Array.from({ length: asked }, (_, index): GrantedSet => {
    const set = results[index];
    const added = isObject(set) ? readCount(set["added"]) : undefined;
    if (!isObject(set) || added === undefined) {
      const found = isObject(set) ? set["added"] : undefined;
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
  const list = isObject(answer.body) ? answer.body["nodes"] : undefined;
  if (!Array.isArray(list)) {
    throw malformedAnswer(operationOf(request), malformed("nodes", list, "a list of results"), answer);
  }
  const nodes = new Map<NodeId, { readonly ok: boolean; readonly error?: string }>();
  for (const entry of list) {
    const id = isObject(entry) ? readText(entry["id"]) : undefined;
    if (isObject(entry) && id !== undefined) nodes.set(nodeId(id), readResult(entry));
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
  if (status === 409) return { kind: "conflict", ...(message === undefined ? {} : { message }) };
  const refused = status >= 400 && status < 500 && ![401, 403, 408, 429].includes(status);
  if (!refused) throw failureOf(operationOf(request), answer);
  return { kind: "refused", message: `HTTP ${status}: ${message ?? "no words given"}` };
}
