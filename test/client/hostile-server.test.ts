import { createServer } from "node:http";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test } from "vitest";
import { AutoscalerError, openApi, openManagement } from "../../src/client/index.ts";
import { answeringServer } from "../support/answering-server.ts";
import { runCommand } from "../cli/run-command.ts";

/** A server that is not the app: the client ends, and shows no secret of its user. */

async function serving(answer: (path: string) => { readonly body: string | Buffer; readonly packed?: true }) {
  const seen: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    seen.push(url);
    const { body, packed } = answer(url);
    response.writeHead(200, packed === true ? { "content-encoding": "gzip" } : {}).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => void server.close(() => resolve()));
  });
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`, seen };
}

const endless = {
  kind: "unreachable",
  message: "one answer has more than 1000 pages: is this the right address?",
};

describe("pages without end", () => {
  test("of the state", async () => {
    const page = { cluster: "prod", outcomes: [], pages: [{ list: "outcomes" }] };
    const { url, seen } = await serving(() => ({
      body: JSON.stringify({ ...page, next: `p${seen.length}` }),
    }));
    const api = openApi({ url, key: "k" }, { throws: false });
    expect(await api.wholeState("prod")).toEqual(endless);
    expect(seen).toHaveLength(1000);
  });

  test("of the history", async () => {
    const at = (count: number) => new Date(1_700_000_000_000 - count).toISOString();
    const { url, seen } = await serving(() => ({
      body: JSON.stringify({ cluster: "prod", rows: [], planCounts: [], next: at(seen.length) }),
    }));
    const api = openApi({ url, key: "k" }, { throws: false });
    expect(await api.wholeHistory("prod")).toEqual(endless);
    expect(seen).toHaveLength(1000);
  });

  test("of Azure's list of functions", async () => {
    const { url, seen } = await serving(() => ({
      body: JSON.stringify({ value: [], nextLink: `${url}/next?${seen.length}` }),
    }));
    const list = await openManagement(url, "/subscriptions/s", () => Promise.resolve("t")).list();
    expect(list).toEqual({
      kind: "no-list",
      answer: { ...endless, message: endless.message.replace("1000", "100") },
    });
    expect(seen).toHaveLength(100);
  });
});

test("a small answer that unpacks to a huge one is given up", async () => {
  const bomb = gzipSync(Buffer.alloc(80 * 1024 * 1024, 0x20), { level: 1 });
  const { url } = await serving(() => ({ body: bomb, packed: true }));
  expect(await openApi({ url, key: "k" }, { throws: false }).clusters()).toEqual({
    kind: "unreachable",
    message: `no answer from ${url}: its answer is larger than 64 MiB`,
  });
});

describe("the key, a password and an address with one are in no error", () => {
  const SECRETS = ["CANARY-KEY", "CANARY-PASS", Buffer.from("me:CANARY-PASS").toString("base64")];
  const tell = (text: string) => SECRETS.filter((secret) => text.includes(secret));

  test.each([
    { name: "a line break in the key", url: "http://127.0.0.1:1", key: "CANARY-KEY\nx: y" },
    { name: "a letter that no header can hold", url: "http://127.0.0.1:1", key: "CANARY-KEY\u20ac" },
    { name: "a user and a password in the address", url: "http://me:CANARY-PASS@127.0.0.1:1", key: "k" },
    { name: "no address", url: "me:CANARY-PASS@host", key: "CANARY-KEY" },
    { name: "no host", url: "http://me:CANARY-PASS@", key: "CANARY-KEY" },
    { name: "nobody listens", url: "http://127.0.0.1:1", key: "CANARY-KEY" },
  ])("$name", async ({ url, key }) => {
    const answer = await openApi({ url, key }, { throws: false }).clusters();
    expect(answer.kind).toBe("unreachable");
    expect(tell(JSON.stringify(answer))).toEqual([]);
    const error: unknown = await openApi({ url, key })
      .clusters()
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AutoscalerError);
    expect(tell(error instanceof Error ? `${error.stack} ${String(error.cause)}` : "")).toEqual([]);
    const { code, out, err } = await runCommand(["status", "-c", "prod", "--url", url, "--key", key]);
    expect(code).not.toBe(0);
    expect(tell(`${out}${err}`)).toEqual([]);
  });

  test("a line break in the key is named as what it may be", async () => {
    const api = openApi({ url: "http://127.0.0.1:1", key: "a-key\n" }, { throws: false });
    const bad = openApi({ url: "http://127.0.0.1:1", key: "a\nkey" }, { throws: false });
    expect((await api.clusters()).kind).toBe("unreachable");
    expect(await bad.clusters()).toEqual({
      kind: "unreachable",
      message:
        "no answer from http://127.0.0.1:1: nothing was sent: is there a user or a password in the address, or a line break in the key?",
    });
  });

  test.each([401, 500])("a server that sends the key back with %i", async (status) => {
    const problem = { type: "about:blank", title: "no", status, detail: "x-functions-key: CANARY-KEY" };
    for (const body of [JSON.stringify(problem), "<p>your key was CANARY-KEY</p>"]) {
      const { url } = await answeringServer(status, body);
      const answer = await openApi({ url, key: "CANARY-KEY" }, { throws: false }).clusters();
      expect(answer).toMatchObject({ kind: "refused", status });
      expect(tell(JSON.stringify(answer))).toEqual([]);
      const { out, err } = await runCommand([
        "status",
        "-c",
        "prod",
        "--url",
        url,
        "--key",
        "CANARY-KEY",
        "--json",
      ]);
      expect(tell(`${out}${err}`)).toEqual([]);
    }
  });
});
