import { createHash } from "node:crypto";
import { mkdir, open, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Alone } from "./terminal.ts";
import type { Milliseconds } from "../domain/units.ts";

/** A lock older than this is from a run that ended without removing it, because a question takes at most 20 s. */
const STALE_LOCK_MS: Milliseconds = 60_000;

/**
 * Runs work that no other process of this machine runs at the same time. A text is kept between runs, in a folder of the user's home. The
 * name may contain secrets, so the file is named by its digest. Rejects with the system's error if the folder cannot be written.
 */
export const alone: Alone = async (name, work) => {
  const folder = join(homedir(), ".cyclecloud-autoscaler");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, createHash("sha256").update(name).digest("hex").slice(0, 32));
  const lock = `${file}.lock`;
  if (!(await take(lock))) return "busy";
  try {
    return await work(await readIfThere(file), async (text) => {
      if (text === undefined) return rm(file, { force: true });
      await writeFile(`${file}.new`, text, { mode: 0o600 });
      return rename(`${file}.new`, file);
    });
  } finally {
    await rm(lock, { force: true });
  }
};

async function take(lock: string): Promise<boolean> {
  if (await create(lock)) return true;
  const age = Date.now() - (await timeOf(lock));
  if (age < STALE_LOCK_MS) return false;
  await rm(lock, { force: true });
  return create(lock);
}

async function create(path: string): Promise<boolean> {
  try {
    await (await open(path, "wx", 0o600)).close();
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  }
}

/** When the file was last written. A file that was removed meanwhile counts as very old. */
async function timeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (error) {
    if (isCode(error, "ENOENT")) return 0;
    throw error;
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
