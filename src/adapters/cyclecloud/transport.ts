/**
 * How a request reaches a CycleCloud server: over HTTP, or in one process straight into a simulator. An answer of any status is a value;
 * only what is no answer at all (no connection, timeout, too large) is thrown, as a PortError.
 */
export interface Transport {
  send(request: TransportRequest): Promise<Answer>;
}

export interface TransportRequest {
  readonly method: "GET" | "POST";
  /** From the server's root, each segment percent-encoded, without the query: "/clusters/my%20cluster/status". */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Sent as JSON; absent: no body. */
  readonly body?: unknown;
  /** True: may be sent again if no proper answer came. Never true for a change. */
  readonly idempotent: boolean;
}

export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Parsed JSON; the text if it is not JSON; undefined if there was none. A transport may hand over the same objects again: they are never
   * changed by either side, so that what was read from one may be kept.
   */
  readonly body: unknown;
}

/** How a request is named in errors and logs. The query is left out: it adds nothing that a reader needs. */
export function operationOf(request: Pick<TransportRequest, "method" | "path">): string {
  return `${request.method} ${request.path}`;
}
