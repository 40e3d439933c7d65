import { quoteText } from "../../domain/secrets.ts";

/** Why a call of a port failed, and what that says about its effect. */
export type PortErrorKind =
  /** No answer: connection refused or cut, or timeout. The effect may have happened, unless the request was not sent. */
  | "unreachable"
  /** 429 or 503: the server asks to wait. */
  | "throttled"
  /** 401 or 403: our credentials are refused. Certainly no effect. */
  | "denied"
  /** Any other unusable answer: 5xx, malformed, too large. The effect may have happened. */
  | "unexpected"
  /** Another release wrote the record, so this release must not touch it. Only from a store. Certainly no effect. */
  | "other-state";

/**
 * The only error that adapters throw. Only app/ catches it. Expected outcomes (a conflict, a refusal) are values instead. Each method of a
 * port that returns a promise may throw every kind except "other-state". Exceptions are given at the method.
 */
export class PortError extends Error {
  readonly kind: PortErrorKind;
  /** The operation that failed: "GET /clusters/demo/status". Never contains a secret. */
  readonly operation: string;
  /** The HTTP status, if there was one. */
  readonly status: number | undefined;
  /** The request was not written to a connection: the server has not got it, and does not hold it. Certainly no effect. */
  readonly notSent: boolean;

  constructor(
    kind: PortErrorKind,
    operation: string,
    message: string,
    status?: number,
    { notSent = false }: { readonly notSent?: boolean } = {},
  ) {
    // Servers quote what they were sent, and the text goes on to answers and records.
    super(quoteText(`${operation}: ${message}`));
    this.name = "PortError";
    this.kind = kind;
    this.operation = operation;
    this.status = status;
    this.notSent = notSent;
  }
}
