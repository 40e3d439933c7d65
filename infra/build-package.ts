import type { Metafile, Plugin } from "esbuild";
import { build, transform } from "esbuild";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { buildPage, builtPage } from "./build-page.ts";
import { LICENSES_FILE, thirdPartyLicenses } from "./licenses.ts";
import { zip } from "./zip.ts";

/** A file of the package, or one that is built beside it. */
export interface WrittenFile {
  readonly path: string;
  readonly bytes: number;
}

export interface BuiltPackage {
  /** In order of their names. */
  readonly files: readonly WrittenFile[];
  readonly zip: WrittenFile;
  readonly sourceMaps: readonly WrittenFile[];
  /** The sources of each file with their sizes, and all imports. Paths are relative to the repository. */
  readonly metafile: Pick<Metafile, "inputs" | "outputs">;
}

export interface PackagePlaces {
  /** Its content is replaced. */
  readonly folder: string;
  /** The same files, as they are deployed. */
  readonly zipFile: string;
  /** For the maps with which a stack trace of the package can be read. They are not part of it. */
  readonly mapFolder: string;
}

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Identifiers keep their names. That takes no time at the start, and stack traces from Azure are readable without maps. */
const MINIFIED = { minifyWhitespace: true, minifySyntax: true, legalComments: "none" } as const;
const TARGET = { platform: "node", target: "node22" } as const;

/**
 * Builds the deployable package: `source` in CommonJS, host.json, package.json and the licences of what is bundled. Modules that `import()`
 * loads are separate files, so that the start need not parse them (docs/benchmarks.md, Loading). The same sources give the same bytes in
 * any folder. `@azure/functions-core` is part of the worker. zod is smaller as a namespace (docs/decisions.md, "zod is imported as a
 * namespace where the app loads it"). Rejects with esbuild's error if it does not bundle; then nothing is changed.
 */
export async function buildPackage(
  { folder, zipFile, mapFolder }: PackagePlaces,
  source = "functions/main.ts",
): Promise<BuiltPackage> {
  const page = await buildPage();
  const { outputs, metafile } = await bundle(source, builtPage(page));
  const manifest = JSON.stringify({ type: "commonjs", main: `${path.parse(source).name}.cjs` });
  const contents = [
    ...outputs.map(({ name, code }) => ({ name, content: Buffer.from(code) })),
    { name: "host.json", content: await readFile(path.join(ROOT, "host.json")) },
    { name: "package.json", content: Buffer.from(`${manifest}\n`) },
    { name: LICENSES_FILE, content: Buffer.from(await thirdPartyLicenses([metafile, page.metafile])) },
  ].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  for (const made of [folder, mapFolder]) {
    await rm(made, { recursive: true, force: true });
    await mkdir(made, { recursive: true });
  }
  return {
    files: await Promise.all(contents.map(({ name, content }) => write(path.join(folder, name), content))),
    zip: await write(zipFile, zip(contents)),
    sourceMaps: await Promise.all(
      outputs.map(({ name, map }) => write(path.join(mapFolder, `${name}.map`), Buffer.from(map))),
    ),
    metafile,
  };
}

interface Output {
  readonly name: string;
  readonly code: string;
  readonly map: string;
}

/**
 * Splits ES modules, because esbuild can split only these, and converts each file to CommonJS, which loads fastest (platform.md section 1;
 * docs/decisions.md, "The package is several CommonJS files").
 */
async function bundle(
  source: string,
  page: Plugin,
): Promise<{ outputs: readonly Output[]; metafile: Metafile }> {
  const { outputFiles, metafile } = await build({
    ...MINIFIED,
    ...TARGET,
    absWorkingDir: ROOT,
    entryPoints: [source],
    outdir: ".",
    outExtension: { ".js": ".cjs" },
    entryNames: "[name]",
    chunkNames: "[name]-[hash]",
    write: false,
    bundle: true,
    splitting: true,
    format: "esm",
    // Names contain hashes of paths, which must be the same with a linked node_modules.
    preserveSymlinks: true,
    sourcemap: "inline",
    sourcesContent: false,
    external: ["@azure/functions-core"],
    plugins: [page],
    metafile: true,
    logLevel: "silent",
  });
  const names = nameFiles(metafile);
  const outputs = await Promise.all(
    outputFiles.map(async ({ path: file, text }) => {
      const options = {
        ...MINIFIED,
        ...TARGET,
        format: "cjs",
        sourcemap: "external",
        // With require, Node need not search each file for the names that it exports.
        supported: { "dynamic-import": false },
      } as const;
      const renamed = [...names].reduce((all, [old, name]) => all.replaceAll(`./${old}`, `./${name}`), text);
      const { code, map } = await transform(renamed, { ...options, sourcesContent: false });
      const old = path.basename(file);
      return { name: names.get(old) ?? old, code, map };
    }),
  );
  return { outputs, metafile };
}

/** Names for files of libraries. esbuild would use the name of the library's own file, which is mostly index. */
function nameFiles({ outputs }: Metafile): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(outputs).flatMap(([file, { entryPoint }]) => {
      const library =
        entryPoint === undefined ? undefined : /node_modules\/@?((?:(?<=@)[^/]+\/)?[^/]+)\//.exec(entryPoint);
      const hash = /-\w+\.cjs$/.exec(file);
      return library?.[1] === undefined || hash === null
        ? []
        : [[path.basename(file), `${library[1].replace("/", "-")}${hash[0]}`]];
    }),
  );
}

async function write(file: string, content: Uint8Array): Promise<WrittenFile> {
  await writeFile(file, content);
  return { path: file, bytes: content.byteLength };
}
