import { AnonymousCredential, QueueClient, QueueSASPermissions } from "@azure/storage-queue";
import { createServer } from "node:http";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openDemandQueue, putDemand } from "../../src/client/push.ts";
import { sendDemand } from "../../src/client/send.ts";
import { instant } from "../../src/domain/units.ts";
import { readDemandMessage } from "../../src/wire/message/demand-message.ts";
import type { DemandMessage } from "../../src/wire/message/message.ts";
import { azuriteForThisFile } from "../support/azurite.ts";

const azurite = azuriteForThisFile();
const NOW = Date.UTC(2026, 0, 1);
const MESSAGE: DemandMessage = { version: 1, cluster: "prod", jobs: [{ name: "a", iterations: 3 }] };

describe("push", () => {
  let connectionString: string;
  let queue: QueueClient;
  beforeEach(async () => {
    const account = azurite.account();
    if (account.kind !== "connection-string") throw new Error("the emulator has a connection string");
    connectionString = account.connectionString;
    queue = new QueueClient(connectionString, azurite.freshName());
    await queue.create();
  });

  const onlyText = async () => {
    const { peekedMessageItems } = await queue.peekMessages({ numberOfMessages: 32 });
    expect(peekedMessageItems).toHaveLength(1);
    return peekedMessageItems[0]?.messageText ?? "";
  };
  const readBack = async () =>
    readDemandMessage(await onlyText(), {
      messageId: "m",
      insertedAt: instant(NOW),
      now: instant(NOW),
      maxExpirationSeconds: 86_400,
    });

  test.each([
    { name: "its own revision stays", message: { ...MESSAGE, revision: NOW - 5 }, revision: NOW - 5 },
    { name: "without one it gets the time of sending, whole", message: MESSAGE, revision: NOW },
  ])("$name", async ({ message, revision }) => {
    const pushed = await openDemandQueue(connectionString, queue.name).push(message, NOW + 0.75);
    expect(pushed).toEqual({ kind: "sent", messageId: expect.any(String) });
    expect(JSON.parse(await onlyText())).toEqual({ ...message, revision });
    expect(await readBack()).toMatchObject({
      kind: "update",
      update: { revision: { value: revision, tieBreak: "" } },
    });
  });

  /** Jobs that differ only in the number at their end: gzip leaves little of them. */
  const jobs = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `job-${index}` }));

  test.each([
    { name: "47 KiB go as they are", count: 2400, startsWith: "{" },
    { name: "more goes packed", count: 10_000, startsWith: "H4sI" },
  ])("$name, and are read whole", async ({ count, startsWith }) => {
    const message = { ...MESSAGE, jobs: jobs(count) };
    expect(await openDemandQueue(connectionString, queue.name).push(message, NOW)).toMatchObject({
      kind: "sent",
    });
    expect((await onlyText()).slice(0, startsWith.length)).toBe(startsWith);
    const read = await readBack();
    expect(read.kind === "update" && read.update.demand?.demands.length).toBe(count);
  });

  test("a signed address (SAS) that may add and nothing else is enough, with the queue's name or without", async () => {
    const signed = new URL(
      queue.generateSasUrl({
        permissions: QueueSASPermissions.parse("a"),
        expiresOn: new Date(Date.now() + 600_000),
      }),
    );
    const ofService = new URL(signed);
    ofService.pathname = signed.pathname.replace(`/${queue.name}`, "/");
    for (const address of [signed, ofService])
      expect(await openDemandQueue(address.href, queue.name).push(MESSAGE, NOW)).toMatchObject({
        kind: "sent",
      });
    expect((await queue.getProperties()).approximateMessagesCount).toBe(2);
    // It opens nothing else, and an error does not repeat it.
    const reader = new QueueClient(signed.href, new AnonymousCredential());
    await expect(reader.peekMessages()).rejects.toMatchObject({ statusCode: 403 });
    signed.searchParams.set("sig", "CANARYsignature");
    const sent = await sendDemand({ queue: signed.href.replace(`/${queue.name}?`, "/demand?") }, MESSAGE, {
      throws: false,
    });
    expect(sent).toMatchObject({ kind: "denied" });
    expect(JSON.stringify(sent)).not.toContain("CANARY");
  });

  test("an address that is signed for a person (user delegation) is used as it is, with every part", async () => {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      const message = "<MessageId>m</MessageId><InsertionTime>Thu, 01 Jan 2026 00:00:00 GMT</InsertionTime>";
      const rest =
        "<ExpirationTime>Thu, 08 Jan 2026 00:00:00 GMT</ExpirationTime><PopReceipt>p</PopReceipt><TimeNextVisible>Thu, 01 Jan 2026 00:00:00 GMT</TimeNextVisible>";
      response.writeHead(201, { "content-type": "application/xml" });
      response.end(
        `<?xml version="1.0"?><QueueMessagesList><QueueMessage>${message}${rest}</QueueMessage></QueueMessagesList>`,
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" ? address?.port : undefined;
    // The form that `az storage queue generate-sas --as-user` prints.
    const signed =
      "se=2026-01-08T00%3A00Z&sp=a&spr=https&sv=2026-02-06&skoid=o&sktid=t&skt=2026-01-01T00%3A00%3A00Z&ske=2026-01-08T00%3A00%3A00Z&sks=q&skv=2026-02-06&sig=s%2Bg%3D";
    const pushed = await openDemandQueue(`http://127.0.0.1:${port}/account/demand?${signed}`).push(
      MESSAGE,
      NOW,
    );
    expect(pushed).toMatchObject({ kind: "sent" });
    const [line = ""] = seen;
    expect(line).toMatch(/^POST \/account\/demand\/messages\?/);
    const sent = new URL(line.slice("POST ".length), "http://a").searchParams;
    for (const [name, value] of new URLSearchParams(signed))
      expect([name, sent.get(name)]).toEqual([name, value]);
  });

  test("plain http to another machine is refused before anything is sent", async () => {
    const queueUrl = "http://account.queue.core.windows.net/demand?sv=1&sig=CANARY";
    const sent = await sendDemand({ queue: queueUrl }, MESSAGE, { throws: false });
    expect(sent).toEqual({
      kind: "denied",
      message: "the queue: found plain http to account.queue.core.windows.net, expected an https address",
    });
  });

  test("too large even when packed: nothing is sent, and a sentence says where to", async () => {
    const message = { ...MESSAGE, requestSet: "gpu jobs", jobs: jobs(100_000) };
    const pushed = await openDemandQueue(connectionString, queue.name).push(message, NOW);
    if (pushed.kind !== "too-large") throw new Error("100,000 jobs do not fit");
    expect(pushed.bytes).toBeGreaterThan(65_536);
    expect(pushed.advice).toBe(
      `${pushed.bytes} bytes, packed, are more than the 65536 of a queue message; send it over HTTP: PUT /api/clusters/prod/request-sets/gpu%20jobs`,
    );
    expect((await queue.peekMessages()).peekedMessageItems).toEqual([]);
  });
});

