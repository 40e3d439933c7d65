import { readFileSync, readdirSync } from "node:fs";
import { relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { ROOT } from "../support/run-main.ts";

/** A clone has all that its tests read: nothing stands beside it, and no test is skipped because a file is missing. */

const NOT_OURS = new Set(["node_modules", ".git", "package", "dist"]);
const ABOVE =
  /new URL\(\s*["'`]((?:\.\.\/)+[^"'`$]*)|join\(import\.meta\.dirname, ["'`]((?:\.\.\/)+[^"'`$]*)/g;
const BESIDE_ROOT = /\bROOT\}?(?:, ["'`]|\/)\.\.\//;
/** Not what the machine lacks. */
const SKIPPED = /skipIf\(\s*!?\s*existsSync(?!\("\/proc)/;

/** The files below a folder, but none of what is installed or built: that is a hundred times as much. */
function pathsBelow(folder: string): readonly string[] {
  return readdirSync(`${ROOT}${folder}`, { withFileTypes: true }).flatMap((entry) => {
    if (NOT_OURS.has(entry.name)) return [];
    const path = `${folder}${entry.name}`;
    return entry.isDirectory() ? pathsBelow(`${path}/`) : [path];
  });
}

/** What of a source leads out of the repository, or is skipped where a file is missing. */
function outsideOf(path: string, text: string): readonly string[] {
  const base = pathToFileURL(`${ROOT}${path}`);
  const above = [...text.matchAll(ABOVE)]
    .map(([, url, joined]) => url ?? joined ?? "")
    .filter((found) => relative(ROOT, fileURLToPath(new URL(found, base))).startsWith(".."));
  const others = [BESIDE_ROOT, SKIPPED].flatMap((pattern) => pattern.exec(text)?.[0] ?? []);
  return [...above, ...others].map((found) => `${path}: ${found}`);
}

test("no source reads what is beside the repository", () => {
  const paths = pathsBelow("").filter(
    (path) => /\.(?:ts|mjs|js)$/.test(path) && !path.endsWith("house/alone.test.ts"),
  );
  expect(paths).not.toEqual([]);
  expect(paths.flatMap((path) => outsideOf(path, readFileSync(`${ROOT}${path}`, "utf8")))).toEqual([]);
});

test.each([
  { text: 'new URL("../../../data/", import.meta.url)', found: "../../../data/" },
  { text: 'join(import.meta.dirname, "../../../data")', found: "../../../data" },
  { text: 'join(ROOT, "../data")', found: 'ROOT, "../' },
  { text: "`${ROOT}/../data`", found: "ROOT}/../" },
  { text: "test.skipIf(!existsSync(file))", found: "skipIf(!existsSync" },
])("such a source is found: $text", ({ text, found }) => {
  expect(outsideOf("test/house/some.test.ts", text)).toEqual([`test/house/some.test.ts: ${found}`]);
  expect(outsideOf("test/house/some.test.ts", 'new URL("../../docs/", import.meta.url)')).toEqual([]);
});
