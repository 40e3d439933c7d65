import { afterEach, describe, expect, test } from "vitest";
import { createCycleCloud } from "../../../src/adapters/cyclecloud/cyclecloud.ts";
import { cluster, now } from "./cyclecloud-calls.ts";
import type { Behaviour } from "./local-server.ts";
import { closeAll, failureOf, password, read, start } from "./started-transport.ts";
import type { createHttpTransport } from "../../../src/adapters/cyclecloud/http-transport.ts";

type HttpTransportOptions = Parameters<typeof createHttpTransport>[0];

/** A server, or a proxy in front of it, that sends back what it was sent. Its words go on to readers, records and the log. */

afterEach(closeAll);

const bearer: HttpTransportOptions["credentials"] = () =>
  Promise.resolve({ kind: "bearer", token: "canary-token-0123456789" });

/** base64 of "cc_admin:s3cret: with colon ü" */
const BASIC = "Y2NfYWRtaW46czNjcmV0OiB3aXRoIGNvbG9uIMO8";

const echo =
  (status: number, write: (authorization: string) => string): Behaviour =>
  (outgoing, _nth, { headers }) =>
    void outgoing.writeHead(status).end(write(headers.authorization ?? ""));

describe("the words of an error", () => {
  test.each([
    {
      name: "the header in a text",
      write: (sent: string) => `you sent ${sent}`,
      words: "you sent Basic ***",
    },
    {
      name: "the header in JSON",
      write: (sent: string) => JSON.stringify({ Message: `Authorization: ${sent}` }),
      words: "Authorization: Basic ***",
    },
    {
      name: "the token without its kind",
      write: (sent: string) => `<p>no user <b>${sent.slice(6)}</b></p>`,
      words: "no user ***",
    },
    { name: "the password", write: () => `no match: ${password}!`, words: "no match: ***!" },
    {
      name: "the password in an address",
      write: () => `GET /login?p=${encodeURIComponent(password)} failed`,
      words: "GET /login?p=*** failed",
    },
    {
      name: "the password in JSON in a text",
      write: () => `found {"password":"${password}"}`,
      words: 'found {"password":"***"}',
    },
    {
      name: "the header behind so much text that it would be cut",
      write: (sent: string) => `${"x".repeat(480)} ${sent}`,
      words: `${"x".repeat(480)} Basic ***`,
    },
    {
      name: "characters that act on a terminal",
      write: () => "\u001b[31mred\u0007\r\nall is well \u202e",
      words: "\\u{1b}[31mred\\u{7} all is well \\u{202e}",
    },
  ])("$name", async ({ write, words }) => {
    const { transport } = await start(echo(500, write));
    const error = await failureOf(createCycleCloud({ transport }).status(cluster, now));
    expect(error.message).toMatch(/: HTTP 500: /);
    expect(error.message.slice(error.message.indexOf("HTTP 500: ") + 10)).toBe(words);
  });

  test("a bearer token", async () => {
    const { transport } = await start(
      echo(500, (sent) => `sent: ${sent}, or ${sent.slice(7)}`),
      { credentials: bearer },
    );
    const error = await failureOf(createCycleCloud({ transport }).status(cluster, now));
    expect(error.message).toContain("HTTP 500: sent: Bearer ***, or ***");
  });
});

test("a good answer is without the header; what only looks like the password is data", async () => {
  const { transport } = await start(
    echo(200, (sent) => JSON.stringify({ nodes: [{ StatusMessage: sent, Name: password }] })),
  );
  const { body } = await transport.send(read);
  expect(body).toEqual({ nodes: [{ StatusMessage: "Basic ***", Name: password }] });
  expect(JSON.stringify(body)).not.toContain(BASIC);
});
