import type { ErrorBody } from "./options.ts";
import type { Milliseconds } from "../domain/units.ts";

export type SimulatorRequest = {
  readonly method: string;
  /** Percent-encoded, without the query: "/clusters/my%20cluster/status". */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** The parsed JSON body. */
  readonly body?: unknown;
  /** The Authorization header. Read only if credentials are required. */
  readonly authorization?: string;
};

export type SimulatorResponse = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** An object is sent as JSON, a text as HTML. Undefined: no content. */
  readonly body: unknown;
  /** The connection breaks, and the caller gets no answer. */
  readonly cut?: true;
  /** The answer is given this many real milliseconds later. */
  readonly delayMs?: Milliseconds;
};

export function answer(
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): SimulatorResponse {
  return { status, headers, body };
}

/** An error in the form that the options choose: CycleCloud's object, no content, or a page (cyclecloud-wire.md A.1). */
export function refuse(status: number, message: string, shape: ErrorBody): SimulatorResponse {
  if (shape === "empty") return answer(status, undefined);
  if (shape === "html")
    return answer(status, `<html><body><h1>${status}</h1>${escapeHtml(message)}</body></html>`);
  return answer(status, { Code: status, Exception: exceptionOf(message), Message: message, Detail: "" });
}

/** Only one exception name is known, that of an unknown machine type (az-hop issue 221). Others are empty. */
function exceptionOf(message: string): string {
  const unknownType = /^MachineType .* is not recognized$/.test(message);
  return unknownType ? "com.cyclecomputing.cloud.exceptions.InvalidAttributeException" : "";
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
