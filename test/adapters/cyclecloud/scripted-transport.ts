import type { Answer, Transport, TransportRequest } from "../../../src/adapters/cyclecloud/transport.ts";

/** A server of one answer, that remembers what it was asked. */
export interface ScriptedTransport extends Transport {
  readonly requests: readonly TransportRequest[];
}

export function answering(
  status: number,
  body?: unknown,
  headers: Answer["headers"] = {},
): ScriptedTransport {
  const requests: TransportRequest[] = [];
  return {
    requests,
    send(request) {
      requests.push(request);
      return Promise.resolve({ status, headers, body });
    },
  };
}