describe("putDemand", () => {
  /** A server that answers the next request and remembers it. */
  async function serveOnce(status: number, body: string) {
    const seen: { method?: string; path?: string; key?: unknown; body?: unknown } = {};
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        Object.assign(seen, {
          method: request.method,
          path: request.url,
          key: request.headers["x-functions-key"],
          body: JSON.parse(Buffer.concat(chunks).toString()),
        });
        response.writeHead(status, { connection: "close" }).end(body);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => new Promise<void>((resolve) => void server.close(() => resolve())));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    return { api: { url: `http://127.0.0.1:${port}`, key: "the-key" }, seen };
  }

  test("addresses the set, brings the key, and gives the message a revision", async () => {
    const { api, seen } = await serveOnce(202, '{"changed":true}');
    const message = { ...MESSAGE, cluster: "two words", requestSet: "a b" };
    expect(await putDemand(api, message, NOW)).toEqual({
      kind: "answered",
      status: 202,
      body: { changed: true },
    });
    expect(seen).toEqual({
      method: "PUT",
      path: "/api/clusters/two%20words/request-sets/a%20b",
      key: "the-key",
      body: { ...message, revision: NOW },
    });
  });

  test("a set without a name is the standard one, and a revision stays", async () => {
    const { api, seen } = await serveOnce(202, "{}");
    await putDemand(api, { ...MESSAGE, revision: 7 }, NOW);
    expect(seen).toMatchObject({
      path: "/api/clusters/prod/request-sets/standard",
      body: { revision: 7 },
    });
  });

  test.each([
    {
      name: "a refusal, as its problem",
      status: 409,
      text: '{"title":"Older revision"}',
      body: { title: "Older revision" },
    },
    { name: "nothing", status: 401, text: "", body: undefined },
    { name: "a proxy's page, as text", status: 502, text: "<html>", body: "<html>" },
  ])("what comes back: $name", async ({ status, text, body }) => {
    const { api } = await serveOnce(status, text);
    expect(await putDemand(api, MESSAGE, NOW)).toEqual({ kind: "refused", status, body, role: "sender" });
  });
});
