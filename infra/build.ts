/**
 * `npm run build`: builds package/, the files to deploy; package.zip with the same files; dist/maps, their source maps; and dist/cli, the
 * package with the command.
 */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { buildCli } from "./build-cli.ts";
import { buildPackage } from "./build-package.ts";

const root = fileURLToPath(new URL("..", import.meta.url));

try {
  const { files, zip, sourceMaps } = await buildPackage({
    folder: path.join(root, "package"),
    zipFile: path.join(root, "package.zip"),
    mapFolder: path.join(root, "dist/maps"),
  });
  for (const file of [...files, zip]) say(file.path, file.bytes, "");
  for (const map of sourceMaps) say(map.path, map.bytes, "  (not part of the package)");
  for (const file of await buildCli(path.join(root, "dist/cli"))) say(file.path, file.bytes, "");
} catch (error) {
  process.stderr.write(
    `The package was not built: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exitCode = 1;
}

function say(file: string, bytes: number, note: string): void {
  const size = `${(bytes / 1024).toFixed(1)} KiB`;
  process.stdout.write(`${size.padStart(12)}  ${path.relative(root, file)}${note}\n`);
}
