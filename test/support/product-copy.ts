import { execFile } from "node:child_process";
import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import type { Edit } from "./mutate.ts";
import { mutate } from "./mutate.ts";

const ROOT = new URL("../..", import.meta.url).pathname;
const execute = promisify(execFile);
const LONGEST_MS = 1_800_000;

/** The output and exit code of a script in the copy. */
export interface Ended {
  readonly stdout: string;
  readonly code: number;
}

/**
 * Runs a script as a process of its own, in a copy of the product with these edits. `folders`: the folders of test/ that are copied. Throws
 * if what an edit replaces is not there exactly once.
 */
export function runInCopy(
  edits: readonly Edit[],
  folders: readonly string[],
  script: string,
  args: readonly string[],
): Promise<Ended> {
  const names = [...PRODUCT, ...folders.map((folder) => join("test", folder))];
  // The sources of a copy are never met again: to keep them compiled costs time and room.
  const env = { ...process.env, NODE_DISABLE_COMPILE_CACHE: "1" };
  return inCopy(edits, names, (copy) => runScript(join(copy, script), args, { env }));
}

/** The sources that a mutant may change, by path. */
export async function readProduct(): Promise<ReadonlyMap<string, string>> {
  const folders = ["src", "functions"].map(async (folder) =>
    (await readdir(join(ROOT, folder), { recursive: true })).map((name) => join(folder, name)),
  );
  const names = (await Promise.all(folders)).flat().filter((name) => name.endsWith(".ts"));
  const texts = names.map(async (name) => [name, await readFile(join(ROOT, name), "utf8")] as const);
  return new Map(await Promise.all(texts));
}

/** What runs. package.json also names the release. */
export const PRODUCT: readonly string[] = ["src", "functions", "package.json", "host.json"];

/**
 * Makes a copy of these files and folders of the checkout with these edits, and removes it when `work` has ended. Throws if what an edit
 * replaces is not there exactly once.
 */
export async function inCopy<T>(
  edits: readonly Edit[],
  names: readonly string[],
  work: (copy: string) => Promise<T>,
): Promise<T> {
  // Not below node_modules: Node does not strip types there.
  const copy = await mkdtemp(join(tmpdir(), "mutant-"));
  try {
    await Promise.all([
      ...names.map((name) => cp(join(ROOT, name), join(copy, name), { recursive: true })),
      symlink(join(ROOT, "node_modules"), join(copy, "node_modules"), "dir"),
    ]);
    for (const [file, text] of mutate(await readProduct(), edits)) await writeFile(join(copy, file), text);
    return await work(copy);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

/** Folders of a checkout that are not copied: no test reads them, or the copy links to them. */
const NOT_COPIED: readonly string[] = [".git", "exp", "node_modules"];

/**
 * Runs a test file in a copy of the whole checkout with these edits. Returns the full names of the tests that failed. Throws if the file
 * could not be run.
 */
export async function runTestInCopy(edits: readonly Edit[], file: string): Promise<readonly string[]> {
  const names = (await readdir(ROOT)).filter((name) => !NOT_COPIED.includes(name));
  return inCopy(edits, names, async (copy) => {
    const vitest = join(copy, "node_modules/vitest/vitest.mjs");
    const report = join(copy, "report.json");
    const how = ["--config", "test/vitest.config.ts", "--reporter=json", `--outputFile=${report}`];
    const { stdout } = await runScript(vitest, ["run", ...how, file], { cwd: copy });
    const { testResults } = REPORT.parse(JSON.parse(await readFile(report, "utf8")));
    const results = testResults.flatMap(({ assertionResults }) => assertionResults);
    if (results.length === 0) throw new Error(`${file} ran no test: ${stdout.slice(0, 500)}`);
    return results.flatMap(({ status, fullName }) => (status === "failed" ? [fullName] : []));
  });
}

const REPORT = z.object({
  testResults: z.array(
    z.object({ assertionResults: z.array(z.object({ status: z.string(), fullName: z.string() })) }),
  ),
});

async function runScript(
  script: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv },
): Promise<Ended> {
  try {
    const { stdout } = await execute(process.execPath, [script, ...args], {
      timeout: LONGEST_MS,
      maxBuffer: 64 * 1024 * 1024,
      ...options,
    });
    return { stdout, code: 0 };
  } catch (error) {
    // An exit code is a result. That the script could not be started is an error.
    if (error instanceof Error && "code" in error && typeof error.code === "number" && "stdout" in error)
      return { stdout: String(error.stdout), code: error.code };
    throw error;
  }
}
