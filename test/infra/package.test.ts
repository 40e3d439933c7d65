import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BuiltPackage } from "../../infra/build-package.ts";
import { buildPackage } from "../../infra/build-package.ts";
import { readPackage } from "../../src/local/host/load-package.ts";
import { playPackage } from "../support/play-package.ts";

let scratch: string;
let folder: string;
let built: BuiltPackage;

const placesIn = (name: string) => ({
  folder: path.join(scratch, name, "package"),
  zipFile: path.join(scratch, name, "package.zip"),
  mapFolder: path.join(scratch, name, "maps"),
});

beforeAll(async () => {
  scratch = await mkdtemp(path.join(tmpdir(), "package-"));
  built = await buildPackage(placesIn("first"));
  ({ folder } = placesIn("first"));
});
afterAll(() => rm(scratch, { recursive: true, force: true }));

const root = fileURLToPath(new URL("../..", import.meta.url));
const withoutHash = (name: string) => name.replace(/-[A-Z0-9]{8}\.cjs/, "-*.cjs");

test("the package is the entry, a file for each thing that is loaded later, host.json and package.json", async () => {
  const names = await readdir(folder);
  expect(names.map(withoutHash).filter((name) => !name.startsWith("chunk-"))).toEqual([
    "THIRD-PARTY-LICENSES.txt",
    "azure-data-tables-*.cjs",
    "azure-identity-*.cjs",
    "azure-storage-queue-*.cjs",
    "handlers-*.cjs",
    "host.json",
    "main.cjs",
    "open-*.cjs",
    "openapi-*.cjs",
    "package.json",
    "undici-*.cjs",
  ]);
  expect(built.files.map((file) => path.basename(file.path))).toEqual(names.toSorted());
  expect(JSON.parse(await readFile(path.join(folder, "package.json"), "utf8"))).toEqual({
    type: "commonjs",
    main: "main.cjs",
  });
  expect(await readFile(path.join(folder, "host.json"), "utf8")).toBe(
    await readFile(path.join(root, "host.json"), "utf8"),
  );
});

test("the copyright and the licence of each bundled package are in it, and of no other", async () => {
  const text = await readFile(path.join(folder, "THIRD-PARTY-LICENSES.txt"), "utf8");
  const named = [...text.matchAll(/^-{78}\n\n(\S+) \S+ \((\S+)\)\n\n/gm)].map(([, name]) => name);
  const parts = Object.values(built.metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs));
  const bundled = parts.filter(([, { bytesInOutput }]) => bytesInOutput > 0).map(([source]) => source);
  // The page is a bundle in the bundle, and uPlot is its only library.
  expect(named).toEqual(librariesOf(new Set([...bundled, "node_modules/uplot/uPlot.js"])));
  expect(named).toEqual(expect.arrayContaining(["@azure/functions", "@azure/identity", "undici", "zod"]));
  expect(named).not.toContain("azurite");
  const licences = text.split(/^-{78}$/m).slice(1);
  expect(licences.filter((licence) => !/copyright/i.test(licence))).toEqual([]);
  // A package without a licence file, and two of other licences than MIT.
  expect(text).toContain("@nodable/entities 3.1.0 (MIT)\n\nCopyright (c) Amit Gupta");
  expect(text).toContain("Apache License");
  expect(text).toContain("Redistribution and use in source and binary forms");
});

test("the source maps lie elsewhere, one for each file", async () => {
  const code = (await readdir(folder)).filter((name) => name.endsWith(".cjs"));
  expect(await readdir(path.join(scratch, "first", "maps"))).toEqual(code.map((name) => `${name}.map`));
  const map = await readFile(path.join(scratch, "first", "maps", "main.cjs.map"), "utf8");
  expect(map).toContain("functions/routes.ts");
});

test("two builds give the same bytes, and none of them a path of this machine", async () => {
  const again = await buildPackage(placesIn("second"));
  expect(again.files.map(({ path: file }) => path.basename(file))).toEqual(
    built.files.map(({ path: file }) => path.basename(file)),
  );
  for (const [at, file] of [...built.files, built.zip].entries()) {
    const content = await readFile(file.path);
    const other = [...again.files, again.zip][at]?.path ?? "";
    expect({ file: file.path, same: content.equals(await readFile(other)) }).toEqual({
      file: file.path,
      same: true,
    });
    expect(content.includes(root) || content.includes(tmpdir())).toBe(false);
  }
});

