import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

/** The recorded data of the tests. Its README.md says what each file is, and whose. */
export const DATA = fileURLToPath(new URL("../data/", import.meta.url));

/** The text of a file; one whose name ends in .gz is unpacked. */
export function readText(path: string): string {
  const bytes = readFileSync(path);
  return (path.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
}

/** A file of the captured answers, as "docs/operation.json". */
export function readCaptured(name: string): unknown {
  captured ??= new Map(Object.entries(JSON.parse(readText(`${DATA}captured.json.gz`))));
  const found = captured.get(name);
  if (found === undefined) throw new Error(`no captured answer is called ${name}`);
  return found;
}
let captured: ReadonlyMap<string, unknown> | undefined;
