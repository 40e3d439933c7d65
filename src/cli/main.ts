#!/usr/bin/env node
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import packageJson from "../../package.json" with { type: "json" };
import { runCommandLine } from "./command-line.ts";
import { useProxy } from "./environment.ts";

/** Whoever reads our output may stop reading, as `head` does: that is no failure. */
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit();
  throw error;
});

const wrong = useProxy(process.env);
if (wrong !== undefined) process.stderr.write(`${wrong}\n`);

void runCommandLine(process.argv.slice(2), {
  say: (line) => void process.stdout.write(`${line}\n`),
  complain: (line) => void process.stderr.write(`${line}\n`),
  read: (file) => (file === "-" ? text(process.stdin) : readFile(file, "utf8")),
  now: () => Date.now(),
  environment: process.env,
  release: packageJson.version,
}).then((code) => {
  process.exitCode = code;
});
