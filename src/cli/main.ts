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

/** While it sleeps, Ctrl-C ends the sleep and not the process. */
function sleepUntilInterrupted(milliseconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (slept: boolean) => {
      clearTimeout(timer);
      process.off("SIGINT", interrupt);
      resolve(slept);
    };
    const interrupt = () => end(false);
    const timer = setTimeout(() => end(true), milliseconds);
    process.once("SIGINT", interrupt);
  });
}

const wrong = useProxy(process.env);
if (wrong !== undefined) process.stderr.write(`${wrong}\n`);

void runCommandLine(process.argv.slice(2), {
  say: (line) => void process.stdout.write(`${line}\n`),
  complain: (line) => void process.stderr.write(`${line}\n`),
  read: (file) => (file === "-" ? text(process.stdin) : readFile(file, "utf8")),
  now: () => Date.now(),
  sleep: sleepUntilInterrupted,
  columns: process.stdout.isTTY ? process.stdout.columns : undefined,
  environment: process.env,
  release: packageJson.version,
}).then((code) => {
  process.exitCode = code;
});
