import { execFile, spawn } from "node:child_process";
import { createServer } from "node:http";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { ROOT } from "../support/run-main.ts";

/** The command as a process: environment, standard input, and what shells do with it. */

const MAIN = "src/cli/main.ts";

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function start(
  words: readonly string[],
  input = "",
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, ...words], { cwd: ROOT, env: { ...process.env, ...env } });
    let out = "";
    let err = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, out, err }));
    child.stdin.end(input);
  });
}

test("standard input is read, and the exit code is the process's", async () => {
  expect(await start(["config", "validate", "-"], '{"among":"cheap"}')).toEqual({
    code: 2,
    out: "",
    err: 'standard input: among: found "cheap", expected one of priority, cheapest\n',
  });
});

test("how to reach the app can stand in the environment", async () => {
  const env = { AUTOSCALER_URL: "http://127.0.0.1:2", AUTOSCALER_KEY: "k", AUTOSCALER_CLUSTER: "prod" };
  expect(await start(["status"], "", env)).toEqual({
    code: 3,
    out: "",
    err: "no answer from http://127.0.0.1:2: connect ECONNREFUSED 127.0.0.1:2\n",
  });
});

test("a reader that stops reading is no failure", async () => {
  const session = `"$NODE" ${MAIN} completion zsh | head -n 1; echo "\${PIPESTATUS[0]}"`;
  const { stdout, stderr } = await promisify(execFile)("bash", ["-c", session], {
    cwd: ROOT,
    env: { ...process.env, NODE: process.execPath },
  });
  expect(stdout).toBe("_cyclecloud_autoscaler() {\n0\n");
  expect(stderr).toBe("");
});

test("requests go through the proxy that HTTP_PROXY names", async () => {
  const seen: string[] = [];
  const proxy = createServer((request, response) => {
    seen.push(request.url ?? "");
    response.writeHead(401).end();
  });
  proxy.on("connect", ({ url }, socket) => {
    seen.push(url ?? "");
    socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void proxy.close());
  const address = proxy.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const env = { HTTP_PROXY: `http://127.0.0.1:${port}`, NO_PROXY: "", no_proxy: "" };
  await start(["nodes", "--url", "http://app.example", "--key", "k", "-c", "prod"], "", env);
  expect(seen.join()).toContain("app.example");
});
