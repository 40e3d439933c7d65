import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const folder = join(import.meta.dirname, "../../../../shared/captured");

export const capturedFilesExist = existsSync(folder);

if (!capturedFilesExist)
  console.warn("skipped: the captured answers are not at ../shared/captured beside this repository");

/** A file of the captured answers, parsed. */
export function readCaptured(name: string): unknown {
  return JSON.parse(readFileSync(join(folder, name), "utf8"));
}
