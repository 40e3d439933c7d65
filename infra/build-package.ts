import { build } from "esbuild";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

/** One file of the package, or the source map beside it. */
export interface WrittenFile {
  readonly path: string;
  readonly bytes: number;
}

export interface BuiltPackage {
  readonly files: readonly WrittenFile[];
  readonly sourceMap: WrittenFile;
  /** What went into the bundle, each with what it imports and how: for who wants to know why it is so large. */
  readonly inputs: Readonly<Record<string, BundledFile>>;
}

export interface BundledFile {
  readonly bytes: number;
  readonly imports: readonly {
    readonly path: string;
    readonly kind: string;
    readonly external?: boolean;
  }[];
}

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const ENTRY = "main.cjs";

/**
 * Makes the deployable package in `folder`, whose content it replaces: one CommonJS bundle of `source`, host.json, package.json, and
 * nothing else. CommonJS because it needs no banner and loads fastest (platform.md, "ESM, CommonJS and the bundle"); `@azure/functions-core` is
 * the worker's own. The source map goes to `mapFolder`: a stack trace of the package can be read here, but the map is not shipped.
 * Rejects, with esbuild's words, if it does not bundle; then `folder` is as it was.
 */
export async function buildPackage(
  folder: string,
  mapFolder: string,
  source = "functions/main.ts",
): Promise<BuiltPackage> {
  const bundle = await build({
    absWorkingDir: ROOT,
    entryPoints: [source],
    outfile: path.join(folder, ENTRY),
    write: false,
    bundle: true,
    platform: "node",
    target: "node22",
    format: "cjs",
    minify: true,
    // Error classes are told apart by name in logs.
    keepNames: true,
    sourcemap: "external",
    sourcesContent: false,
    legalComments: "none",
    external: ["@azure/functions-core"],
    metafile: true,
    logLevel: "silent",
  });
  const output = (ending: string): Uint8Array => {
    const found = bundle.outputFiles.find((file) => file.path.endsWith(ending));
    if (found === undefined) throw new Error(`esbuild wrote no ${ending}`);
    return found.contents;
  };
  const hostJson = await readFile(path.join(ROOT, "host.json"));
  await rm(folder, { recursive: true, force: true });
  await Promise.all([folder, mapFolder].map((made) => mkdir(made, { recursive: true })));
  const files = await Promise.all([
    write(folder, ENTRY, output(".cjs")),
    write(folder, "host.json", hostJson),
    write(folder, "package.json", Buffer.from(`${JSON.stringify({ type: "commonjs", main: ENTRY })}\n`)),
  ]);
  const sourceMap = await write(mapFolder, `${ENTRY}.map`, output(".cjs.map"));
  return { files, sourceMap, inputs: bundle.metafile.inputs };
}

async function write(folder: string, name: string, content: Uint8Array): Promise<WrittenFile> {
  const file = path.join(folder, name);
  await writeFile(file, content);
  return { path: file, bytes: content.byteLength };
}
