import { createHttpTransport } from "../../../src/adapters/cyclecloud/http-transport.ts";
import type { TransportRequest } from "../../../src/adapters/cyclecloud/transport.ts";
import { PortError } from "../../../src/app/ports/port-error.ts";
import { serve } from "./local-server.ts";
import type { Behaviour, LocalServer } from "./local-server.ts";
type HttpTransport = ReturnType<typeof createHttpTransport>;

type HttpTransportOptions = Parameters<typeof createHttpTransport>[0];

/*
 * A transport to a server of the test.
 */

export const read: TransportRequest = {
  method: "GET",
  path: "/clusters/a%20b/status",
  query: { nodes: "true" },
  idempotent: true,
};

export const change: TransportRequest = {
  method: "POST",
  path: "/clusters/a/nodes/create",
  query: {},
  body: { n: 1 },
  idempotent: false,
};

export const password = "s3cret: with colon ü";

export const credentials: HttpTransportOptions["credentials"] = () =>
  Promise.resolve({ kind: "basic", username: "cc_admin", password });

export const open: { close(): Promise<void> }[] = [];

export async function closeAll() {
  await Promise.all(open.splice(0).map((one) => one.close()));
}

export async function start(
  behave: Behaviour,
  options: Partial<HttpTransportOptions> = {},
  prefix = "",
): Promise<{ server: LocalServer; transport: HttpTransport; pauses: number[] }> {
  const server = await serve(behave);
  const pauses: number[] = [];
  const transport = createHttpTransport({
    baseUrl: server.url + prefix,
    credentials,
    fraction: () => 0,
    sleep: (milliseconds) => {
      pauses.push(milliseconds);
      return Promise.resolve();
    },
    ...options,
  });
  open.push(server, transport);
  return { server, transport, pauses };
}

export const answerJson =
  (body: unknown): Behaviour =>
  (outgoing) =>
    void outgoing.end(JSON.stringify(body));

export async function failureOf(sending: Promise<unknown>): Promise<PortError> {
  const error = await sending.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof PortError)) throw new Error(`expected a PortError, not ${String(error)}`);
  return error;
}
