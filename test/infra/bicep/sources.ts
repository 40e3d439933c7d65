import { readdirSync, readFileSync } from "node:fs";
import type { Sources } from "./check.ts";

const INFRA = new URL("../../../infra/", import.meta.url);

/** What is deployed: main.bicep and its parameters, and modules/. */
export function readSources(): Sources {
  const modules = readdirSync(new URL("modules/", INFRA)).map((name) => `modules/${name}`);
  const files = ["main.bicep", "main.bicepparam", ...modules];
  return new Map(files.map((file) => [file, readFileSync(new URL(file, INFRA), "utf8")]));
}
