/** node load-once.ts FILE: loads a file as the local host loads an app, and prints what that took. What it registered does not matter. */
import path from "node:path";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { installCore } from "../../../src/local/host/core.ts";

installCore();
const file = path.resolve(process.argv[2] ?? "");
const cpu = process.cpuUsage();
const began = performance.now();
if (file.endsWith(".cjs")) createRequire(import.meta.url)(file);
else await import(pathToFileURL(file).href);
const wallMs = performance.now() - began;
const { user, system } = process.cpuUsage(cpu);
process.stdout.write(JSON.stringify({ wallMs, cpuMs: (user + system) / 1000 }));
