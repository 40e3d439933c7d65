import type { Metafile, Plugin } from "esbuild";
import { build } from "esbuild";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SOURCES = path.join(ROOT, "src/page");

interface BuiltPage {
  /** By name. */
  readonly files: Readonly<Record<string, string>>;
  readonly metafile: Metafile;
}

/**
 * Builds the page for people: its script and style in a file each. Rejects with esbuild's error if it does not bundle.
 */
export async function buildPage(): Promise<BuiltPage> {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [
      { in: "src/page/main.ts", out: "page" },
      { in: "src/page/page.css", out: "page" },
    ],
    outdir: ".",
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2023",
    legalComments: "none",
    preserveSymlinks: true,
    write: false,
    metafile: true,
    logLevel: "silent",
  });
  const built = outputFiles.map(({ path: file, text }) => [path.basename(file), text] as const);
  const copied = await Promise.all(
    ["index.html", "icon.svg"].map(
      async (name) => [name, await readFile(path.join(SOURCES, name), "utf8")] as const,
    ),
  );
  return { files: Object.fromEntries([...built, ...copied]), metafile };
}

/** Puts the built page in place of the module that builds it. */
export function builtPage({ files }: BuiltPage): Plugin {
  return {
    name: "built-page",
    setup(build) {
      build.onLoad({ filter: /[/\\]functions[/\\]page-files\.ts$/ }, () => ({
        contents: `const files = ${JSON.stringify(files)};\nexport const pageFiles = () => Promise.resolve(files);`,
        loader: "js",
      }));
    },
  };
}
