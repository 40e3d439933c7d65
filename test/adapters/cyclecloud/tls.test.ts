import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { createHttpTransport } from "../../../src/adapters/cyclecloud/http-transport.ts";
import { hasOpenssl, issueCertificate } from "../../support/certificate.ts";
import { serve } from "./local-server.ts";
import type { LocalServer } from "./local-server.ts";

type HttpTransportOptions = Parameters<typeof createHttpTransport>[0];

describe.skipIf(!hasOpenssl())("certificates", () => {
  const folder = mkdtempSync(join(tmpdir(), "cyclecloud-tls-"));
  const own = issueCertificate(folder, "own", "IP:127.0.0.1");
  const stranger = issueCertificate(folder, "stranger", "IP:127.0.0.1");
  const misnamed = issueCertificate(folder, "misnamed", "DNS:other.example");
  const open: { close(): Promise<void> }[] = [];
  const servers: Record<string, LocalServer> = {};

  beforeAll(async () => {
    servers["own"] = await serve((outgoing) => void outgoing.end("1"), own);
    servers["misnamed"] = await serve((outgoing) => void outgoing.end("1"), misnamed);
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((transport) => transport.close()));
  });
  afterAll(async () => {
    await Promise.all(Object.values(servers).map((server) => server.close()));
    rmSync(folder, { recursive: true });
  });

  const send = (server: string, options: Partial<HttpTransportOptions>): Promise<unknown> => {
    const baseUrl = servers[server]?.url ?? "";
    const credentials: HttpTransportOptions["credentials"] = () =>
      Promise.resolve({ kind: "basic", username: "u", password: "p" });
    const transport = createHttpTransport({
      baseUrl,
      credentials,
      sleep: () => Promise.reject(new Error("retried")),
      ...options,
    });
    open.push(transport);
    return transport.send({ method: "GET", path: "/", query: {}, idempotent: true });
  };

  test.each([
    { name: "its own certificate given as CA", server: "own", options: { ca: own.cert } },
    { name: "unknown, but insecure was asked for", server: "own", options: { insecure: true } },
  ])("accepted: $name", async ({ server, options }) => {
    expect(await send(server, options)).toMatchObject({ status: 200, body: 1 });
  });

  const NOT_TRUSTED =
    'the server\'s certificate is not trusted: put it, or its CA\'s, into "ca" (PEM text or a file\'s path), or use "insecure": true';
  test.each([
    {
      name: "self-signed and no CA given",
      server: "own",
      options: {},
      code: "DEPTH_ZERO_SELF_SIGNED_CERT",
      says: NOT_TRUSTED,
    },
    {
      name: "not the CA that was given",
      server: "own",
      options: { ca: stranger.cert },
      code: "DEPTH_ZERO_SELF_SIGNED_CERT",
      says: NOT_TRUSTED,
    },
    {
      name: "for another host",
      server: "misnamed",
      options: { ca: misnamed.cert },
      code: "ERR_TLS_CERT_ALTNAME_INVALID",
      says: 'the server\'s certificate is for another name than the one in "url": use a name that it has, or "insecure": true',
    },
    {
      name: "insecure said no",
      server: "own",
      options: { insecure: false },
      code: "DEPTH_ZERO_SELF_SIGNED_CERT",
      says: NOT_TRUSTED,
    },
  ])("refused at the first try: $name", async ({ server, options, code, says }) => {
    await expect(send(server, options)).rejects.toMatchObject({
      kind: "unreachable",
      message: `GET /: ${says} (${code})`,
    });
  });

  test("a server refused for its certificate never saw the credentials", () => {
    expect(servers["misnamed"]?.seen).toEqual([]);
  });
});
