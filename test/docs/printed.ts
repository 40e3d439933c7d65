import { readFileSync } from "node:fs";
import { ROOT } from "../support/run-main.ts";

/** The files that a page prints, by name: each is a fenced block whose first comment is "# NAME ...". */
export function printedFiles(page: string): ReadonlyMap<string, string> {
  const text = readFileSync(`${ROOT}/${page}`, "utf8");
  const files = new Map<string, string>();
  for (const [, body = ""] of text.matchAll(/^```[a-z]*\n(.*?)^```$/gms)) {
    const name = /^# ([\w-]+\.[a-z]+)\b/m.exec(body)?.[1];
    if (name !== undefined) files.set(name, body);
  }
  return files;
}