test("everything but Node's own modules and the worker's is in the package", () => {
  const outside = Object.values(built.metafile.inputs).flatMap((input) =>
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

test("the start loads the programming model and the registrations, and nothing else", () => {
  const loaded = [...loadedWith("functions/main.ts")].filter((file) => !file.startsWith("node_modules/"));
  expect(loaded.toSorted()).toEqual([
    "functions/main.ts",
    "functions/routes.ts",
    "src/config/demand-storage.ts",
    "src/config/storage.ts",
  ]);
  expect(librariesOf(loadedWith("functions/main.ts"))).toEqual([
    "@azure/functions",
    "@azure/functions-extensions-base",
    "cookie",
  ]);
});

test("the handlers are loaded without what only some of them need, and without zod's translations", () => {
  const loaded = loadedWith("functions/handlers.ts");
  expect(librariesOf(loaded)).toEqual(["zod"]);
  expect([...loaded].filter((file) => file.includes("/locales/")).map((file) => path.basename(file))).toEqual(
    ["en.js"],
  );
  expect([...loaded]).not.toContain("functions/openapi.json");
  expect(Object.keys(built.metafile.inputs).filter((file) => file.startsWith("src/wire/api/"))).toEqual([]);
});

/** The sources in the file of this entry and in the files that it loads with it: all that runs at once. */
function loadedWith(entry: string): ReadonlySet<string> {
  const { outputs } = built.metafile;
  const start = Object.keys(outputs).find((file) => outputs[file]?.entryPoint === entry);
  if (start === undefined) throw new Error(`no file of the package starts with ${entry}`);
  const files = new Set([start]);
  for (const file of files)
    for (const found of outputs[file]?.imports ?? [])
      if (found.kind === "import-statement" && found.external !== true) files.add(found.path);
  const reached = new Set<string>();
  for (const file of files)
    for (const [source, { bytesInOutput }] of Object.entries(outputs[file]?.inputs ?? {}))
      if (bytesInOutput > 0) reached.add(source);
  return reached;
}

function librariesOf(sources: ReadonlySet<string>): readonly string[] {
  const names = [...sources].flatMap((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1] ?? []);
  return [...new Set(names)].toSorted();
}

test("a source that does not bundle is named, and the last package stays", async () => {
  const before = await readdir(folder);
  await expect(buildPackage(placesIn("first"), "functions/nowhere.ts")).rejects.toThrow(
    'Could not resolve "functions/nowhere.ts"',
  );
  expect(await readdir(folder)).toEqual(before);
});

test("func start in the repository finds the package that npm run build makes, and the same host.json", async () => {
  const seen = await readPackage(root);
  expect(path.relative(root, seen.entry)).toBe(path.join("package", "main.cjs"));
  expect(seen.hostJson).toEqual((await readPackage(folder)).hostJson);
});

test("alone in a folder it answers over HTTP, ticks, and makes a node of a demand in the queue", async () => {
  expect(await playPackage(folder)).toEqual({
    node: process.version,
    functions: [
      "autostop httpTrigger",
      "cluster httpTrigger",
      "clusters httpTrigger",
      "comparison httpTrigger",
      "config httpTrigger",
      "config-history httpTrigger",
      "demand queueTrigger",
      "end-down httpTrigger",
      "explain httpTrigger",
      "health httpTrigger",
      "history httpTrigger",
      "node-history httpTrigger",
      "openapi httpTrigger",
      "page httpTrigger",
      "page-file httpTrigger",
      "plan httpTrigger",
      "rejected-messages httpTrigger",
      "request-set httpTrigger",
      "restored httpTrigger",
      "rollback-config httpTrigger",
      "snapshot timerTrigger",
      "tick httpTrigger",
      "wake httpTrigger",
      "write-config httpTrigger",
      "write-request-set httpTrigger",
    ],
    http: 200,
    page: [200, true],
    ticked: true,
    begun: 1,
    created: ["hpc"],
  });
});
