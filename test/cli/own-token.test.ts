import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { NODE_TOKEN_HEADER, readNodeToken } from "../../src/wire/message/node-token.ts";
import { answeringServer } from "../support/answering-server.ts";
import { runCommand } from "./run-command.ts";

/** A server that answers "stay" to every node, and the tokens that nodes have sent to it. */
async function stayServer(): Promise<{ readonly url: string; readonly tokens: readonly unknown[] }> {
  const tokens: unknown[] = [];
  const server = createServer((request, response) => {
    tokens.push(request.headers[NODE_TOKEN_HEADER]);
    request.resume();
    response.writeHead(409, { connection: "close" }).end('{"stop":false,"undrain":true}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`, tokens };
}

test("autostop --own-token: one token for all series of a VM, another for another VM", async () => {
  const { url, tokens } = await stayServer();
  const ask = (instance: string, ...more: readonly string[]) =>
    runCommand(["autostop", "--callback", url, "--instance", instance, ...more]);
  for (const instance of ["own-1", "own-1", "own-2"])
    expect((await ask(instance, "--own-token")).code).toBe(1);
  const [first, again, other] = tokens.map(String);
  expect(again).toBe(first);
  expect(other).not.toBe(first);
  for (const token of [first, other]) expect(readNodeToken(token)).toHaveProperty("token");
});

test("autostop sends no token of its own unless it is told to", async () => {
  const { url, tokens } = await stayServer();
  await runCommand(["autostop", "--callback", url, "--instance", "own-3"]);
  expect(tokens).toEqual([undefined]);
});

test.each([
  {
    name: "two keys",
    stopKeys: [
      { keyId: "k2", nodes: 5, configured: true, signing: true },
      { keyId: "k1", nodes: 2, configured: false },
      { nodes: 1 },
    ],
    lines: ["stop keys  k2 5 (new nodes), k1 2 (refused), not known 1"],
  },
  { name: "one key", stopKeys: [{ keyId: "k2", nodes: 5, configured: true, signing: true }], lines: [] },
])("status with nodes of $name", async ({ stopKeys, lines }) => {
  const { url } = await answeringServer(
    200,
    JSON.stringify({ cluster: "prod", health: { ok: true }, stopKeys }),
  );
  const { out } = await runCommand(["status", "-c", "prod", "--url", url, "--key", "k"]);
  expect(out.split("\n").filter((line) => line.startsWith("stop keys"))).toEqual(lines);
});
