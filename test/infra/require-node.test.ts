import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { z } from "zod";
import { pretendNode } from "../support/pretend-node.ts";
import { ROOT } from "../support/run-main.ts";

/** The first screen of a newcomer: `npm ci && npm start` with a Node that is too old, and with one that will do. */

const run = promisify(execFile);
const check = `${ROOT}/infra/require-node.mjs`;
const manifest = z
  .object({ scripts: z.object({ start: z.string() }), engines: z.object({ node: z.string() }) })
  .parse(JSON.parse(readFileSync(`${ROOT}/package.json`, "utf8")));

/** Runs the check as if Node had this version. */
function asNode(version: string): ReturnType<typeof run> {
  return run(process.execPath, [...pretendNode(version), "--import", check, "--eval", "console.log('on')"]);
}

test("npm start checks the Node first, and needs the one that package.json names", () => {
  expect(manifest.scripts.start).toBe("node --import ./infra/require-node.mjs src/local/main.ts");
  expect(manifest.engines.node).toBe(">=22.19");
});

test.each(["20.20.2", "22.18.0"])("Node %s is refused in one line", async (version) => {
  await expect(asNode(version)).rejects.toMatchObject({
    code: 1,
    stdout: "",
    stderr: `Node ${version} is too old: Node 22.19 or newer is needed. "npm ci" brings Node 24 on Linux (x64, arm64) and Windows (x64); elsewhere, install it.\n`,
  });
});

test.each(["22.19.0", "24.21.0", "26.0.0"])("Node %s will do", async (version) => {
  expect((await asNode(version)).stdout).toBe("on\n");
});
