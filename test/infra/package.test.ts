import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { BuiltPackage } from "../../infra/build-package.ts";
import { buildPackage } from "../../infra/build-package.ts";
import { openDemandQueue } from "../../src/client/push.ts";
import { readPackage } from "../../src/local/host/load-package.ts";
import { startSystem } from "../../src/local/system.ts";
import { defaultOptions } from "../../src/simulator/default-options.ts";

vi.setConfig({ testTimeout: 40_000 });

let scratch: string;
let folder: string;
let built: BuiltPackage;

beforeAll(async () => {
  scratch = await mkdtemp(path.join(tmpdir(), "package-"));
  folder = path.join(scratch, "package");
  built = await buildPackage(folder, path.join(scratch, "maps"));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

test("the package is a bundle, host.json and package.json; the source map lies elsewhere", async () => {
  expect((await readdir(folder)).toSorted()).toEqual(["host.json", "main.cjs", "package.json"]);
  expect(await readdir(path.join(scratch, "maps"))).toEqual(["main.cjs.map"]);
  expect(JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"))).toEqual({
    type: "commonjs",
    main: "main.cjs",
  });
  expect(await readFile(path.join(folder, "host.json"), "utf8")).toBe(
    await readFile(new URL("../../host.json", import.meta.url), "utf8"),
  );
  expect(built.files.map((file) => path.basename(file.path))).toEqual([
    "main.cjs",
    "host.json",
    "package.json",
  ]);
});

test("everything but Node's own modules and the worker's is in the bundle", () => {
  const outside = Object.values(built.inputs).flatMap((input) =>
    input.imports.filter((found) => found.external === true).map((found) => found.path),
  );
  expect(outside).toContain("@azure/functions-core");
  const foreign = outside.filter(
    (name) =>
      // "<runtime>" is esbuild's own prelude.
      !["@azure/functions-core", "<runtime>"].includes(name) && process.getBuiltinModule(name) === undefined,
  );
  expect(foreign).toEqual([]);
});

test("a cold start does not load @azure/identity: it is imported dynamically, and by nothing that is loaded at once", () => {
  const isIdentity = (file: string) => file.includes("node_modules/@azure/identity/");
  expect(Object.keys(built.inputs).filter(isIdentity)).not.toEqual([]);
  expect([...loadedAtOnce(built, "functions/main.ts")].filter(isIdentity)).toEqual([]);
});

test("the API's description is loaded when it is asked for, and what it is made with is not shipped", () => {
  expect(Object.keys(built.inputs)).toContain("functions/openapi.json");
  expect([...loadedAtOnce(built, "functions/main.ts")]).not.toContain("functions/openapi.json");
  expect(Object.keys(built.inputs).filter((file) => file.startsWith("src/wire/api/"))).toEqual([]);
});

/** What runs when the entry is loaded: all that is reached from it without a dynamic import. */
function loadedAtOnce({ inputs }: BuiltPackage, entry: string): ReadonlySet<string> {
  const reached = new Set([entry]);
  for (const file of reached)
    for (const found of inputs[file]?.imports ?? []) {
      if (found.kind !== "dynamic-import" && found.external !== true) reached.add(found.path);
    }
  return reached;
}

test("a source that does not bundle is named, and the last package stays", async () => {
  await expect(buildPackage(folder, scratch, "functions/nowhere.ts")).rejects.toThrow(
    'Could not resolve "functions/nowhere.ts"',
  );
  expect(await readdir(folder)).toHaveLength(3);
});

test("func start in the repository finds the package that npm run build makes, and the same host.json", async () => {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const seen = await readPackage(root);
  expect(path.relative(root, seen.entry)).toBe(path.join("package", "main.cjs"));
  expect(seen.hostJson).toEqual((await readPackage(folder)).hostJson);
});

test("the package runs in the host: its functions, and a demand that becomes a node", async () => {
  const system = await startSystem({
    app: folder,
    simulator: { ...defaultOptions, keepLog: true },
    speed: 120,
    onHostLine: () => undefined,
  });
  try {
    expect(system.hosts[0]?.functions.map(({ name, trigger }) => `${name} ${trigger}`)).toEqual([
      "autostop httpTrigger",
      "cluster httpTrigger",
      "clusters httpTrigger",
      "config httpTrigger",
      "demand queueTrigger",
      "explain httpTrigger",
      "health httpTrigger",
      "history httpTrigger",
      "openapi httpTrigger",
      "plan httpTrigger",
      "rejected-messages httpTrigger",
      "request-set httpTrigger",
      "restored httpTrigger",
      "snapshot timerTrigger",
      "tick httpTrigger",
      "wake httpTrigger",
      "write-config httpTrigger",
      "write-request-set httpTrigger",
    ]);
    const pushed = await openDemandQueue(system.connectionString).push(
      { version: 1, cluster: "demo", nodearrays: [{ Name: "hpc", TargetCount: 1 }] },
      system.clock.now(),
    );
    expect(pushed.kind).toBe("sent");
    const arraysOf = (kind: string) =>
      system.simulator.log.flatMap((event) => (event.kind === kind && "array" in event ? [event.array] : []));
    await expect
      .poll(() => (system.simulator.advance(), arraysOf("node-ready")), { timeout: 20_000, interval: 50 })
      .toEqual(["hpc"]);
    expect(arraysOf("node-created")).toEqual(["hpc"]);
  } finally {
    await system.close();
  }
});
