import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildPackage } from "../../infra/build-package.ts";
import { playPackage } from "../support/play-package.ts";

/** Azure may run the app on Node 22, too. That Node comes from the npm registry; without one the test is skipped, and says so. */

let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(path.join(tmpdir(), "package-node22-"));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

test("on Node 22 the package alone answers over HTTP, ticks, and makes a node of a demand", async (context) => {
  const node = downloadNode(22);
  if (node === undefined) return context.skip("Node 22 could not be downloaded from the npm registry");
  const folder = path.join(scratch, "package");
  await buildPackage({
    folder,
    zipFile: path.join(scratch, "package.zip"),
    mapFolder: path.join(scratch, "maps"),
  });
  const played = await playPackage(folder, node);
  expect(played.node).toMatch(/^v22\./);
  expect(played).toMatchObject({ http: 200, ticked: true, created: ["hpc"] });
});

/** The path of the newest Node of this major version, from the package that holds the binary of this platform. */
function downloadNode(major: number): string | undefined {
  const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`;
  const words = ["install", "--no-save", "--ignore-scripts", "--prefix", scratch, `${name}@${major}`];
  try {
    execFileSync("npm", words, { stdio: "pipe", shell: process.platform === "win32" });
  } catch {
    return undefined;
  }
  return path.join(scratch, "node_modules", name, "bin", process.platform === "win32" ? "node.exe" : "node");
}
