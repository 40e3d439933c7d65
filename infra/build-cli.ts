import type { Metafile } from "esbuild";
import { build } from "esbuild";
import { spawn } from "node:child_process";
import { chmod, copyFile, cp, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import type { WrittenFile } from "./build-package.ts";
import { LICENSES_FILE, thirdPartyLicenses } from "./licenses.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** TypeScript's compiler as npm installed it. */
const TSC = path.join(ROOT, "node_modules/typescript/bin/tsc");

/**
 * The command and the client, each in one file with its dependencies. `types` has the client's types. What each does with the sentence that
 * Node is too old: the command ends with it, and the client throws it.
 */
const ENTRIES = {
  "cli.cjs": { source: "src/cli/main.ts", tell: "process.stderr.write(text + '\\n');\n  process.exit(1);" },
  "client.cjs": { source: "src/client/index.ts", tell: "throw new Error(text);" },
} as const;

/** Files that are copied: those that npm shows with the package, under the names that it looks for, and the shim for Slurm's programs. */
const TEXTS = {
  LICENSE: "LICENSE",
  "README.md": "infra/cli-readme.md",
  "cyclecloud-slurm": "src/agent/shims/cyclecloud-slurm",
} as const;

/** The files for Python, which are not built. */
const PYTHON = "src/client/python";

/**
 * Builds the npm package with the command and the client in `folder`, and replaces its content. It is bundled, because Node does not strip
 * types inside node_modules, and CommonJS for the same reason as the functions' package. Rejects if it does not build.
 */
export async function buildCli(folder: string): Promise<readonly WrittenFile[]> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const bundles = await Promise.all(
    Object.entries(ENTRIES).map(([file, { source, tell }]) => bundle(source, path.join(folder, file), tell)),
  );
  const metafiles = bundles.map(({ metafile }) => metafile);
  await chmod(path.join(folder, "cli.cjs"), 0o755);
  await emitTypes(path.join(folder, "types"));
  const manifest = path.join(folder, "package.json");
  const text = `${JSON.stringify(await describePackage(), undefined, 2)}\n`;
  await writeFile(manifest, text);
  const texts = await Promise.all(
    Object.entries(TEXTS).map(([file, source]) => copy(source, path.join(folder, file))),
  );
  const isSource = (file: string): boolean => path.basename(file) !== "__pycache__";
  await cp(path.join(ROOT, PYTHON), path.join(folder, "python"), { recursive: true, filter: isSource });
  const licenses = path.join(folder, LICENSES_FILE);
  await writeFile(licenses, await thirdPartyLicenses(metafiles));
  return [
    ...bundles.map(({ written }) => written),
    { path: manifest, bytes: Buffer.byteLength(text) },
    ...texts,
    { path: licenses, bytes: (await stat(licenses)).size },
  ];
}

interface Bundle {
  readonly written: WrittenFile;
  readonly metafile: Metafile;
}

async function copy(source: string, file: string): Promise<WrittenFile> {
  await copyFile(path.join(ROOT, source), file);
  return { path: file, bytes: (await stat(file)).size };
}

async function bundle(source: string, file: string, tell: string): Promise<Bundle> {
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [source],
    outfile: file,
    bundle: true,
    platform: "node",
    // A Node that is too old must be able to read the file, or it cannot say so.
    target: "node18",
    banner: { js: await checkNode(tell) },
    format: "cjs",
    // Its main file requires its parts by a variable, which a bundler cannot follow.
    alias: { "jsonc-parser": "jsonc-parser/lib/esm/main.js" },
    minify: true,
    // Node prints the line of an uncaught error before its message.
    lineLimit: 160,
    // Error classes are distinguished by name.
    keepNames: true,
    legalComments: "none",
    metafile: true,
    logLevel: "silent",
  });
  const bytes = Object.values(metafile.outputs).reduce((sum, output) => sum + output.bytes, 0);
  return { written: { path: file, bytes }, metafile };
}

/** The beginning of a file, which an old Node can read: it speaks before the rest fails. */
async function checkNode(tell: string): Promise<string> {
  const { name, engines } = await readManifest();
  const [, major, minor] = /^>=(\d+)\.(\d+)$/.exec(engines.node) ?? [];
  if (major === undefined || minor === undefined) throw new Error(`engines.node: ${engines.node}`);
  return `"use strict";
(function (had) {
  if (had[0] > ${major} || (had[0] == ${major} && had[1] >= ${minor})) return;
  var text = "Node " + process.versions.node + " is too old: ${name} needs Node ${major}.${minor} or newer.";
  ${tell}
})(process.versions.node.split("."));`;
}

function emitTypes(folder: string): Promise<void> {
  const words = [TSC, "--project", path.join(ROOT, "infra/tsconfig.client.json"), "--outDir", folder];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
    const said: string[] = [];
    child.stdout.setEncoding("utf8").on("data", (text: string) => said.push(text));
    child.once("error", reject);
    child.once("close", (code) =>
      code === 0 ? resolve() : reject(new Error(`the types were not emitted: ${said.join("")}`)),
    );
  });
}

/** Name, version, licence and Node are those of the repository. It is not private, so that it can be published. */
async function describePackage(): Promise<object> {
  const { name, version, description, license, engines } = await readManifest();
  return {
    name,
    version,
    description,
    license,
    engines,
    type: "commonjs",
    bin: { "cyclecloud-autoscaler": "cli.cjs" },
    exports: { "./client": { types: "./types/client/index.d.ts", default: "./client.cjs" } },
  };
}

const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  license: z.string(),
  engines: z.object({ node: z.string() }),
});

async function readManifest(): Promise<z.infer<typeof manifestSchema>> {
  return manifestSchema.parse(JSON.parse(await readFile(path.join(ROOT, "package.json"), "utf8")));
}
