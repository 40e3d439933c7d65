import type { InTime } from "../../app/ports/cyclecloud.ts";

/**
 * The way of a request to a CycleCloud server: over HTTP, or in one process directly to a simulator. An answer of any status is a value.
 * Only the lack of an answer (no connection, timeout, too large) is thrown, as a PortError.
 */
export interface Transport {
  send(request: TransportRequest): Promise<Answer>;
}

export interface TransportRequest {
  readonly method: "GET" | "POST";
  /** From the server's root, each segment percent-encoded, without the query: "/clusters/my%20cluster/status". */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Sent as JSON. Absent: no body. */
  readonly body?: unknown;
  /** True: may be sent again if no usable answer came. Never true for a change. */
  readonly idempotent: boolean;
  /** For a change. A transport that throws because of it says `notSent`. */
  readonly inTime?: InTime;
}

export interface Answer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Parsed JSON, or the text if it is not JSON. Undefined if there was no body. A transport may return the same objects again: neither side
   * ever changes them, so that results read from one may be kept.
   */
  readonly body: unknown;
}

/** The name of a request in errors and logs, without the query, which readers do not need. */
export function operationOf(request: Pick<TransportRequest, "method" | "path">): string {
  return `${request.method} ${request.path}`;
}
