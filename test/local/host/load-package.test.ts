import { build } from "esbuild";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startAzurite } from "../../../src/local/azurite.ts";
import { readPackage } from "../../../src/local/host/load-package.ts";
import { spawnHost } from "../../../src/local/host/spawn-host.ts";
import { hostJson, quietSettings } from "../../support/toy-app/start.ts";

let folder: string;

/** The toy app as it would be deployed: one CommonJS bundle, host.json, package.json. */
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "toy-package-"));
  await build({
    entryPoints: [fileURLToPath(new URL("../../support/toy-app/main.ts", import.meta.url))],
    outfile: path.join(folder, "main.cjs"),
    bundle: true,
    platform: "node",
    format: "cjs",
    external: ["@azure/functions-core"],
    logLevel: "error",
  });
  await writeFile(path.join(folder, "package.json"), '{"type":"commonjs","main":"main.cjs"}');
  await writeFile(path.join(folder, "host.json"), JSON.stringify(hostJson()));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

test("a host process runs a package, by the package's own host.json", async () => {
  const azurite = await startAzurite();
  const host = await spawnHost({
    app: folder,
    settings: quietSettings,
    origin: Date.now(),
    speed: 60,
    connectionString: azurite.connectionString,
  });
  expect(host.functions.map(({ name, trigger }) => `${name} ${trigger}`)).toEqual([
    "absent queueTrigger",
    "echo httpTrigger",
    "never-ends httpTrigger",
    "off queueTrigger",
    "orders queueTrigger",
    "overlong timerTrigger",
    "page httpTrigger",
    "pid httpTrigger",
    "says-nothing httpTrigger",
    "slow httpTrigger",
    "special httpTrigger",
    "switched-off httpTrigger",
    "throws httpTrigger",
    "tick timerTrigger",
    "with-function-key httpTrigger",
  ]);
  expect(await (await fetch(`${host.url}/api/special`)).text()).toBe("literal");
  expect(await host.stop()).toBe(0);
  await azurite.close();
});

test.each([
  { name: "package.json names no entry", file: "package.json", content: "{}" },
  { name: "host.json is not usable", file: "host.json", content: '{"version":"1.0"}' },
])("a folder is refused when $name", async ({ file, content }) => {
  const broken = await mkdtemp(path.join(tmpdir(), "broken-package-"));
  await writeFile(path.join(broken, "package.json"), '{"main":"main.cjs"}');
  await writeFile(path.join(broken, "host.json"), JSON.stringify(hostJson()));
  expect(await readPackage(broken)).toEqual({
    entry: path.join(broken, "main.cjs"),
    hostJson: hostJson(),
  });
  await writeFile(path.join(broken, file), content);
  await expect(readPackage(broken)).rejects.toThrow();
  await rm(broken, { recursive: true });
});
